#include "base/json_check.h"

#include "base/ascii.h"
#include "base/utf8.h"

namespace fathom {
namespace {

class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  bool run() {
    const bool is_value = value();
    skip_space();
    return is_value && at_ == text_.size();
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != npos) ++at_;
  }

  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  bool value() {
    constexpr int kMostDepth = 64;
    skip_space();
    if (take("true") || take("false") || take("null")) return true;
    if (at_ == text_.size()) return false;
    const char first = text_[at_];
    if (first == '"') return string();
    if (first != '[' && first != '{') return number();
    if (++depth_ > kMostDepth) return false;
    const bool is_whole = list(first == '{');
    --depth_;
    return is_whole;
  }

  bool list(bool has_keys) {
    const char* const end = has_keys ? "}" : "]";
    ++at_;
    skip_space();
    if (take(end)) return true;
    do {
      skip_space();
      if (has_keys && !(string() && (skip_space(), take(":")))) return false;
      if (!value()) return false;
      skip_space();
    } while (take(","));
    return take(end);
  }

  bool string() {
    if (!take("\"")) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c == '\\' && !escape()) return false;
    }
    return false;
  }

  bool escape() {
    constexpr int kDigits = 4;
    if (!take("u"))
      return at_ < text_.size() && std::string_view("\"\\/bfnrt").find(text_[at_++]) != npos;
    for (int i = 0; i < kDigits; ++i, ++at_) {
      if (at_ == text_.size() ||
          std::string_view("0123456789abcdefABCDEF").find(text_[at_]) == npos)
        return false;
    }
    return true;
  }

  bool digits() {
    const size_t first = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > first;
  }

  bool number() {
    take("-");
    const bool has_zero = take("0");
    if (!has_zero && !digits()) return false;
    if (take(".") && !digits()) return false;
    if (!take("e") && !take("E")) return true;
    if (!take("+")) take("-");
    return digits();
  }

  static constexpr size_t npos = std::string_view::npos;
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

bool is_json(std::string_view text) { return Checker(text).run() && with_valid_utf8(text) == text; }

}  // namespace fathom
