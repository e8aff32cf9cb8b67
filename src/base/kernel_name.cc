#include "base/kernel_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/ascii.h"
#include "base/mangled_name.h"

namespace fathom {
namespace {

// No compiler's names are longer, once they are demangled.
constexpr double kLongestDemangled = 1 << 26;

bool is_word(char c) {
  return is_word_character(c) || c == '$' || c == '.' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

// Behind the bracket that closes the one at `at`; the end where none does.
size_t behind_bracket(std::string_view text, size_t at, char open, char close) {
  size_t depth = 0;
  for (size_t i = at; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && --depth == 0) return i + 1;
  }
  return text.size();
}

// "{lambda(int)#2}", "[lambda(int) (instance 2)]", "'lambda1'(int)" → "lambda2". The first of a
// scope may have no number.
std::string lambda_name(std::string_view inside) {
  size_t end = inside.find_last_of("0123456789");
  const size_t mark = std::max(inside.rfind('#') + 1, inside.rfind("instance") + 1);
  if (end == std::string_view::npos || mark == 0 || end < mark) return "lambda1";
  size_t begin = end;
  while (begin > 0 && is_digit(inside[begin - 1])) --begin;
  return "lambda" + std::string(inside.substr(begin, end - begin + 1));
}

// One pass over a demangled name. A scope is cut off again when "::" follows it.
class NameWalk {
 public:
  explicit NameWalk(std::string_view text) : text_(text) {}

  std::string run() {
    paths_.push_back(0);
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (text_.substr(at_).starts_with("::")) {
      at_ += 2;
      // What a lambda is in tells it from the lambdas of other functions.
      const std::string_view next = text_.substr(at_);
      const bool is_inside = next.starts_with('{') || next.starts_with('[') ||
                             next.starts_with("operator") || next.starts_with("<lambda");
      is_inside ? out_ += '.' : (out_.resize(paths_.back()), out_);
    } else if (text_.substr(at_).starts_with("<unnamed>") ||
               text_.substr(at_).starts_with("<lambda")) {
      skip_unnamed();
    } else if (c == '<') {
      open_arguments();
    } else if (c == '>') {
      close_arguments();
    } else if (c == ',') {
      out_ += ',';
      paths_.back() = out_.size();
      ++at_;
    } else if (c == '(') {
      at_ = behind_bracket(text_, at_, '(', ')');
    } else if (c == '{' || c == '[') {
      const size_t end = behind_bracket(text_, at_, c, c == '{' ? '}' : ']');
      const std::string_view inside = text_.substr(at_, end - at_);
      if (inside.find("lambda") != std::string_view::npos)
        out_ += lambda_name(inside);
      else if (inside.find("unnamed") != std::string_view::npos)
        out_ += "unnamed";
      at_ = end;
    } else if (is_word(c)) {
      word();
    } else {
      // Blanks and what tells types apart only by spelling; a pointer does tell them apart.
      if (c == '*' || c == '&' || c == '-') out_ += c;
      ++at_;
    }
  }

  void skip_unnamed() {
    const size_t end = text_.find('>', at_);
    const std::string_view inside = text_.substr(at_, end - at_);
    if (inside.starts_with("<lambda")) out_ += lambda_name(inside);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
  }

  void open_arguments() {
    out_ += '<';
    paths_.push_back(out_.size());
    ++at_;
  }

  void close_arguments() {
    ++at_;
    if (paths_.size() == 1) return;  // "operator->"
    paths_.pop_back();
    out_ += '>';
  }

  void word() {
    size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    if (is_digit(word.front())) {
      while (word.size() > 1 &&
             std::string_view("uUlL").find(word.back()) != std::string_view::npos)
        word.remove_suffix(1);
    }
    if (word == "const" || word == "volatile" || word == "enum" || word == "struct") return;
    if (word == "true") word = "1";
    if (word == "false") word = "0";
    // A return type, of the kernel or of a function that a type is local to.
    if (word == "void" && at_ < text_.size() && text_[at_] == ' ' && at_ + 1 < text_.size() &&
        (is_word(text_[at_ + 1]) || text_[at_ + 1] == '<' || text_[at_ + 1] == '('))
      return;
    out_ += word;
    if (word == "operator") skip_operator();
  }

  void skip_operator() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (text_.substr(at_).starts_with("()")) {
      at_ += 2;
      return;
    }
    while (at_ < text_.size() &&
           std::string_view("<>=!+-*/%^&|~").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string out_;
  std::vector<size_t> paths_;  // where the current path begins, for each open argument list
};

// "k.kd", "k (.kd)", "k [clone .kd]": AMD's kernel descriptor.
std::string_view without_descriptor(std::string_view name) {
  for (const std::string_view ending : {" (.kd)", " [clone .kd]", ".kd"}) {
    if (name.size() > ending.size() && name.ends_with(ending))
      return name.substr(0, name.size() - ending.size());
  }
  return name;
}

// "CUDA graph 2", "Memcpy HtoD (Pageable -> Device)": what recorders call work that is no function.
bool is_title(std::string_view name) {
  if (name.starts_with("Memcpy ") || name.starts_with("Memset ")) return true;
  return name.find(' ') != std::string_view::npos &&
         name.find_first_of("(<") == std::string_view::npos;
}

}  // namespace

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z") || demangled_length_at_most(name) > kLongestDemangled)
    return std::string(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> out(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && out ? std::string(out.get()) : std::string(name);
}

std::string_view KernelName::base() const {
  const std::string_view whole = text;
  return whole.substr(0, whole.find('<'));
}

KernelName normal_kernel_name(std::string_view name) {
  if (is_title(name)) return {std::string(name)};
  const std::string plain = demangled(without_descriptor(name));
  KernelName normal{NameWalk(without_descriptor(plain)).run()};
  // Nothing of it was a name, as in a text that was no kernel's.
  if (normal.text.empty() || normal.base().empty()) normal.text = plain;
  return normal;
}

}  // namespace fathom
