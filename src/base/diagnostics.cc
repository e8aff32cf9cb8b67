#include "base/diagnostics.h"

#include "base/check.h"

namespace fathom {
namespace {

constexpr FlawText kFlaws[] = {
    {Flaw::kTruncated, Severity::kDataLoss, "truncated",
     "the file ends in the middle: what came before the break was read"},
    {Flaw::kTextAfterEnd, Severity::kNotice, "text_after_end", "text after the end of the trace"},
    {Flaw::kRepairedEvent, Severity::kNotice, "repaired_event",
     "places with malformed JSON, read around the damage"},
    {Flaw::kOversizedEvent, Severity::kDataLoss, "oversized_event",
     "an event is too large to read: what came before it was read"},
    {Flaw::kSizeLimit, Severity::kDataLoss, "size_limit",
     "the trace is larger than --max-size: what came before the limit was read"},
    {Flaw::kTextBeforeStart, Severity::kNotice, "text_before_start",
     "text before the beginning of the trace, passed over"},
    {Flaw::kNotAnObject, Severity::kDataLoss, "not_an_object",
     "entries of traceEvents that are no objects, skipped"},
    {Flaw::kMalformedEvent, Severity::kDataLoss, "malformed_event",
     "events with malformed JSON, skipped"},
    {Flaw::kUnknownPhase, Severity::kDataLoss, "unknown_phase",
     "events of a phase (ph) that profiler traces do not use, skipped"},
    {Flaw::kMissingTime, Severity::kDataLoss, "missing_time",
     "events without a readable time, skipped"},
    {Flaw::kMissingDuration, Severity::kNotice, "missing_duration",
     "events without a readable duration, taken as 0"},
    {Flaw::kNegativeDuration, Severity::kNotice, "negative_duration",
     "events with a negative duration, taken as 0"},
    {Flaw::kUnknownCategory, Severity::kInfo, "unknown_category",
     "events of a category (cat) that no sheet uses, kept"},
    {Flaw::kUnlinkedGpuEvent, Severity::kNotice, "unlinked_gpu_event",
     "GPU events whose launch is not in the file"},
    {Flaw::kPartialOverlap, Severity::kInfo, "partial_overlap",
     "CPU events that partly overlap another on their thread, kept beside it"},
    {Flaw::kAmbiguousCorrelation, Severity::kNotice, "ambiguous_correlation",
     "GPU events with several launches of the same correlation, linked to the latest before them"},
    {Flaw::kBeforeItsLaunch, Severity::kNotice, "before_its_launch",
     "GPU events that begin over 20 µs before their launch: the clocks of CPU and GPU differ, or "
     "the "
     "links are wrong; causes of idle time are not to be trusted"},
    {Flaw::kMetadataDamaged, Severity::kNotice, "metadata_damaged",
     "the fields beside traceEvents are malformed JSON: read around the damage"},
    {Flaw::kZeroBytes, Severity::kDataLoss, "zero_bytes",
     "zero bytes at the start of the file: its first part is lost"},
    {Flaw::kChangedWhileRead, Severity::kDataLoss, "changed_while_read",
     "the file changed while it was read: the report may mix two versions of it"},
    {Flaw::kDamagedPart, Severity::kDataLoss, "damaged_part",
     "damaged parts of the capture, passed over"},
    {Flaw::kLostRecords, Severity::kDataLoss, "lost_records",
     "records that were lost while recording, because there was no room for them or they came too "
     "fast"},
    {Flaw::kOpenRange, Severity::kInfo, "open_range",
     "ranges of which only one end was recorded, left out"},
    {Flaw::kCounterText, Severity::kInfo, "counter_text",
     "lines between the counters that are no rows, such as the program's output, skipped"},
    {Flaw::kCounterRowDamaged, Severity::kDataLoss, "counter_row_damaged",
     "rows of counters that are damaged or cut off: what could be read of them is kept"},
    {Flaw::kCounterValueUnreadable, Severity::kNotice, "counter_value_unreadable",
     "counter values that are no numbers, negative, infinite, over 150 % of a peak, or without the "
     "unit of a time, a size or a clock, left unknown"},
    {Flaw::kRepeatedColumn, Severity::kNotice, "repeated_column",
     "columns of counters with a name that an earlier one has, left out"},
    {Flaw::kDamagedTable, Severity::kDataLoss, "damaged_table",
     "tables of the database are damaged: what came before the damage was read"},
    {Flaw::kUnreadTable, Severity::kInfo, "unread_table",
     "tables of events that no sheet uses, left out"},
};

static_assert(std::size(kFlaws) == static_cast<size_t>(Flaw::kCount));

}  // namespace

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kNotice:
      return "notice";
    case Severity::kDataLoss:
      return "data loss";
    case Severity::kError:
      return "error";
  }
  return "";
}

const FlawText& describe(Flaw flaw) {
  const FlawText& text = kFlaws[static_cast<size_t>(flaw)];
  CHECK(text.flaw == flaw);
  return text;
}

void Diagnostics::add(Flaw flaw, std::string_view example, int64_t count) {
  Diagnostic& slot = slots_[static_cast<size_t>(flaw)];
  slot.flaw = flaw;
  if (slot.count == 0) slot.example = example;
  slot.count += count;
}

void Diagnostics::merge(const Diagnostics& other) {
  for (const Diagnostic& d : other.slots_) {
    if (d.count > 0) add(d.flaw, d.example, d.count);
  }
}

std::vector<Diagnostic> Diagnostics::all() const {
  std::vector<Diagnostic> seen;
  for (const Diagnostic& d : slots_) {
    if (d.count > 0) seen.push_back(d);
  }
  return seen;
}

int64_t Diagnostics::count(Flaw flaw) const { return slots_[static_cast<size_t>(flaw)].count; }

int64_t Diagnostics::skipped_events() const {
  return count(Flaw::kNotAnObject) + count(Flaw::kMalformedEvent) + count(Flaw::kUnknownPhase) +
         count(Flaw::kMissingTime);
}

}  // namespace fathom
