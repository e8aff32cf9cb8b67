#include "session/probe_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "probe/native_probe.h"

namespace fathom {
namespace {

// They return twice, look at their caller's frame, or are called in a way of their own.
bool cannot_be_probed(std::string_view symbol) {
  constexpr std::string_view kSpecial[] = {
      "setjmp",     "_setjmp",     "__setjmp",      "sigsetjmp", "__sigsetjmp", "getcontext",
      "setcontext", "swapcontext", "makecontext",   "vfork",     "__vfork",     "clone",
      "__clone",    "dlopen",      "dlsym",         "dlvsym",    "dlmopen",     "mcount",
      "_mcount",    "__fentry__",  "__tls_get_addr"};
  return std::ranges::find(kSpecial, symbol) != std::end(kSpecial) ||
         symbol.starts_with("_Unwind_") || symbol.starts_with("_dl_");
}

std::optional<std::string> native_mistake(std::string_view probe) {
  const probe::NativeProbe parts = probe::native_probe(probe);
  if (parts.function.empty() || probe.find('\n') != std::string_view::npos)
    return "expected LIBRARY.so:SYMBOL or c:SYMBOL, with (arg1, int(arg2), result) for numbers";
  if (cannot_be_probed(parts.function)) {
    return fmt::format("{} depends on its caller's stack frame and cannot be probed",
                       parts.function);
  }
  // A parameter list, unless it belongs to the name: operator(), (anonymous namespace).
  const std::string_view name = parts.function;
  if (name.ends_with(')') && !name.ends_with("operator()"))
    return "expected arg1 to arg6, result, or int() of them in brackets; a C or C++ function is "
           "named without its parameters, and all overloads are recorded";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> probe_mistake(const std::string& probe) {
  const auto is_path = [](std::string_view text) {
    if (text.empty()) return false;
    bool begins = true;
    for (const char c : text) {
      if (c == '.' ? begins : !is_word_character(c) || (begins && is_digit(c))) return false;
      begins = c == '.';
    }
    return !begins;
  };
  constexpr const char* kForm =
      "expected MODULE:FUNCTION or MODULE:CLASS.METHOD, with (PATH, len(PATH)) for numbers, or "
      "LIBRARY.so:SYMBOL";
  if (probe::is_native_probe(probe)) return native_mistake(probe);
  std::string_view rest = probe;
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos || !is_path(rest.substr(0, colon))) return kForm;
  rest.remove_prefix(colon + 1);
  const size_t open = rest.find('(');
  if (!is_path(rest.substr(0, open))) return kForm;
  if (open == std::string_view::npos) return std::nullopt;
  rest.remove_prefix(open + 1);
  if (!rest.ends_with(')')) return kForm;
  rest.remove_suffix(1);
  while (true) {
    const size_t comma = rest.find(',');
    std::string_view item = rest.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (item.starts_with("len(") && item.ends_with(')')) item = item.substr(4, item.size() - 5);
    if (!is_path(item)) return fmt::format("'{}' is no attribute path; {}", item, kForm);
    if (comma == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace fathom
