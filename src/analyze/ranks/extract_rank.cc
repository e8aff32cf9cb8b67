#include <algorithm>
#include <unordered_map>

#include "analyze/place.h"
#include "analyze/ranks/rank_timeline.h"
#include "base/ascii.h"
#include "tree/steps.h"

namespace fathom {
namespace {

// Of one rank; more would only make the memory of many ranks grow.
constexpr size_t kMostCollectives = 100'000;
constexpr size_t kMostMembers = 65'536;
constexpr size_t kOpsKept = 6, kIdleKept = 6;
constexpr size_t kMostText = 200;

// "[0, 1, 2]"; nothing where the list is cut ("...") or no list.
std::vector<int64_t> read_members(std::string_view text) {
  std::vector<int64_t> members;
  if (text.find("..") != std::string_view::npos) return members;
  for (size_t i = 0; i < text.size() && members.size() < kMostMembers;) {
    if (!is_digit(text[i])) {
      ++i;
      continue;
    }
    int64_t number = 0;
    for (size_t digits = 0; i < text.size() && is_digit(text[i]); ++i) {
      if (++digits < 12) number = number * 10 + (text[i] - '0');
    }
    members.push_back(number);
  }
  return members;
}

// The wall time. Without GPU work that of the host: its steps, or all that was recorded.
TimeBase base_of(const SheetInput& input, const std::vector<DeviceWork>& devices) {
  if (!devices.empty()) return find_time_base(input, devices);
  TimeBase base;
  Nanos end{INT64_MIN};
  const Steps steps(input.store, input.scope.step_pattern);
  for (const Step& step : steps.all()) {
    const Nanos begin = std::max(step.begin, end);
    end = std::max(begin, step.end);
    base.steps.push_back({step.annotation, begin, end, begin});
  }
  base.kind = base.steps.empty() ? TimeBaseKind::kRecording : TimeBaseKind::kSteps;
  if (!base.steps.empty() || input.store.size() == 0) return base;
  Nanos begin{INT64_MAX};
  for (uint32_t i = 0; i < input.store.size(); ++i) {
    begin = std::min(begin, input.store.start(EventId{i}));
    end = std::max(end, input.store.end(EventId{i}));
  }
  base.steps.push_back({EventId{}, begin, end, begin});
  return base;
}

class Extraction {
 public:
  Extraction(const SheetInput& input, std::string trace)
      : input_(input),
        store_(input.store),
        devices_(work_by_device(input)),
        base_(base_of(input, devices_)),
        timeline_(input, base_, devices_, main_device()),
        steps_(input.store, input.scope.step_pattern),
        places_(input) {
    facts_.trace = std::move(trace);
  }

  RankFacts take() {
    describe_trace();
    find_collectives();
    link_groups();
    add_steps();
    measure_parts();
    add_work_before();
    facts_.strip = timeline_.strip(facts_.end);
    move_to_base();
    return std::move(facts_);
  }

 private:
  void describe_trace() {
    const TraceMetadata& metadata = store_.metadata();
    facts_.rank = metadata.rank;
    facts_.world_size = metadata.world_size;
    facts_.backend = metadata.distributed_backend;
    facts_.base_time = metadata.base_time;
    facts_.has_gpu_work = !devices_.empty();
    facts_.events = static_cast<int64_t>(store_.size());
    facts_.truncated = store_.diagnostics().count(Flaw::kTruncated) > 0 ||
                       store_.diagnostics().count(Flaw::kSizeLimit) > 0;
    facts_.begin = base_.begin();
    facts_.end = base_.end();
    facts_.has_steps = base_.kind == TimeBaseKind::kSteps;
    if (!metadata.gpus.empty()) {
      facts_.gpu = metadata.gpus.front().name;
      const int64_t device = devices_.empty() ? -1 : devices_[main_device()].device.value_or(-1);
      for (const GpuProperties& gpu : metadata.gpus) {
        if (gpu.id == device) facts_.gpu = gpu.name;
      }
    }
  }

