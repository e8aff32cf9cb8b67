#include "probe/native_probe.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/ascii.h"
#include "base/mangled_name.h"

namespace fathom::probe {
namespace {

std::string_view last_part(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::optional<NativeNumber> number_named(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  NativeNumber number;
  number.text = text;
  if (text.starts_with("int(") && text.ends_with(')')) {
    number.is_int = true;
    text = text.substr(4, text.size() - 5);
  }
  if (text == "result") return number;
  if (text.size() != 4 || !text.starts_with("arg") || text[3] < '1' || text[3] > '6') return {};
  number.argument = static_cast<uint32_t>(text[3] - '0');
  return number;
}

// Takes a list of numbers from the end of a name; leaves it as it is where there is none.
std::vector<NativeNumber> take_numbers(std::string_view& name) {
  if (!name.ends_with(')')) return {};
  size_t open = name.size();
  int depth = 0;
  do {
    --open;
    depth += name[open] == ')' ? 1 : name[open] == '(' ? -1 : 0;
  } while (open > 0 && depth > 0);
  if (depth != 0) return {};
  std::string_view list = name.substr(open + 1, name.size() - open - 2);
  std::vector<NativeNumber> numbers;
  while (true) {
    const size_t comma = list.find(',');
    std::optional<NativeNumber> number = number_named(list.substr(0, comma));
    if (!number) return {};
    numbers.push_back(std::move(*number));
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  name = name.substr(0, open);
  return numbers;
}

// Where the name of an operator at `at` ends: "operator()", "operator<<", "operator new[]".
size_t operator_end(std::string_view text, size_t at) {
  at += std::string_view("operator").size();
  if (text.substr(at).starts_with("()")) return at + 2;
  const size_t symbols = at;
  while (at < text.size() && std::strchr("<>=!+-*/%^&|~,[]", text[at]) != nullptr) ++at;
  if (at > symbols) return at;
  return text.find('(', at);  // "operator new", "operator bool"
}

// Whether a mangled name may stand for the wanted one: demangling all symbols takes seconds.
bool may_be(std::string_view mangled, std::string_view wanted) {
  while (!wanted.empty()) {
    size_t end = 0;
    while (end < wanted.size() && is_word_character(wanted[end])) ++end;
    const std::string_view word = wanted.substr(0, end);
    const bool is_written = !word.empty() && word != "std" && !word.starts_with("operator");
    const bool is_std = word == "std";  // what follows may be abbreviated: Ss, Sa
    if (is_written && mangled.find(word) == std::string_view::npos) return false;
    if (is_std || end >= wanted.size() || wanted[end] != ':') return true;
    wanted.remove_prefix(std::min(wanted.size(), end + 2));
  }
  return true;
}

}  // namespace

bool is_native_probe(std::string_view probe) {
  const size_t colon = probe.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view object = probe.substr(0, colon);
  return object == "c" || object.find('/') != std::string_view::npos || object.ends_with(".so") ||
         object.find(".so.") != std::string_view::npos;
}

NativeProbe native_probe(std::string_view probe) {
  const size_t colon = probe.find(':');
  const std::string_view object = probe.substr(0, colon);
  std::string_view name =
      colon == std::string_view::npos ? std::string_view() : probe.substr(colon + 1);
  std::vector<NativeNumber> numbers = take_numbers(name);
  return {object == "c" ? std::string() : std::string(last_part(object)), std::string(name),
          std::move(numbers)};
}

std::string function_name(std::string_view text, bool with_arguments) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  std::string name;
  int depth = 0;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (depth == 0 && rest.starts_with("operator") &&
        (name.empty() || !is_word_character(name.back()))) {
      const size_t end = std::min(text.size(), operator_end(text, at));
      name += text.substr(at, end - at);
      at = end;
      continue;
    }
    if (rest.starts_with(kUnnamed)) {
      if (depth == 0 || with_arguments) name += kUnnamed;
      at += kUnnamed.size();
      continue;
    }
    const char c = text[at++];
    if (c == '<') ++depth;
    if (depth == 0) {
      if (c == '(') break;
      if (c == '[') {  // [abi:cxx11]
        at = std::min(text.size(), text.find(']', at));
        if (at < text.size()) ++at;
        continue;
      }
      if (c == ' ') {  // what was before is the return type
        name.clear();
        continue;
      }
    }
    if (depth == 0 || with_arguments) name += c;
    if (c == '>' && depth > 0) --depth;
  }
  return name;
}

std::string demangled_symbol(const char* symbol) {
  constexpr double kLongest = 1 << 16;
  if (symbol[0] != '_' || symbol[1] != 'Z' || demangled_length_at_most(symbol) > kLongest)
    return symbol;
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string out = status == 0 && text != nullptr ? text : symbol;
  std::free(text);
  return out;
}

bool matches_symbol(const NativeProbe& probe, const char* symbol) {
  if (probe.function == symbol) return true;
  if (symbol[0] != '_' || symbol[1] != 'Z' || !may_be(symbol, probe.function)) return false;
  // Tables, guards and thunks have names of their own, which are no functions.
  if (symbol[2] == 'T' || symbol[2] == 'G') return false;
  const std::string shown = demangled_symbol(symbol);
  return function_name(shown, true) == probe.function ||
         function_name(shown, false) == probe.function;
}

bool matches_object(const NativeProbe& probe, std::string_view path) {
  if (probe.object.empty()) return true;
  const std::string_view name = last_part(path);
  if (!name.starts_with(probe.object)) return false;
  const std::string_view rest = name.substr(probe.object.size());
  return rest.empty() || (rest[0] == '.' && probe.object.find(".so") != std::string::npos);
}

}  // namespace fathom::probe
