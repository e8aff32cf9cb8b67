#include "plan/ablate/suite.h"

#include <algorithm>

#include "base/ascii.h"

namespace fathom::ablate {

const Variant* Suite::find(std::string_view name) const {
  const auto at = std::ranges::find(variants, name, &Variant::name);
  return at == variants.end() ? nullptr : &*at;
}

bool is_plain_name(std::string_view name) {
  constexpr std::string_view kAlso = ".+-";
  return !name.empty() && name.size() <= 60 && name[0] != '.' && name[0] != '-' &&
         std::ranges::all_of(name, [&](char c) {
           return is_word_character(c) || kAlso.find(c) != std::string_view::npos;
         });
}

bool stays_below(std::string_view path) {
  if (path.empty() || path[0] == '/' || path.find('\0') != std::string::npos) return false;
  while (!path.empty()) {
    const size_t end = path.find('/');
    if (path.substr(0, end) == "..") return false;
    path = end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
  }
  return true;
}

}  // namespace fathom::ablate