  size_t main_device() const {
    const auto most =
        std::ranges::max_element(devices_, {}, [](const DeviceWork& d) { return d.work.size(); });
    return static_cast<size_t>(most - devices_.begin());
  }

  TextNumber text_of(std::string_view text) {
    text = text.substr(0, kMostText);
    if (text.empty()) return kNoNumber;
    const auto [known, is_new] =
        text_numbers_.try_emplace(std::string(text), static_cast<TextNumber>(facts_.texts.size()));
    if (is_new) facts_.texts.emplace_back(text);
    return known->second;
  }
  TextNumber text_of(StringId id) {
    if (!id.valid()) return kNoNumber;
    const auto [known, is_new] = numbers_of_ids_.try_emplace(id, kNoNumber);
    if (is_new) known->second = text_of(store_.text(id));
    return known->second;
  }

  uint32_t group_of(const Collective& c, bool on_host) {
    const uint64_t key = (static_cast<uint64_t>(c.group_name.index) << 32) | c.group_ranks.index;
    auto& known = on_host ? host_groups_ : gpu_groups_;
    const auto [place, is_new] =
        known.try_emplace(key, static_cast<uint32_t>(facts_.groups.size()));
    if (is_new) {
      RankGroup group;
      group.name = store_.text(c.group_name).substr(0, kMostText);
      group.description = store_.text(c.group_description).substr(0, kMostText);
      group.ranks = store_.text(c.group_ranks);
      group.members = read_members(group.ranks);
      group.size = c.group_size;
      group.on_host = on_host;
      facts_.groups.push_back(std::move(group));
    }
    return place->second;
  }

  void find_collectives() {
    std::vector<std::pair<EventId, Collective>> found;
    for (const Collective& c : store_.collectives()) {
      const EventKind kind = store_.kind(c.event);
      if (kind == EventKind::kAnnotation) found.emplace_back(c.event, c);
    }
    if (!devices_.empty()) {
      for (const EventId e : devices_[main_device()].work) {
        const Collective* facts = store_.collective(e);
        if (facts == nullptr && !input_.selection.is_communication(e)) continue;
        found.emplace_back(e, facts != nullptr ? *facts : Collective{});
      }
    }
    std::ranges::stable_sort(found, {}, [this](const auto& f) { return store_.start(f.first); });
    if (found.size() > kMostCollectives) {
      facts_.truncated = true;
      found.resize(kMostCollectives);
    }
    for (const auto& [event, c] : found) add_collective(event, c);
  }

  void add_collective(EventId event, const Collective& c) {
    const bool on_host = !is_gpu_work(store_.kind(event));
    RankCollective out;
    out.group = group_of(c, on_host);
    out.kind = collective_kind(store_.text(c.name));
    if (out.kind == CollectiveKind::kOther) out.kind = collective_kind(store_.name(event));
    out.name = text_of(c.name.valid() ? c.name : store_.name_id(event));
    out.dtype = text_of(c.dtype);
    out.sequence = c.sequence;
    const std::optional<size_t> step =
        on_host ? steps_.at(store_.start(event)) : step_of(steps_, store_, input_.tree, event);
    if (step) {
      const std::string_view name = store_.name(steps_.all()[*step].annotation);
      out.step = number_at_end(name).value_or(static_cast<int64_t>(*step));
    }
    out.start = store_.start(event);
    out.end = store_.end(event);
    const CollectiveMessage message = message_of(store_, c);
    out.bytes = message.bytes;
    out.bus_bytes = message.bus_bytes;
    out.in_elements = c.in_elements;
    out.out_elements = c.out_elements;
    if (out.kind == CollectiveKind::kSendReceive && c.to_rank && !c.from_rank)
      out.kind = CollectiveKind::kSend;
    if (out.kind == CollectiveKind::kSendReceive && c.from_rank && !c.to_rank)
      out.kind = CollectiveKind::kReceive;
    if (out.kind == CollectiveKind::kSend) out.peer = c.to_rank;
    if (out.kind == CollectiveKind::kReceive) out.peer = c.from_rank;
    // c10d counts peers within the group.
    const std::vector<int64_t>& members = facts_.groups[out.group].members;
    if (out.peer && *out.peer >= 0 && *out.peer < static_cast<int64_t>(members.size()))
      out.peer = members[static_cast<size_t>(*out.peer)];
    facts_.collectives.push_back(out);
  }

