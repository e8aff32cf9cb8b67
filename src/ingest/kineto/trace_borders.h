#pragma once

#include <cstddef>
#include <string_view>

// Where a trace and its events begin and end, told from its text. Places are npos where there is
// none.
namespace fathom::kineto {

constexpr std::string_view kEventsKey = "\"traceEvents\"";
// Text before a trace, and text after one, is looked through in windows of this size.
constexpr size_t kWindow = 1 << 20;

// The first character from `at` on that is no space; 0: none.
char next_character(std::string_view text, size_t at);
bool begins_trace(std::string_view text, size_t at);
// Logs get into traces that a program writes to its standard output.
size_t find_trace_begin(std::string_view text);
// The first event of a text that may hold other lists as well. Its phase must be one letter, as
// documents of other kinds have keys "ph" too.
size_t find_first_event(std::string_view text, bool is_all);
// Of a trace whose last event is damaged: the last bracket after `from` that may close the list, if
// the text ends as a trace does.
size_t find_last_list_end(std::string_view text, size_t from, bool bare_list);
// `{"ph"` at the end, the brace neither a value nor the first of a list: its place.
size_t find_phase_object(std::string_view text);
// `"traceEvents": ` at the end, with quotes that no backslash makes part of a string.
bool ends_with_events_key(std::string_view text);

}  // namespace fathom::kineto
