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

// "1 file", "2,737 files"
inline std::string counted(uint64_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", number_text(count), count == 1 ? one : several);
}

}  // namespace fathom
