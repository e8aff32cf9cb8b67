#pragma once

#include <compare>
#include <cstdint>

namespace fathom {

// How a fact was found. kCertain: it stands there. kLikely: one step was concluded from names or
// structure. kUnsure: several answers fit, or a step could not be followed.
enum class Certainty : uint8_t { kCertain, kLikely, kUnsure };

// A line of CodeFacts::files[file], counted from 1.
struct CodePlace {
  uint32_t file = 0;
  uint32_t line = 0;
  friend auto operator<=>(const CodePlace&, const CodePlace&) = default;
};

}  // namespace fathom
