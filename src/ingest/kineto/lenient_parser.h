#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "events/event_store.h"

// For text that is damaged somewhere: quotes and backslashes that nobody escaped, control
// characters, invalid UTF-8, missing or doubled commas, NaN, lines of a log in between. On valid
// text it gives what the strict parser gives, only slower.
namespace fathom::kineto {

// A part of a list in which brackets or quotes are damaged: an event and what follows it up to the
// next one, or what stands before the first.
struct DamagedPart {
  size_t begin = 0, end = 0;
  bool comma_after = false;  // at its end, before the next event
};

// The value after a key that ends at `key_end`: past the colon, to its end. Empty: none.
std::string_view find_value(std::string_view text, size_t key_end);

// The events of a list, given without its brackets. What cannot be made sense of is skipped and
// counted; so is each event that `is_whole` denies and this could still read. Outside the damaged
// parts brackets and quotes are right.
EventStoreBuilder parse_leniently(std::string_view list, std::span<const DamagedPart> damaged,
                                  int64_t file_offset,
                                  const std::function<bool(std::string_view event)>& is_whole);

}  // namespace fathom::kineto
