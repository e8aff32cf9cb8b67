#pragma once

#include <span>

#include "analyze/assessment.h"
#include "analyze/finding.h"

// What several analyses put into their findings.
namespace fathom {

EvidenceOp evidence_of(const Assessment& a, const AssessedOp& op);
// Ops by the time that these of their calls take, the longest first.
std::vector<const AssessedOp*> ops_by_time(std::span<const AssessedCall* const> calls);
// Names of the calls and Python frames around a call, the innermost first, a few of them; without
// frames that say nothing and addresses of objects.
std::vector<std::string> call_stack_of(const SheetInput& input, EventId event);
// A name of a call or frame as people write it: "Tensor.item (built-in)" of "<built-in method item
// of Tensor object at 0x7f5b4456cdc0>", and others without addresses of objects.
std::string shown_frame(std::string_view name);
// "4096×2048, 2048×5632"; empty where the trace has no shapes.
std::string shapes_text(const SheetInput& input, EventId event);
// The types of its tensors, each once: "c10::BFloat16, float".
std::string types_text(const SheetInput& input, EventId event);

Nanos nanos_from(double seconds);
std::string percent_text(double share);  // "12.3 %"
// "3.1–12.4 %", "up to 12.4 %", or one number where both are the same
std::string percent_range_text(double least, double most);
std::string micros_text(Nanos time);  // "12.3 µs", "1.23 ms", from a minute on "75.2 s", "2.1 h"

// Adds the GPU work of a call to what a finding is about.
void cover(const Assessment& a, Finding& finding, const UnifiedOp& call);
// The same for all calls of ops.
void cover(const Assessment& a, Finding& finding, std::span<const AssessedOp* const> ops);

// Fills share from time, and the projections and savings from how long the work would take at
// each band and at the limit. `counted`: the part of a saving that shortens the trace.
void project_to_limit(const Assessment& a, Finding& finding, double efficiency, double counted);
// Work that one op could do instead of several, in seconds.
struct Replacement {
  double now = 0;      // of the GPU
  double counted = 0;  // the part of it that the trace's length depends on
  double limit = 0;    // what the one op needs at least
  // That the GPU stands idle for launches which would no longer be: gone whatever the op's time.
  double waited = 0;
};
// The same for such work: with the one op at 60 % and at 100 % of its limit. finding.time is all
// that it takes now, waits included.
void project_replacement(const Assessment& a, Finding& finding, const Replacement& work);

}  // namespace fathom
