#include "base/mangled_name.h"

#include <algorithm>
#include <vector>

#include "base/ascii.h"

namespace fathom {
namespace {

bool is_seq_letter(char c) { return is_digit(c) || (c >= 'A' && c <= 'Z'); }

// Reads a mangled name as far as its brackets, names and references go. What it does not know
// counts as a short word.
class MangledWalk {
 public:
  explicit MangledWalk(std::string_view text) : text_(text) { frames_.push_back({}); }

  double run() {
    while (at_ < text_.size() && longest_ < kEnough) step();
    double all = longest_;
    for (const Frame& frame : frames_) all += frame.total;
    return all;
  }

 private:
  static constexpr double kWord = 40, kEnough = 1e12;
  struct Frame {
    char kind = ' ';
    double total = 0, element = 0;
    bool attach = false;  // the next part belongs to the last element
  };

  // The end of a reference "S12_" or "T_" at a place; 0 where there is none.
  size_t reference_end(size_t at) const {
    if (text_[at] != 'S' && text_[at] != 'T') return 0;
    size_t end = at + 1;
    while (end < text_.size() && is_seq_letter(text_[end])) ++end;
    return end < text_.size() && text_[end] == '_' ? end + 1 : 0;
  }

  void add(double size, bool attaches = false) {
    Frame& frame = frames_.back();
    const bool joins = attaches || frame.attach || frame.kind == 'N';
    frame.element = joins ? frame.element + size : size;
    frame.total += size;
    frame.attach = false;
    longest_ = std::max(longest_, frame.element);
  }

  void close() {
    if (frames_.size() == 1) return add(kWord);
    const Frame frame = frames_.back();
    frames_.pop_back();
    add(frame.total, frame.kind == 'I');
    if (frame.kind == 'Z') frames_.back().attach = true;
    if (frame.kind == 'U') skip_number();
  }

  void skip_number() {
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ < text_.size() && text_[at_] == '_') ++at_;
  }

  // A name with its length before it. What it holds may be references after all, if these digits
  // meant something else.
  void name() {
    size_t length = 0;
    while (at_ < text_.size() && is_digit(text_[at_]) && length < text_.size())
      length = length * 10 + static_cast<size_t>(text_[at_++] - '0');
    const size_t end = at_ + std::min(length, text_.size() - at_);
    double size = static_cast<double>(length);
    while (at_ < end) {
      const size_t behind = reference_end(at_);
      if (behind != 0) size += longest_;
      at_ = std::max(at_ + 1, std::min(behind, end));
    }
    add(size);
  }

  void step() {
    const char c = text_[at_];
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (is_digit(c)) {
      // Behind the type of a constant stands its value.
      if (frames_.back().kind == 'L' && frames_.back().total > 0) return skip_number();
      return name();
    }
    if (const size_t end = reference_end(at_); end != 0) {
      add(longest_);
      at_ = end;
    } else if (c == 'E') {
      ++at_;
      close();
    } else if (c == 'L' && next >= 'a' && next <= 'z') {
      at_ = std::min(text_.find('E', at_), text_.size() - 1) + 1;
      add(kWord);
    } else if (c == 'U' && next == 'l') {
      frames_.push_back({'U'});
      at_ += 2;
    } else if (std::string_view("NIXJFZL").find(c) != std::string_view::npos) {
      frames_.push_back({c});
      ++at_;
    } else if (c == 'A' || c == '_' || (c == 'D' && next == 'v') || (c == 'U' && next == 't')) {
      at_ += c == 'D' || c == 'U' ? 2 : 1;
      skip_number();
      add(kWord, true);
    } else if (c == 'C' || c == 'D' || c == 'S') {
      at_ += 2;
      add(kWord);
    } else {
      ++at_;
      add(c >= 'a' && c <= 'z' ? kWord : 1, c < 'a' || c > 'z');
    }
  }

  std::string_view text_;
  size_t at_ = 2;  // behind _Z
  std::vector<Frame> frames_;
  double longest_ = kWord;  // of the parts so far
};

}  // namespace

double demangled_length_at_most(std::string_view mangled) {
  return mangled.size() < 2 ? 0 : MangledWalk(mangled).run();
}

}  // namespace fathom
