#include "analyze/hot_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "analyze/advice.h"
#include "analyze/call_loops.h"
#include "analyze/coverage.h"
#include "analyze/finding_parts.h"
#include "analyze/place.h"
#include "analyze/priority.h"
#include "base/count_text.h"

namespace fathom {
namespace {

constexpr double kGpuIsLimit = 0.5;  // busy, of the wall time
constexpr double kMuchOfWall = 0.25, kExplained = 0.5;

// All calls of one function of the program, their gradients included.
struct Line {
  StringId name, caller;
  Nanos time;
  double limit = 0, known = 0;  // seconds: at the limit, and of calls whose limit is known
  std::vector<const AssessedCall*> calls;
};

std::optional<Line> hottest_line(const Assessment& a) {
  const EventStore& store = a.input().store;
  const auto name = [&store](EventId e) { return e.valid() ? store.name_id(e) : StringId{}; };
  std::map<std::pair<StringId, StringId>, Line> lines;
  for (const AssessedCall& call : a.calls()) {
    const EventId work = call.op->kernels.empty() ? call.op->event : call.op->kernels.front();
    const PlaceIds ids = a.places().of(work);
    if (!ids.frame.valid()) continue;
    Line& line = lines[{name(ids.frame), name(ids.caller)}];
    line.name = name(ids.frame);
    line.time += call.time;
    line.calls.push_back(&call);
    if (!call.assessed->bound) continue;
    line.known += seconds_of(call.time);
    const double usual = call.assessed->usual_seconds.value_or(0);
    line.limit += std::min(seconds_of(call.time), std::max({call.assessed->bound->seconds(), usual,
                                                            seconds_of(a.shortest_kernel())}));
  }
  const auto most =
      std::ranges::max_element(lines, {}, [](const auto& l) { return l.second.time; });
  return most != lines.end() ? std::optional(std::move(most->second)) : std::nullopt;
}

// By the first two findings that a reader sees.
bool is_explained(const std::vector<Finding>& findings, const Line& line) {
  std::unordered_set<EventId> covered;
  size_t seen = 0;
  for (const Finding& f : findings) {
    if (f.priority > Priority::kMedium || !f.under.empty()) continue;
    if (++seen > 2) break;
    for (const CoveredEvent& event : f.covered) covered.insert(event.event);
  }
  Nanos time;
  for (const AssessedCall* call : line.calls) {
    const bool known = std::ranges::any_of(
        call->op->kernels, [&covered](EventId kernel) { return covered.contains(kernel); });
    if (known) time += call->time;
  }
  return ratio(time, line.time) >= kExplained;
}

std::string_view what_is_missing(const Assessment& a, const AssessedOp& op) {
  switch (not_assessed_reason(a, op)) {
    case NotAssessed::kPlatform:
      return "its rate needs the GPU's limits (--platform)";
    case NotAssessed::kGraphs:
      return "its ops need a trace of the graph's capture (--capture TRACE)";
    case NotAssessed::kNoOps:
      return "its ops are not recorded";
    case NotAssessed::kNoShapes:
      return "its sizes are not recorded (record_shapes=True)";
    default:
      return "there is no cost model for it: compare its time with the bytes that it reads and "
             "writes, or count them in its kernel";
  }
}

// An op's kernels go by its name; those of a graph by their own.
std::string_view told_name(std::string_view name) {
  const size_t arrow = name.find("->");
  if (arrow == std::string_view::npos) return name;
  constexpr size_t kLongest = 60;
  const bool is_graph = name.substr(0, arrow).find("GraphLaunch") != std::string_view::npos;
  return is_graph ? name.substr(arrow + 2, kLongest) : name.substr(0, arrow);
}

// Of the ops without a limit the one with the most time, what is known of it, and what is missing.
void tell_unknown(const Assessment& a, const Line& line, Finding& f) {
  std::map<std::string_view, std::pair<Nanos, const AssessedCall*>> by_name;
  for (const AssessedCall* call : line.calls) {
    if (call->assessed->bound) continue;
    auto& [time, one] = by_name[told_name(call->assessed->group->key.name)];
    time += call->time;
    if (one == nullptr) one = call;
  }
  const auto most =
      std::ranges::max_element(by_name, {}, [](const auto& o) { return o.second.first; });
  if (most == by_name.end()) return;
  const auto& [time, call] = most->second;
  const std::string share = percent_text(ratio(time, a.length()));
  f.title += fmt::format(", {} in an op that is not assessed", share);
  const std::string shapes = shapes_text(a.input(), call->op->event);
  f.notes.push_back({"", std::string(most->first),
                     fmt::format(" takes {} of the wall time{}{}; {}.", share,
                                 shapes.empty() ? "" : " with operands of ", shapes,
                                 what_is_missing(a, *call->assessed))});
}

}  // namespace

std::optional<Finding> find_hot_line(const Assessment& a, const std::vector<Finding>& findings) {
  constexpr size_t kOpsTold = 3;
  if (!a.places().has_frames() || a.cpu() != nullptr || a.length().count <= 0) return {};
  if (ratio(a.base().mean_device().busy, a.length()) < kGpuIsLimit) return {};
  const std::optional<Line> line = hottest_line(a);
  if (!line || ratio(line->time, a.length()) < kMuchOfWall || is_explained(findings, *line))
    return {};
  const double unknown = std::max(0.0, seconds_of(line->time) - line->known);
  const bool is_unknown = unknown >= kMuchOfWall * seconds_of(a.length());
  Finding f;
  f.kind = FindingKind::kHotLine;
  f.time = line->time;
  f.share = std::min(1.0, ratio(f.time, a.length()));  // streams overlap
  for (const AssessedCall* call : line->calls) cover(a, f, *call->op);
  find_places(a.places(), f);
  if (f.places.empty()) return {};
  f.subject = short_place_text(f.places.front());
  const std::vector<const AssessedOp*> ops = ops_by_time(line->calls);
  f.category = ops.front()->category;
  f.title =
      fmt::format("{} takes {} of the wall time on the GPU", f.subject, percent_text(f.share));
  std::vector<std::string> told;
  for (size_t i = 0; i < std::min(kOpsTold, ops.size()); ++i) {
    const auto of_line = std::ranges::count(line->calls, ops[i], &AssessedCall::assessed);
    told.push_back(fmt::format("{} × {}", ops[i]->group->key.name, of_line));
    f.evidence.push_back(evidence_of(a, *ops[i]));
  }
  f.issue = fmt::format("{} in {}, most of it {}", micros_text(f.time),
                        counted(line->calls.size(), "call"), fmt::join(told, ", "));
  const double seconds = seconds_of(f.time);
  if (line->known > 0) {
    f.issue +=
        fmt::format("; {} of achievable where that is known ({} of the time)",
                    percent_text(line->limit / line->known), percent_text(line->known / seconds));
  }
  f.issue += ". No pattern explains it.";
  if (is_unknown) tell_unknown(a, *line, f);
  if (const auto loop = find_call_loop(a, f.covered)) {
    PlaceFinder& finder = a.places();
    const std::string caller = short_place_text(finder.describe(finder.of(loop->caller)));
    const std::string inner = short_place_text(finder.describe(finder.of(loop->function)));
    f.notes.push_back({"", caller,
                       fmt::format(" calls {} {} times a step: compute once what does not change "
                                   "between the calls, and batch calls that do not depend on each "
                                   "other.",
                                   inner, loop->calls)});
    Place place = finder.describe(finder.of(loop->caller));
    place.op.clear();
    place.time = loop->time;
    place.share = ratio(loop->time, f.time);
    f.places.insert(f.places.begin() + 1, std::move(place));
  }
  // Of the rest nothing is known, so nothing is promised for it.
  f.saving_at_most = nanos_from(std::max(0.0, line->known - line->limit));
  f.projections = {{"its ops with a cost model at what is achievable (upper bound)",
                    f.time - f.saving_at_most, ratio(f.saving_at_most, a.length())}};
  advise(a, f, {});
  f.confidence = Confidence::kLow;
  constexpr double kWorthReading = 0.06;  // of the wall time
  const bool is_worth_it = ratio(f.saving_at_most, a.length()) >= kWorthReading;
  f.priority = is_worth_it ? Priority::kMedium : Priority::kLow;
  f.priority_reason = "most of the GPU's time, and no pattern explains it";
  cap_priority(a, f);
  // Nothing can be promised for work that nothing is known of: that is what has to be told.
  if (is_unknown && f.priority > Priority::kMedium) {
    f.priority = Priority::kMedium;
    f.priority_reason = "most of the GPU's time, and not assessed";
  }
  f.call_stack = call_stack_of(a.input(), line->calls.front()->op->event);
  return f;
}

}  // namespace fathom
