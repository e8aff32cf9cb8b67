#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

namespace fathom {

// An index into one particular table. Tag keeps a string's number from being used as an event's.
template <typename Tag>
struct StrongId {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  uint32_t index = kNone;

  constexpr StrongId() = default;
  constexpr explicit StrongId(size_t i) : index(static_cast<uint32_t>(i)) {}

  constexpr bool valid() const { return index != kNone; }
  constexpr auto operator<=>(const StrongId&) const = default;
};

}  // namespace fathom

template <typename Tag>
struct std::hash<fathom::StrongId<Tag>> {
  size_t operator()(fathom::StrongId<Tag> id) const { return std::hash<uint32_t>{}(id.index); }
};
