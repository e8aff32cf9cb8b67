#include "analyze/patterns/pattern_finding.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/advice.h"
#include "analyze/finding_parts.h"
#include "analyze/place.h"
#include "analyze/priority.h"
#include "base/count_text.h"

namespace fathom::patterns {

void MatchedCalls::add(const AssessedCall& call, bool with_wait) {
  calls_.push_back(&call);
  seconds_ += seconds_of(call.time);
  counted_ += seconds_of(call.time) * call.assessed->counted;
  if (with_wait) waited_ += seconds_of(call.waited);
}

Finding pattern_finding(const PatternInput& in, PatternText text, const MatchedCalls& calls,
                        const Saving& saving, const Traits& traits) {
  constexpr size_t kShown = 4;
  const Assessment& a = in.assessment();
  const std::vector<const AssessedOp*> ops = ops_by_time(calls.calls());
  Finding f;
  f.kind = text.kind;
  f.category = ops.front()->category;
  f.subject = std::move(text.subject);
  f.title = std::move(text.title);
  f.issue = std::move(text.issue);
  f.confidence = text.confidence;
  f.time = nanos_from(calls.seconds() + calls.waited());
  f.share = ratio(f.time, a.length());
  const double most = std::min(std::max(saving.most, saving.least), seconds_of(a.length()));
  f.saving_at_least = nanos_from(std::min(std::max(0.0, saving.least), most));
  f.saving_at_most = nanos_from(most);
  const auto project = [&](const std::string& when, Nanos saved) {
    if (when.empty()) return;
    f.projections.push_back({when, std::max(Nanos{}, f.time - saved), ratio(saved, a.length())});
  };
  project(saving.least_when, f.saving_at_least);
  project(saving.most_when, f.saving_at_most);
  advise(a, f, traits);
  rate_pattern(f, std::ranges::any_of(ops, &AssessedOp::is_top));
  for (size_t i = 0; i < std::min(kShown, ops.size()); ++i) {
    f.evidence.push_back(evidence_of(a, *ops[i]));
  }
  f.call_stack = call_stack_of(a.input(), calls.calls().front()->op->event);
  for (const AssessedCall* call : calls.calls()) cover(a, f, *call->op);
  return f;
}

void cover_beside(Finding& finding, EventId event) {
  if (event.valid()) finding.covered.push_back({event, {}});
}

void put_first(const PatternInput& in, Finding& finding, EventId event) {
  constexpr size_t kPlaces = 3;
  PlaceFinder& finder = in.assessment().places();
  const PlaceIds ids = event.valid() ? finder.of(event) : PlaceIds{};
  if (!ids.known()) return;
  find_places(finder, finding);
  Place place = finder.describe(ids);
  place.time = finding.time;
  place.share = 1;
  finding.places.insert(finding.places.begin(), std::move(place));
  if (finding.places.size() > kPlaces) finding.places.resize(kPlaces);
}

std::string per_step(const PatternInput& in, size_t count, std::string_view one,
                     std::string_view several) {
  if (in.steps() < 2) return counted(count, one, several);
  const size_t each = (count + in.steps() / 2) / in.steps();
  if (each == 0) return counted(count, one, several);
  return fmt::format("{} ({} a step)", counted(count, one, several), number_text(each));
}

bool is_noticeable(const PatternInput& in, double seconds) {
  constexpr double kNoticed = 0.005;
  return seconds > kNoticed * seconds_of(in.assessment().length());
}

}  // namespace fathom::patterns
