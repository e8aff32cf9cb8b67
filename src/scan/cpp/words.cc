#include "scan/cpp/words.h"

#include <algorithm>
#include <array>

namespace fathom::cpp {
namespace {

template <size_t N>
bool among(const std::array<std::string_view, N>& sorted, std::string_view word) {
  return std::binary_search(sorted.begin(), sorted.end(), word);
}

constexpr auto kKeywords = std::to_array<std::string_view>({"alignas",
                                                            "alignof",
                                                            "asm",
                                                            "auto",
                                                            "break",
                                                            "case",
                                                            "catch",
                                                            "class",
                                                            "co_await",
                                                            "co_return",
                                                            "co_yield",
                                                            "const",
                                                            "const_cast",
                                                            "constexpr",
                                                            "continue",
                                                            "decltype",
                                                            "default",
                                                            "delete",
                                                            "do",
                                                            "dynamic_cast",
                                                            "else",
                                                            "enum",
                                                            "extern",
                                                            "for",
                                                            "friend",
                                                            "goto",
                                                            "if",
                                                            "namespace",
                                                            "new",
                                                            "noexcept",
                                                            "operator",
                                                            "private",
                                                            "protected",
                                                            "public",
                                                            "reinterpret_cast",
                                                            "requires",
                                                            "return",
                                                            "sizeof",
                                                            "static_assert",
                                                            "static_cast",
                                                            "struct",
                                                            "switch",
                                                            "template",
                                                            "throw",
                                                            "typedef",
                                                            "typename",
                                                            "using",
                                                            "while"});
static_assert(std::is_sorted(kKeywords.begin(), kKeywords.end()));

constexpr std::array<std::string_view, 9> kBuiltinTypes = {
    "bool", "char", "double", "float", "int", "long", "short", "unsigned", "void"};
static_assert(std::is_sorted(kBuiltinTypes.begin(), kBuiltinTypes.end()));

constexpr std::array<std::string_view, 16> kSpecifiers = {
    "__device__", "__forceinline__", "__global__", "__host__", "__inline__", "__noinline__",
    "consteval",  "constexpr",       "explicit",   "extern",   "friend",     "inline",
    "mutable",    "static",          "typename",   "virtual"};
static_assert(std::is_sorted(kSpecifiers.begin(), kSpecifiers.end()));

constexpr std::array<std::string_view, 9> kWithArguments = {"__align__", "__declspec", "alignas",
                                                            "asm",       "decltype",   "explicit",
                                                            "noexcept",  "requires",   "throw"};
static_assert(std::is_sorted(kWithArguments.begin(), kWithArguments.end()));

}  // namespace

bool is_keyword(std::string_view word) { return among(kKeywords, word); }
bool is_builtin_type(std::string_view word) { return among(kBuiltinTypes, word); }
bool is_specifier(std::string_view word) { return among(kSpecifiers, word); }

bool takes_attribute_arguments(std::string_view word) {
  // __launch_bounds__, __cluster_dims__, __maxnreg__, __attribute__ and whatever comes next.
  if (word.size() > 4 && word.starts_with("__") && word.ends_with("__")) return true;
  return among(kWithArguments, word);
}

bool is_all_caps(std::string_view word) {
  bool has_letter = false;
  for (const char c : word) {
    if (c >= 'a' && c <= 'z') return false;
    has_letter |= c >= 'A' && c <= 'Z';
  }
  return has_letter && word.size() > 1;
}

}  // namespace fathom::cpp