  // Collectives of a group may overlap: the one before is the last that has ended.
  void link_groups() {
    std::vector<std::vector<uint32_t>> of_group(facts_.groups.size());
    for (uint32_t i = 0; i < facts_.collectives.size(); ++i)
      of_group[facts_.collectives[i].group].push_back(i);
    for (const std::vector<uint32_t>& by_start : of_group) {
      const auto end_of = [this](uint32_t i) { return facts_.collectives[i].end; };
      std::vector<uint32_t> by_end = by_start;
      std::ranges::stable_sort(by_end, {}, end_of);
      size_t ended = 0;
      for (const uint32_t i : by_start) {
        RankCollective& c = facts_.collectives[i];
        while (ended < by_end.size() && end_of(by_end[ended]) <= c.start) ++ended;
        // One of no length ends where it begins.
        if (ended > 0 && by_end[ended - 1] != i) c.previous = by_end[ended - 1];
      }
    }
  }

  void add_steps() {
    for (const BaseStep& step : base_.steps) {
      RankStep out;
      if (step.annotation.valid()) {
        out.name = store_.name(step.annotation).substr(0, kMostText);
        out.number = number_at_end(out.name);
      }
      out.begin = step.begin;
      out.end = step.end;
      facts_.steps.push_back(std::move(out));
    }
  }

  void measure_parts() {
    std::vector<RankTimeline::Point> points;
    std::vector<RankParts> step_begins(facts_.steps.size());
    for (RankCollective& c : facts_.collectives) {
      points.push_back({c.start, &c.until_start});
      points.push_back({c.end, &c.until_end});
    }
    for (size_t i = 0; i < facts_.steps.size(); ++i) {
      points.push_back({facts_.steps[i].begin, &step_begins[i]});
      points.push_back({facts_.steps[i].end, &facts_.steps[i].parts});
    }
    points.push_back({facts_.end, &facts_.parts});
    timeline_.measure(std::move(points));
    std::vector<Interval> communicating = timeline_.communicating();
    for (Interval& when : communicating)
      when = {std::clamp(when.begin, facts_.begin, facts_.end),
              std::clamp(when.end, facts_.begin, facts_.end)};
    facts_.communication = total_length(communicating);
    facts_.hidden = facts_.communication - facts_.parts[part_index(RankPart::kCommunication)];
    for (size_t i = 0; i < facts_.steps.size(); ++i)
      facts_.steps[i].parts = parts_between(step_begins[i], facts_.steps[i].parts);
  }

  TextNumber op_name(EventId kernel) {
    const CallId op = input_.tree.enclosing_op(input_.tree.launch(kernel));
    return text_of(op.valid() ? store_.name_id(input_.tree.event(op)) : store_.name_id(kernel));
  }

  // The stretches before the collectives of one group are disjoint, those of several groups are
  // not: the budget keeps many groups from making this quadratic.
  void add_work_before() {
    budget_ = 16 * (timeline_.computation().size() + timeline_.segments().size()) + 4096;
    for (RankCollective& c : facts_.collectives) {
      const Nanos from =
          c.previous == kNoNumber ? facts_.begin : facts_.collectives[c.previous].end;
      if (from >= c.start) continue;
      add_ops(c, from);
      add_idle(c, from);
    }
  }

