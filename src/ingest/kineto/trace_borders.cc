#include "ingest/kineto/trace_borders.h"

#include <algorithm>

#include "ingest/kineto/event_start.h"

namespace fathom::kineto {
namespace {

void drop_spaces(std::string_view& text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
}

}  // namespace

char next_character(std::string_view text, size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at < text.size() ? text[at] : '\0';
}

bool begins_trace(std::string_view text, size_t at) {
  const char next = next_character(text, at + 1);
  if (text[at] == '{') return next == '"' || next == '}' || next == '\0';
  return text[at] == '[' && (next == '{' || next == ']' || next == '\0');
}

size_t find_trace_begin(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t first = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    if (first < text.size() && begins_trace(text, first)) return first;
    at = std::min(text.find('\n', first), text.size() - 1) + 1;
  }
  return std::string_view::npos;
}

size_t find_first_event(std::string_view text, bool is_all) {
  for (size_t from = 0; from < text.size();) {
    const Landmark next = find_landmark(text, from, false, is_all);
    if (!next.found()) break;
    if (next.event != std::string_view::npos && has_phase_letter(text.substr(next.event))) {
      return next.event;
    }
    from = std::min(next.event, next.list_end) + 1;
  }
  return std::string_view::npos;
}

size_t find_last_list_end(std::string_view text, size_t from, bool bare_list) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos || text[last] != (bare_list ? ']' : '}')) {
    return std::string_view::npos;
  }
  const size_t near = std::max(from, text.size() - std::min(text.size(), kWindow));
  for (size_t at = text.rfind(']'); at != std::string_view::npos && at > near;
       at = text.rfind(']', at - 1)) {
    // Of a bare list nothing follows that would tell it from a bracket in a text that was cut off.
    const size_t before = text.find_last_not_of(" \t\r\n", at - 1);
    if (bare_list && (before == std::string_view::npos || text[before] != '}')) continue;
    if (judge_list_end(text, at, bare_list, true) == ListEnd::kYes) return at;
  }
  return std::string_view::npos;
}

size_t find_phase_object(std::string_view text) {
  static constexpr std::string_view kKey = "\"ph\"";
  drop_spaces(text);
  if (!text.ends_with(kKey)) return std::string_view::npos;
  text.remove_suffix(kKey.size());
  drop_spaces(text);
  if (!text.ends_with('{')) return std::string_view::npos;
  text.remove_suffix(1);
  const size_t at = text.size();
  drop_spaces(text);
  return text.ends_with(':') || text.ends_with('[') ? std::string_view::npos : at;
}

bool ends_with_events_key(std::string_view text) {
  drop_spaces(text);
  if (!text.ends_with(':')) return false;
  text.remove_suffix(1);
  drop_spaces(text);
  if (!text.ends_with(kEventsKey)) return false;
  return text.size() == kEventsKey.size() || text[text.size() - kEventsKey.size() - 1] != '\\';
}

}  // namespace fathom::kineto
