#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyze/finding.h"
#include "analyze/patterns/pattern_input.h"
#include "analyze/traits.h"

namespace fathom::patterns {

// What removing or replacing work saves, in seconds of the GPU's timeline.
struct Saving {
  double least = 0, most = 0;
  std::string least_when, most_when;  // "TF32 at the efficiency of today"
};

// Calls that a pattern is about, and how their time sums up.
class MatchedCalls {
 public:
  void add(const AssessedCall& call, bool with_wait = true);
  bool empty() const { return calls_.empty(); }
  size_t size() const { return calls_.size(); }
  const std::vector<const AssessedCall*>& calls() const { return calls_; }
  double seconds() const { return seconds_; }
  double counted() const { return counted_; }  // the part that the trace's length depends on
  double waited() const { return waited_; }    // idle time before them, for their launches
  // Of one second of this work, how much the trace's length depends on.
  double counted_share() const { return seconds_ > 0 ? counted_ / seconds_ : 0; }

 private:
  std::vector<const AssessedCall*> calls_;
  double seconds_ = 0, counted_ = 0, waited_ = 0;
};

struct PatternText {
  FindingKind kind;
  std::string subject, title, issue;
  Confidence confidence = Confidence::kMedium;
};

// A finding about these calls: time, evidence (the ops with the most of it), events, advice, rank.
Finding pattern_finding(const PatternInput& in, PatternText text, const MatchedCalls& calls,
                        const Saving& saving, const Traits& traits = {});

// Work that the saving shortens although it is not what the finding is about, or calls of the host
// that go with it.
void cover_beside(Finding& finding, EventId event);

// Where to change it, if that is not where its calls are: the place of this event comes first.
void put_first(const PatternInput& in, Finding& finding, EventId event);

// "80 calls (20 a step)"; in all only where there are not several steps.
std::string per_step(const PatternInput& in, size_t count, std::string_view one,
                     std::string_view several);

// Worth a finding at all: at least half a percent of the trace's length.
bool is_noticeable(const PatternInput& in, double seconds);

}  // namespace fathom::patterns
