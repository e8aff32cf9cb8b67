// Findings about collectives: how many there are, how fast they are, what overlap could hide.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/advice.h"
#include "analyze/analyses.h"
#include "analyze/communication.h"
#include "analyze/finding_parts.h"
#include "analyze/priority.h"
#include "base/count_text.h"
#include "events/intervals.h"
#include "sheets/collectives.h"

namespace fathom {
namespace {

// Below, latency counts and not bandwidth.
constexpr double kLongMessage = 1 << 20;
// More GPUs than any machine has on one fabric that data/platforms/links.tsv speaks of.
constexpr int64_t kLargestNode = 8;

template <typename T>
std::optional<T> middle_value(std::vector<T> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

size_t steps_in_scope(const SheetInput& input) {
  const Steps steps(input.store, input.scope.step_pattern);
  const size_t all = steps.all().size();
  if (!input.scope.steps) return all;
  return std::min(input.scope.steps->end, all) - std::min(input.scope.steps->begin, all);
}

}  // namespace

const Link* link_of(const Platform* platform, std::optional<int64_t> group_size) {
  if (platform == nullptr || platform->links.empty()) return nullptr;
  if (!group_size || *group_size < 2 || *group_size > kLargestNode) return nullptr;
  return &platform->links.front();
}

CommunicationFacts measure_communication(const Assessment& a) {
  const SheetInput& input = a.input();
  CommunicationFacts facts;
  facts.steps = steps_in_scope(input);
  std::vector<Nanos> times;
  std::vector<double> messages;
  double rated_bytes = 0;
  for (const EventId e : timeline_events(input)) {
    if (!input.selection.is_communication(e)) continue;
    const Nanos time = input.store.duration(e);
    ++facts.count;
    facts.time += time;
    times.push_back(time);
    const Collective* collective = input.store.collective(e);
    if (collective == nullptr) continue;
    if (collective->group_size)
      facts.group_size = std::max(facts.group_size.value_or(0), *collective->group_size);
    const CollectiveMessage message = message_of(input.store, *collective);
    if (!message.bytes) continue;
    messages.push_back(*message.bytes);
    if (!message.bus_bytes) continue;
    facts.bus_bytes += *message.bus_bytes;
    if (*message.bytes < kLongMessage || time.count <= 0) continue;
    rated_bytes += *message.bus_bytes;
    facts.rated_time += time;
  }
  facts.all_bytes = facts.count > 0 && messages.size() == facts.count;
  facts.median_time = middle_value(std::move(times)).value_or(Nanos{});
  facts.median_bytes = middle_value(std::move(messages));
  if (facts.rated_time.count > 0) facts.bus_rate = rated_bytes / seconds_of(facts.rated_time);
  const GpuTimeline& t = a.timeline();
  facts.exposed = t.exposed_communication;
  const Nanos hidden = t.communication - t.exposed_communication;
  facts.hideable = std::min(facts.exposed, std::max(Nanos{}, t.computation - hidden));
  return facts;
}

}  // namespace fathom

namespace fathom::analyses {
namespace {

constexpr double kExposedNoticeable = 0.05;  // of the trace's length
// Buckets: PyTorch's are 25 MB. Hundreds of messages under a megabyte cost latency, a handful of
// very large ones cannot start before the last gradients are there.
constexpr double kManyPerStep = 50, kFewPerStep = 8;
constexpr double kSmallMessage = 1 << 20, kHugeMessage = 100 << 20;
constexpr Nanos kShortCollective{50'000};
constexpr double kSlowLink = 0.5;

std::string message_text(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1 << 20) return fmt::format("{:.1f} KB", bytes / 1024);
  return fmt::format("{:.1f} MB", bytes / (1 << 20));
}

// A program that trains, by what autograd and optimizers leave in a trace.
bool exchanges_gradients(const EventStore& store) {
  for (size_t i = 0; i < store.text_count(); ++i) {
    const std::string_view text = store.text(StringId(i));
    if (text.starts_with("autograd::engine") || text.starts_with("Optimizer.step") ||
        text.ends_with("Backward0"))
      return true;
  }
  return false;
}

enum class Buckets : uint8_t { kUsual, kSmall, kHuge };

Buckets buckets_of(const CommunicationFacts& facts) {
  const bool small = facts.median_bytes ? *facts.median_bytes < kSmallMessage
                                        : facts.median_time < kShortCollective;
  if (small && facts.per_step() >= kManyPerStep) return Buckets::kSmall;
  const bool huge = facts.median_bytes && *facts.median_bytes >= kHugeMessage;
  if (huge && facts.steps > 0 && facts.per_step() <= kFewPerStep) return Buckets::kHuge;
  return Buckets::kUsual;
}

std::string collectives_text(const CommunicationFacts& facts) {
  std::string text =
      facts.steps > 0
          ? fmt::format("{:.0f} {} a step", facts.per_step(),
                        noun(facts.per_step() < 1.5 ? 1 : 2, "collective", "collectives"))
          : counted(facts.count, "collective");
  if (facts.median_bytes) text += fmt::format(", median {}", message_text(*facts.median_bytes));
  return text;
}

void add_rate_notes(const Assessment& a, const CommunicationFacts& facts, Finding& f,
                    Traits& traits) {
  const Link* link = link_of(a.platform(), facts.group_size);
  if (facts.bus_rate && link != nullptr) {
    const double share = *facts.bus_rate / link->bytes_per_second;
    f.notes.push_back({fmt::format("Bus bandwidth of messages over 1 MB: {:.1f} GB/s, {} of the {} "
                                   "GB/s of {} in one direction, if the group is in one machine.",
                                   *facts.bus_rate / 1e9, percent_text(share),
                                   fmt::format("{:.0f}", link->bytes_per_second / 1e9), link->name),
                       {},
                       {}});
    if (share < kSlowLink) traits.add("slow_collectives");
  } else if (facts.bus_rate) {
    f.notes.push_back(
        {fmt::format("Bus bandwidth of messages over 1 MB: {:.1f} GB/s; the bandwidth of the link "
                     "is not known.",
                     *facts.bus_rate / 1e9),
         {},
         {}});
  }
  if (facts.group_size.value_or(2) > 1) {
    f.notes.push_back(
        {"Durations include waiting for other ranks. Analyze the traces of all ranks "
         "together to separate transfer from waiting.",
         {},
         {}});
  }
}

}  // namespace

std::vector<Finding> exposed_communication(const Assessment& a) {
  const GpuTimeline& t = a.timeline();
  if (t.total.count <= 0 || ratio(t.exposed_communication, a.length()) < kExposedNoticeable)
    return {};
  const CommunicationFacts facts = measure_communication(a);
  const Buckets buckets = buckets_of(facts);
  Finding f;
  f.kind = FindingKind::kExposedCommunication;
  f.category = "communication";
  f.subject = "collectives";
  f.time = t.exposed_communication;
  f.title = buckets == Buckets::kSmall
                ? fmt::format("Exposed communication: {} small collectives{}",
                              facts.steps > 0 ? fmt::format("{:.0f}", facts.per_step())
                                              : with_thousands(static_cast<int64_t>(facts.count)),
                              facts.steps > 0 ? " a step" : "")
            : buckets == Buckets::kHuge ? "Exposed communication: few very large collectives"
                                        : "Exposed communication";
  f.issue = fmt::format("{} of {} does not overlap with computation: {}.",
                        micros_text(t.exposed_communication), micros_text(t.communication),
                        collectives_text(facts));
  Traits traits;
  // Those of layers that are split over GPUs cannot be put together: each layer waits for its own.
  const bool mergeable = !a.input().tree.has_ops() || exchanges_gradients(a.input().store);
  if (buckets == Buckets::kSmall)
    traits.add(mergeable ? "small_collectives" : "inline_collectives");
  if (buckets == Buckets::kHuge) traits.add("large_collectives");
  f.share = ratio(f.time, a.length());
  // The bytes have to go over the link whatever is changed.
  const Link* link = link_of(a.platform(), facts.group_size);
  const Nanos transfer = link != nullptr && facts.all_bytes
                             ? nanos_from(facts.bus_bytes / link->bytes_per_second)
                             : Nanos{};
  const auto project = [&](std::string_view target, Nanos saving) {
    f.projections.push_back({std::string(target), f.time - saving, ratio(saving, a.length())});
    f.saving_at_most = std::max(f.saving_at_most, saving);
  };
  if (buckets == Buckets::kSmall) {
    project("the same bytes in few calls (upper bound)",
            std::max(Nanos{}, facts.exposed - transfer));
  } else {
    project("hidden behind all computation that does not overlap communication yet (upper bound)",
            facts.hideable);
  }
  if (buckets != Buckets::kSmall && facts.hideable < facts.exposed - facts.hideable) {
    traits.add("communication_bound");
    f.notes.push_back(
        {fmt::format("Overlap can hide at most {}: the rest of the computation already "
                     "overlaps communication.",
                     micros_text(facts.hideable)),
         {},
         {}});
    project("no waiting for other ranks, and the link at its bandwidth (upper bound)",
            facts.exposed - std::max(Nanos{}, std::min(facts.exposed, transfer - facts.hideable)));
  }
  add_rate_notes(a, facts, f, traits);
  advise(a, f, traits);
  f.confidence = Confidence::kHigh;
  rate_part_of_whole(f);
  for (const EventId e : a.input().selection.linked()) {
    if (!a.input().selection.is_communication(e)) continue;
    f.covered.push_back({e, a.input().store.duration(e)});
  }
  return {f};
}

namespace {

constexpr double kFewToMerge = 16;
constexpr double kBucket = 25 << 20;  // PyTorch's default

// The outermost op around a call.
EventId outermost_op(const SheetInput& input, EventId event) {
  CallId call = input.tree.call(event);
  if (!call.valid()) return event;
  for (CallId above = input.tree.parent(call); above.valid(); above = input.tree.parent(above)) {
    const EventId e = input.tree.event(above);
    // Autograd's own event is around all of a gradient.
    if (input.store.kind(e) != EventKind::kCpuOp || !input.store.name(e).starts_with("c10d::"))
      break;
    call = above;
  }
  return input.tree.event(call);
}

}  // namespace

std::vector<Finding> small_collectives(const Assessment& a) {
  const SheetInput& input = a.input();
  const EventStore& store = input.store;
  const size_t steps = std::max<size_t>(1, steps_in_scope(input));
  if (a.length().count <= 0 || !exchanges_gradients(store)) return {};
  std::vector<double> messages;
  std::vector<Interval> host;
  Finding f;
  for (const Collective& c : store.collectives()) {
    const bool in_scope = store.start(c.event) <= a.timeline().end &&
                          store.end(c.event) >= a.timeline().begin - a.length();
    if (store.kind(c.event) != EventKind::kCpuOp || !in_scope) continue;
    const CollectiveMessage message = message_of(store, c);
    if (!message.bytes) continue;
    const EventId op = outermost_op(input, c.event);
    messages.push_back(*message.bytes);
    host.push_back({store.start(op), store.end(op)});
    f.covered.push_back({op, store.duration(op)});
  }
  const double per_step = static_cast<double>(messages.size()) / static_cast<double>(steps);
  double total = 0;
  for (const double bytes : messages) total += bytes;
  const double needed = std::max(1.0, std::ceil(total / static_cast<double>(steps) / kBucket));
  const auto median = middle_value(messages);
  if (per_step < kFewToMerge || !median || *median >= kSmallMessage || needed * 4 > per_step)
    return {};
  std::vector<Interval> busy;
  for (const EventId e : timeline_events(input)) {
    if (!input.selection.is_communication(e)) busy.push_back({store.start(e), store.end(e)});
  }
  // While the host makes these calls, or the GPU runs them, nothing else does.
  const Nanos cost = total_length(
      subtract_intervals(merge_intervals(std::move(host)), merge_intervals(std::move(busy))));
  if (ratio(cost, a.length()) < kExposedNoticeable) return {};
  f.kind = FindingKind::kSmallCollectives;
  f.category = "communication";
  f.subject = "collectives";
  f.time = cost;
  f.title =
      fmt::format("{:.0f} small collectives a step, median {}", per_step, message_text(*median));
  f.issue = fmt::format(
      "The GPU computes nothing for {} while the host issues them; their {} a step fit into {}.",
      micros_text(cost), message_text(total / static_cast<double>(steps)),
      counted(static_cast<uint64_t>(needed), "bucket"));
  f.share = ratio(cost, a.length());
  f.saving_at_most = nanos_from(seconds_of(cost) * (1 - needed / per_step));
  f.projections = {{"the same bytes in few calls (upper bound)", cost - f.saving_at_most,
                    ratio(f.saving_at_most, a.length())}};
  advise(a, f, {});
  f.confidence = Confidence::kMedium;
  rate_part_of_whole(f);
  return {f};
}

}  // namespace fathom::analyses
