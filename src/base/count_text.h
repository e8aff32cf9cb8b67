#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/units.h"

namespace fathom {

// 25228 → "25,228"
inline std::string number_text(uint64_t value) {
  return with_thousands(static_cast<int64_t>(value));
}

// "file" of one, "files" of any other number; the plural is given where it is not the word with an
// s.
inline std::string noun(uint64_t count, std::string_view one, std::string_view several = {}) {
  if (count == 1) return std::string(one);
  return several.empty() ? std::string(one) + "s" : std::string(several);
}

// "1 file", "2,737 files"
inline std::string counted(uint64_t count, std::string_view one, std::string_view several = {}) {
  return fmt::format("{} {}", number_text(count), noun(count, one, several));
}

}  // namespace fathom
