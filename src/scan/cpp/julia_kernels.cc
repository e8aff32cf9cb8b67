#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "scan/cpp/found_kernels.h"
#include "scan/facts/text_lines.h"

namespace fathom::cpp {
namespace {

bool is_part(char c) { return is_word_character(c) || c == '!' || (c & 0x80) != 0; }

// 'c', and no a' of transposing.
bool is_character(std::string_view text, size_t i) {
  if (text[i] != '\'' || i + 2 >= text.size() || text[i + 2] != '\'') return false;
  return i == 0 || !(is_part(text[i - 1]) || text[i - 1] == ')' || text[i - 1] == ']');
}

// Comments and strings as blanks, so that every line keeps its number.
std::string only_code(std::string_view text) {
  std::string out(text);
  const auto blank = [&](size_t from, size_t to) {
    for (size_t i = from; i < std::min(to, out.size()); ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
    return std::min(to, out.size());
  };
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("#=")) {
      i = blank(i, std::min(text.find("=#", i + 2), text.size() - 2) + 2);
    } else if (rest[0] == '#') {
      i = blank(i, text.find('\n', i));
    } else if (rest.starts_with("\"\"\"")) {
      i = blank(i, std::min(text.find("\"\"\"", i + 3), text.size() - 3) + 3);
    } else if (is_character(text, i)) {
      i = blank(i, i + 3);
    } else if (rest[0] == '"') {
      size_t end = i + 1;
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      i = blank(i, end + 1);
    } else {
      ++i;
    }
  }
  return out;
}

struct JuliaFunction {
  std::string name, parameters;
  uint32_t line_first = 0, line_last = 0;
  bool marked = false;  // by @kernel
};

struct JuliaLaunch {
  std::string macro, name, grid, function;
  uint32_t line = 0;
};

class JuliaReader {
 public:
  explicit JuliaReader(std::string_view text) : code_(only_code(text)) {}

  std::vector<FoundKernel> run() {
    for (at_ = 0; at_ < code_.size();) {
      const char c = code_[at_];
      if (c == '\n') {
        ++line_;
        marked_ = false;
      }
      depth_ += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
      depth_ = std::max(depth_, 0);
      if (c == '@' || is_part(c)) {
        take_word();
      } else {
        ++at_;
      }
    }
    return kernels();
  }

 private:
  void take_word() {
    const size_t begin = at_;
    const char before = begin == 0 ? '\n' : code_[begin - 1];
    ++at_;
    while (at_ < code_.size() && is_part(code_[at_])) ++at_;
    const std::string_view word = std::string_view(code_).substr(begin, at_ - begin);
    if (word[0] != '@' && (before == ':' || before == '.')) return;  // a symbol, a field
    if (is_one_of(word, {"@cuda", "@roc", "@metal", "@oneapi"})) return launch(word);
    if (word == "@kernel") marked_ = true;
    if (word == "mutable") return;  // of a struct, which follows
    if (word == "end" && depth_ == 0) return close();
    if (!is_one_of(word, {"function", "if", "for", "while", "begin", "let", "do", "try", "struct",
                          "module", "baremodule", "macro", "quote", "mutable"}) ||
        depth_ != 0)
      return;
    open_.push_back(word == "function" ? function() : kNone);
  }

  // function NAME(parameters), and no anonymous one.
  size_t function() {
    size_t name = code_.find_first_not_of(" \t", at_);
    if (name == std::string::npos || !is_part(code_[name])) return kNone;
    size_t end = name;
    while (end < code_.size() && (is_part(code_[end]) || code_[end] == '.')) ++end;
    JuliaFunction& one = functions_.emplace_back();
    one.name = code_.substr(name, end - name);
    one.name.erase(0, one.name.rfind('.') + 1);
    one.line_first = one.line_last = line_;
    one.marked = std::exchange(marked_, false);
    if (end < code_.size() && code_[end] == '(')
      one.parameters = code_.substr(end + 1, closing(end) - end - 1);
    by_name_[one.name].push_back(functions_.size() - 1);
    return functions_.size() - 1;
  }

  void close() {
    if (open_.empty()) return;
    if (open_.back() != kNone) functions_[open_.back()].line_last = line_;
    open_.pop_back();
  }

