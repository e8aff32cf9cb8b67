// Copies between host and GPU: from pageable memory, and never beside computation.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyze/advice.h"
#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "analyze/priority.h"
#include "base/count_text.h"
#include "events/intervals.h"

namespace fathom::patterns {
namespace {

struct HostCopy {
  EventId event;
  double bytes = 0;
  Nanos exposed;                                          // while no kernel runs on its GPU
  bool pageable = false, to_gpu = false, beside = false;  // beside: on a stream without kernels
};

bool has_word(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// When kernels run on a GPU.
class KernelTimes {
 public:
  explicit KernelTimes(const PatternInput& in) {
    std::map<int32_t, std::vector<Interval>> by_device;
    for (EventId e : in.assessment().input().selection.linked()) {
      if (in.store().kind(e) != EventKind::kKernel) continue;
      const GpuWork& work = in.store().gpu_work(e);
      by_device[work.device.value_or(0)].push_back({in.store().start(e), in.store().end(e)});
      streams_.insert({work.device.value_or(0), work.stream.value_or(0)});
    }
    for (auto& [device, spans] : by_device) {
      Busy& busy = busy_[device];
      busy.spans = merge_intervals(std::move(spans));
      for (const Interval& span : busy.spans) {
        busy.before.push_back(busy.sum);
        busy.sum += span.end - span.begin;
      }
    }
  }
  Nanos between(int32_t device, Nanos begin, Nanos end) const {
    const auto busy = busy_.find(device);
    if (busy == busy_.end()) return {};
    return busy->second.until(end) - busy->second.until(begin);
  }
  bool has_kernels(int32_t device, int64_t stream) const {
    return streams_.contains({device, stream});
  }

 private:
  struct Busy {
    std::vector<Interval> spans;  // merged, in order
    std::vector<Nanos> before;    // length of all spans before each
    Nanos sum;

    Nanos until(Nanos time) const {
      const auto later = std::ranges::upper_bound(spans, time, {}, &Interval::begin);
      if (later == spans.begin()) return {};
      const auto at = static_cast<size_t>(later - spans.begin()) - 1;
      return before[at] + (std::min(spans[at].end, time) - spans[at].begin);
    }
  };
  std::map<int32_t, Busy> busy_;
  std::set<std::pair<int32_t, int64_t>> streams_;
};

std::vector<HostCopy> find_host_copies(const PatternInput& in) {
  const EventStore& store = in.store();
  const KernelTimes kernels(in);
  std::vector<HostCopy> copies;
  for (EventId e : in.assessment().input().selection.linked()) {
    if (store.kind(e) != EventKind::kMemcpy || in.assessment().is_setup(e)) continue;
    const std::string_view name = store.name(e);
    const bool to_gpu = has_word(name, "HtoD"), to_host = has_word(name, "DtoH");
    if (!to_gpu && !to_host) continue;
    const GpuWork& work = store.gpu_work(e);
    const int32_t device = work.device.value_or(0);
    HostCopy& copy = copies.emplace_back();
    copy.event = e;
    copy.bytes = static_cast<double>(std::max<int64_t>(0, work.bytes.value_or(0)));
    copy.exposed = store.duration(e) - kernels.between(device, store.start(e), store.end(e));
    copy.pageable = has_word(name, "Pageable");
    copy.to_gpu = to_gpu;
    copy.beside = !kernels.has_kernels(device, work.stream.value_or(0));
  }
  return copies;
}

struct CopySum {
  size_t count = 0, small = 0;
  double bytes = 0;
  Nanos time, exposed;
  std::vector<CoveredEvent> covered;
  std::map<double, size_t> sizes;

  void add(const EventStore& store, const HostCopy& copy) {
    constexpr double kSmall = 65536;
    ++count;
    small += copy.bytes < kSmall;
    bytes += copy.bytes;
    time += store.duration(copy.event);
    exposed += copy.exposed;
    covered.push_back({copy.event, store.duration(copy.event)});
    if (sizes.size() < 4096) ++sizes[copy.bytes];
  }
  double rate() const { return time.count > 0 ? bytes / seconds_of(time) : 0; }
  // How many copies have the size that occurs most.
  size_t most_alike() const {
    size_t most = 0;
    for (const auto& [size, times] : sizes) most = std::max(most, times);
    return most;
  }
};

Finding copy_finding(const PatternInput& in, FindingKind kind, std::string subject,
                     std::string title, std::string issue, CopySum& sum, Nanos least, Nanos most,
                     const Traits& traits) {
  const Assessment& a = in.assessment();
  Finding f;
  f.kind = kind;
  f.category = "memcpy";
  f.subject = std::move(subject);
  f.title = std::move(title);
  f.issue = std::move(issue);
  f.time = sum.time;
  f.share = ratio(most, a.length());
  f.saving_at_least = std::min(least, most);
  f.saving_at_most = most;
  f.projections = {
      {"none of the exposed time left (upper bound)", sum.time - most, ratio(most, a.length())}};
  f.confidence = Confidence::kHigh;
  f.covered = std::move(sum.covered);
  advise(a, f, traits);
  rate_part_of_whole(f);
  const CallId launch = a.input().tree.launch(f.covered.front().event);
  if (launch.valid()) f.call_stack = call_stack_of(a.input(), a.input().tree.event(launch));
  return f;
}

std::string rate_text(double bytes_per_second) {
  return fmt::format("{:.1f} GB/s", bytes_per_second / 1e9);
}

}  // namespace

namespace {

// Bytes a second of large copies from pinned memory: that of the link to the host, of which they
// reach most; none: unknown.
std::optional<double> pinned_rate(const PatternInput& in) {
  constexpr double kReached = 0.7;
  const Platform* platform = in.assessment().platform();
  if (platform == nullptr) return {};
  const auto link = std::ranges::find(platform->links, "pcie", &Link::name);
  if (link == platform->links.end() || link->bytes_per_second <= 0) return {};
  return kReached * link->bytes_per_second;
}

// Pageable copies: what pinned memory gives is known where the trace has large pinned copies, else
// by the link.
std::optional<Finding> pageable_finding(const PatternInput& in, CopySum& pageable,
                                        const CopySum& pinned) {
  constexpr double kLarge = 1 << 20;
  const bool known = pinned.count > 0 && pinned.bytes / static_cast<double>(pinned.count) > kLarge;
  const bool large =
      pageable.bytes / static_cast<double>(std::max<size_t>(1, pageable.count)) > kLarge;
  const std::optional<double> rate = known   ? std::optional(pinned.rate())
                                     : large ? pinned_rate(in)
                                             : std::nullopt;
  const Nanos at_pinned =
      rate ? nanos_from(std::min(seconds_of(pageable.time), pageable.bytes / *rate))
           : pageable.time;
  Traits traits;
  if (pageable.small * 2 > pageable.count) traits.add("small_copies");
  if (pageable.most_alike() >= 3) traits.add("same_bytes");
  const Nanos least{
      std::max<int64_t>(0, std::min(pageable.exposed, pageable.time - at_pinned).count)};
  const std::string reached =
      known ? fmt::format(" Pinned copies of this trace reach {}.", rate_text(pinned.rate())) : "";
  std::string issue =
      fmt::format("{} of {:.1f} MB in all run at {}, and no computation runs for {} of their {}.{}",
                  per_step(in, pageable.count, "copy", "copies"), pageable.bytes / 1e6,
                  rate_text(pageable.rate()), micros_text(pageable.exposed),
                  micros_text(pageable.time), reached);
  return copy_finding(in, FindingKind::kPageableCopies, "copies from or to pageable memory",
                      "Copies between GPU and pageable host memory block the host",
                      std::move(issue), pageable, least, pageable.exposed, traits);
}

// All copies that run while nothing else does, where no cause is known.
std::optional<Finding> exposed_finding(const PatternInput& in, Nanos told) {
  constexpr double kNoticed = 0.05;  // of the length
  const Assessment& a = in.assessment();
  const GpuTimeline& t = a.timeline();
  if (ratio(t.exposed_copies, a.length()) < kNoticed || ratio(told, t.exposed_copies) > 0.5) {
    return {};
  }
  CopySum all;
  std::map<StringId, Nanos> kinds;
  Nanos host, pageable;
  for (EventId e : a.input().selection.linked()) {
    if (in.store().kind(e) != EventKind::kMemcpy) continue;
    const std::string_view name = in.store().name(e);
    HostCopy copy;
    copy.event = e;
    all.add(in.store(), copy);
    kinds[in.store().name_id(e)] += in.store().duration(e);
    if (has_word(name, "HtoD") || has_word(name, "DtoH")) host += in.store().duration(e);
    if (has_word(name, "Pageable")) pageable += in.store().duration(e);
  }
  if (all.count == 0) return {};
  const bool of_host = ratio(host, t.copies) > 0.5;
  Traits traits;
  if (of_host) traits.add("host_copies");
  if (ratio(pageable, host) > 0.5) traits.add("pageable");
  Finding f = copy_finding(
      in, FindingKind::kExposedCopies, "copies",
      of_host ? "Exposed copies between host and GPU" : "Exposed copies inside the GPU's memory",
      fmt::format("{} of {} does not overlap with computation.", micros_text(t.exposed_copies),
                  micros_text(t.copies)),
      all, {}, t.exposed_copies, traits);
  f.time = t.exposed_copies;
  std::vector<std::pair<std::string_view, Nanos>> sorted;
  for (const auto& [name, time] : kinds) sorted.emplace_back(in.store().text(name), time);
  std::ranges::sort(sorted, [](const auto& x, const auto& y) {
    return std::tuple(y.second, x.first) < std::tuple(x.second, y.first);
  });
  for (size_t i = 0; i < std::min<size_t>(3, sorted.size()); ++i) {
    f.notes.push_back(
        {"Of which ", std::string(sorted[i].first), ": " + micros_text(sorted[i].second)});
  }
  return f;
}

}  // namespace

std::vector<Finding> host_copies(const PatternInput& in) {
  constexpr double kWorthIt = 0.01;  // of the length
  CopySum pageable, pinned, in_turns;
  if (in.tree().has_launches()) {
    for (const HostCopy& copy : find_host_copies(in)) {
      (copy.pageable ? pageable : pinned).add(in.store(), copy);
      if (copy.beside) in_turns.add(in.store(), copy);
    }
  }
  const Nanos length = in.assessment().length();
  std::vector<Finding> findings;
  Nanos told;
  if (ratio(pageable.exposed, length) >= kWorthIt) {
    told += pageable.exposed;
    if (auto f = pageable_finding(in, pageable, pinned)) findings.push_back(std::move(*f));
  }
  // On a stream of their own, but never while kernels run: something makes them wait. Copies of
  // pageable memory block the host, which is the cause then.
  const bool never_overlaps = ratio(in_turns.exposed, in_turns.time) > 0.9;
  if (in_turns.count >= 3 && never_overlaps && findings.empty() &&
      ratio(in_turns.exposed, length) >= kWorthIt) {
    const Nanos most = std::min(in_turns.exposed, in.assessment().timeline().computation);
    told += in_turns.exposed;
    std::string issue =
        fmt::format("{} take {} on streams without kernels, and kernels run beside {} of it.",
                    per_step(in, in_turns.count, "copy", "copies"), micros_text(in_turns.time),
                    micros_text(in_turns.time - in_turns.exposed));
    findings.push_back(
        copy_finding(in, FindingKind::kCopiesInTurns, "copies on a stream of their own",
                     "Copies and computation take turns although they use different streams",
                     std::move(issue), in_turns, {most.count / 2}, most, {}));
  }
  if (auto f = exposed_finding(in, told)) findings.push_back(std::move(*f));
  return findings;
}

}  // namespace fathom::patterns