  void add_ops(RankCollective& c, Nanos from) {
    const std::vector<EventId>& computation = timeline_.computation();
    auto next = std::ranges::lower_bound(computation, from, {},
                                         [this](EventId e) { return store_.start(e); });
    std::unordered_map<TextNumber, RankWork> by_name;
    for (; next != computation.end() && store_.start(*next) < c.start && budget_ > 0; ++next) {
      --budget_;
      RankWork& work = by_name[op_name(*next)];
      work.time += store_.duration(*next);
      ++work.count;
    }
    std::vector<RankWork> ops;
    for (auto& [name, work] : by_name) {
      work.name = name;
      ops.push_back(work);
    }
    std::ranges::sort(ops, [](const RankWork& x, const RankWork& y) {
      return x.time != y.time ? x.time > y.time : x.name < y.name;
    });
    ops.resize(std::min(ops.size(), kOpsKept));
    c.first_op = static_cast<uint32_t>(facts_.work.size());
    c.ops = static_cast<uint32_t>(ops.size());
    facts_.work.insert(facts_.work.end(), ops.begin(), ops.end());
  }

  void add_idle(RankCollective& c, Nanos from) {
    using Segment = RankTimeline::Segment;
    const std::vector<Segment>& segments = timeline_.segments();
    auto next =
        std::ranges::lower_bound(segments, from, {}, [](const Segment& s) { return s.when.end; });
    struct Blame {
      RankWork work;
      EventId event;
    };
    std::unordered_map<uint64_t, Blame> blames;
    for (; next != segments.end() && next->when.begin < c.start && budget_ > 0; ++next) {
      --budget_;
      if (next->part < part_index(RankPart::kFirstIdle)) continue;
      const StringId name = next->blamed.valid() ? store_.name_id(next->blamed) : StringId{};
      const uint64_t key = (static_cast<uint64_t>(next->part) << 32) | name.index;
      Blame& blame = blames[key];
      blame.work.time += std::min(next->when.end, c.start) - std::max(next->when.begin, from);
      ++blame.work.count;
      blame.work.cause = static_cast<IdleCause>(next->part - part_index(RankPart::kFirstIdle));
      if (!blame.event.valid()) blame.event = next->blamed;
    }
    std::vector<Blame> largest;
    for (const auto& [key, blame] : blames) largest.push_back(blame);
    std::ranges::sort(largest, [](const Blame& x, const Blame& y) {
      return x.work.time != y.work.time ? x.work.time > y.work.time : x.event < y.event;
    });
    largest.resize(std::min(largest.size(), kIdleKept));
    c.first_idle = static_cast<uint32_t>(facts_.work.size());
    c.idles = static_cast<uint32_t>(largest.size());
    for (Blame& blame : largest) {
      if (blame.event.valid()) {
        blame.work.name = text_of(store_.name_id(blame.event));
        blame.work.place = place_of(blame.event);
      }
      facts_.work.push_back(blame.work);
    }
  }

  TextNumber place_of(EventId event) {
    const auto [place, is_new] = places_of_.try_emplace(event, kNoNumber);
    if (is_new) {
      const PlaceIds ids = places_.of(event);
      if (ids.frame.valid() || ids.module.valid())
        place->second = text_of(short_place_text(places_.describe(ids)));
    }
    return place->second;
  }

  // Times of several traces count from different points.
  void move_to_base() {
    const Nanos base = facts_.base_time.value_or(Nanos{});
    facts_.begin += base;
    facts_.end += base;
    for (RankCollective& c : facts_.collectives) {
      c.start += base;
      c.end += base;
    }
    for (RankStep& step : facts_.steps) {
      step.begin += base;
      step.end += base;
    }
  }

  const SheetInput& input_;
  const EventStore& store_;
  std::vector<DeviceWork> devices_;
  TimeBase base_;
  RankTimeline timeline_;
  Steps steps_;
  PlaceFinder places_;
  RankFacts facts_;
  std::unordered_map<std::string, TextNumber> text_numbers_;
  std::unordered_map<StringId, TextNumber> numbers_of_ids_;
  std::unordered_map<uint64_t, uint32_t> gpu_groups_, host_groups_;
  std::unordered_map<EventId, TextNumber> places_of_;
  size_t budget_ = 0;
};

}  // namespace

RankFacts extract_rank(const SheetInput& input, std::string trace) {
  return Extraction(input, std::move(trace)).take();
}

}  // namespace fathom
