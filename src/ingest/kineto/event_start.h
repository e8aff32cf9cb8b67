#pragma once

#include <cstddef>
#include <string_view>

// Where events begin in text that brackets and quotes cannot be trusted in.
namespace fathom::kineto {

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// is_event_start looks at no more than this much text after the brace.
constexpr size_t kEventStartLength = 160;

// A brace that is no value of a key, followed by a key that events have. In valid JSON no string
// holds this: its quotes would be escaped.
bool is_event_start(std::string_view text, size_t at);

// How many keys "ph" the text holds: each event has one.
size_t count_phase_keys(std::string_view text);

// The phase of the event that the text begins with is one letter, as it must be.
bool has_phase_letter(std::string_view event);

// Whether the bracket at `at` closes the list of events, judged by what follows. kUnknown: that
// needs more text than there is.
enum class ListEnd { kNo, kYes, kUnknown };
ListEnd judge_list_end(std::string_view text, size_t at, bool bare_list, bool is_all);

// The first place after `from` where reading can go on: an event, which is an object with a key
// "ph", or the end of the list. Brackets and quotes before it may be damaged. Both npos: none.
struct Landmark {
  size_t event = std::string_view::npos, list_end = std::string_view::npos;
  bool found() const { return event != list_end; }
};
Landmark find_landmark(std::string_view text, size_t from, bool bare_list, bool is_all);

}  // namespace fathom::kineto