  size_t closing(size_t open) const {
    constexpr size_t kLongest = 4'000;
    const size_t end = std::min(code_.size(), open + kLongest);
    int depth = 0;
    for (size_t i = open; i < end; ++i) {
      depth += (code_[i] == '(' || code_[i] == '[') - (code_[i] == ')' || code_[i] == ']');
      if (depth == 0) return i;
    }
    return end - 1;
  }

  // @cuda threads=(16, 16) blocks=n scale(a, b)
  void launch(std::string_view macro) {
    JuliaLaunch one{std::string(macro), "", "", "", line_};
    const auto around =
        std::find_if(open_.rbegin(), open_.rend(), [](size_t f) { return f != kNone; });
    if (around != open_.rend()) one.function = functions_[*around].name;
    size_t i = at_;
    while (i < code_.size() && code_[i] != '\n') {
      if (code_[i] == ' ' || code_[i] == '\t') {
        ++i;
        continue;
      }
      const size_t begin = i;
      while (i < code_.size() && std::string_view(" \t\n)]").find(code_[i]) == std::string::npos)
        i = code_[i] == '(' || code_[i] == '[' ? closing(i) + 1 : i + 1;
      i = std::min(i, code_.size());
      const std::string_view argument = std::string_view(code_).substr(begin, i - begin);
      const size_t call = argument.find('('), equals = argument.find('=');
      if (equals < call) {
        if (argument.starts_with("blocks=") || argument.starts_with("groups=") ||
            argument.starts_with("gridsize="))
          one.grid = argument.substr(equals + 1);
      } else if (call != std::string_view::npos) {
        one.name = argument.substr(0, call);
        break;
      }
      if (i == begin) break;
    }
    one.name.erase(0, one.name.rfind('.') + 1);
    if (!one.name.empty() && std::ranges::all_of(one.name, is_part)) launches_.push_back(one);
  }

  // The definition of the name that stands last before a launch; else the first behind it.
  const JuliaFunction* launched(const JuliaLaunch& launch) const {
    const auto found = by_name_.find(launch.name);
    if (found == by_name_.end()) return nullptr;
    const auto behind = std::ranges::upper_bound(
        found->second, launch.line, {}, [&](size_t i) { return functions_[i].line_first; });
    return &functions_[behind == found->second.begin() ? *behind : *(behind - 1)];
  }

  std::vector<FoundKernel> kernels() const {
    std::map<const JuliaFunction*, const JuliaLaunch*> launches;
    for (const JuliaLaunch& launch : launches_) {
      if (const JuliaFunction* function = launched(launch)) launches.emplace(function, &launch);
    }
    std::vector<FoundKernel> out;
    for (const JuliaFunction& function : functions_) {
      const auto launch = launches.find(&function);
      if (!function.marked && launch == launches.end()) continue;
      FoundKernel& kernel = out.emplace_back();
      kernel.kind = KernelKind::kJulia;
      kernel.name = function.name;
      kernel.parameters = function.parameters;
      kernel.line_first = kernel.line_name = function.line_first;
      kernel.line_last = function.line_last;
      if (launch == launches.end()) continue;
      kernel.via = launch->second->macro;
      kernel.grid = launch->second->grid;
      kernel.launch_line = launch->second->line;
      kernel.function = launch->second->function;
    }
    return out;
  }

  static constexpr size_t kNone = SIZE_MAX;
  const std::string code_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  int depth_ = 0;
  bool marked_ = false;
  std::vector<size_t> open_;  // blocks: of a function its number
  std::vector<JuliaFunction> functions_;
  std::vector<JuliaLaunch> launches_;
  std::map<std::string, std::vector<size_t>> by_name_;  // functions, in order of their lines
};

}  // namespace

std::vector<FoundKernel> find_julia_kernels(std::string_view text) {
  const bool launches = std::ranges::any_of(
      std::array<std::string_view, 5>{"@cuda", "@kernel", "@roc", "@metal", "@oneapi"},
      [&](std::string_view macro) { return holds(text, macro); });
  return launches ? JuliaReader(text).run() : std::vector<FoundKernel>();
}

}  // namespace fathom::cpp
