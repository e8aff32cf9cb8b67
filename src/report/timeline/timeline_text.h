#pragma once

#include <string>
#include <vector>

#include "analyze/assessment.h"
#include "report/screen.h"

namespace fathom {

// Rows of a timeline for a terminal: idle time by cause, streams, and the calls of the busiest
// threads, each row with events that do not overlap, in the order of time.
struct TerminalTimeline {
  enum class Tone : uint8_t { kIdle, kWork, kCommunication, kCopy, kOp, kCall, kRange };
  struct Span {
    Nanos begin, end;
    StringId name;      // invalid: `words` has it
    uint8_t words = 0;  // idle cause
    Tone tone = Tone::kOp;
  };
  struct Row {
    std::string label;
    std::vector<Span> spans;
  };
  std::vector<Row> rows;
  Nanos begin, end;
  size_t left_out = 0;  // streams and threads
};
TerminalTimeline terminal_timeline(const Assessment& assessment);

// What is shown of it.
struct TimelineWindow {
  Nanos begin, end;
  size_t row = 0;  // that is selected
  Nanos cursor;    // the event of it at this time, or the next one, is told below
  bool has_cursor = false;
  size_t height = 30;  // lines
};
// The event of a row at a time, or the next one after it; null: none follows.
const TerminalTimeline::Span* span_at(const TerminalTimeline::Row& row, Nanos time);
std::string span_name(const TerminalTimeline::Span& span, const EventStore& store);

// A frame: the time, a line for each row whose cells are as full as the row is there, and the
// selected event.
std::string timeline_frame(const TerminalTimeline& timeline, const EventStore& store,
                           const TimelineWindow& window, const TerminalStyle& style);

}  // namespace fathom
