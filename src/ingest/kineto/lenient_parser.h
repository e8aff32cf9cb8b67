#pragma once

#include <functional>
#include <string_view>

#include "events/event_store.h"

// For text that is damaged somewhere: quotes and backslashes that nobody escaped, control
// characters, invalid UTF-8, missing or doubled commas, NaN, lines of a log in between. On valid
// text it gives what the strict parser gives, only slower.
namespace fathom::kineto {

// The next place at or after `from` that looks like the beginning of an event object: a brace after
// a comma, a bracket or another brace, followed by a key that events have. npos: none.
size_t find_event_start(std::string_view text, size_t from);

// The value after a key that ends at `key_end`: past the colon, to its end. Empty: none.
std::string_view find_value(std::string_view text, size_t key_end);

// The events of a list, given without its brackets. What cannot be made sense of up to the next
// event is skipped and counted; so is each event that `is_whole` denies and this could still read.
EventStoreBuilder parse_leniently(std::string_view list, int64_t file_offset,
                                  const std::function<bool(std::string_view event)>& is_whole);

}  // namespace fathom::kineto
