#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace fathom::kineto {

// Follows strings, escapes and brackets through a list of events, and stops where they cannot be
// right. What it passes is not yet valid JSON, but every event lies where it seems to lie.
class BracketScanner {
 public:
  // From `begin`, which lies between two events. Inside an event objects may look like events, as
  // they do when an event breaks off; when they go on for longer than `patience`, it did.
  explicit BracketScanner(size_t begin = 0, size_t patience = SIZE_MAX)
      : patience_(patience), at_(begin), event_begin_(begin), event_end_(begin), cut_(begin) {}

  struct Found {
    // A square bracket that closes a list around the events.
    std::optional<size_t> list_end;
    // What no valid list holds: a bracket that does not fit, a line break or an event in a string,
    // something beside events. The damage lies between suspect() and here.
    std::optional<size_t> broken;
  };
  // Goes on where it stopped, in the same text with more at its end; is_all: no more will come.
  // Nothing found: all was looked at but for the last bytes of a text that is not all.
  Found scan(std::string_view text, bool is_all);

  // The end of an event that is followed by another one and is whole by its brackets.
  size_t cut() const { return cut_; }
  // The beginning of the last event, closed or not.
  size_t suspect() const { return event_begin_; }
  // The end of the last event that closed.
  size_t event_end() const { return event_end_; }
  bool in_event() const { return depth_ > 0; }
  bool in_string() const { return in_string_; }
  // The last event is open and holds what looks like another.
  bool holds_event() const { return depth_ > 0 && nested_ != SIZE_MAX; }

 private:
  bool open(std::string_view text, size_t at);
  bool close(std::string_view text, size_t at);
  bool is_clean_gap(std::string_view text, size_t end) const;
  void push(bool object);
  bool in_object() const { return types_[(depth_ - 1) / 64] >> ((depth_ - 1) % 64) & 1; }

  size_t patience_;
  size_t at_, event_begin_, event_end_, cut_;
  size_t nested_ = SIZE_MAX;  // the first that looks like an event inside the last one
  bool in_string_ = false, escaped_ = false;
  size_t depth_ = 0;
  std::vector<uint64_t> types_;  // one bit for each open bracket: set for an object
};

}  // namespace fathom::kineto
