#include "sheets/collectives.h"

#include <algorithm>

#include "sheets/sheets.h"

namespace fathom {
namespace {

struct DtypeSize {
  std::string_view dtype;
  int64_t bytes;
};
// As c10d names them.
constexpr DtypeSize kDtypes[] = {
    {"Float", 4},
    {"Int", 4},
    {"Long", 8},
    {"BFloat16", 2},
    {"Half", 2},
    {"Double", 8},
    {"Bool", 1},
    {"Byte", 1},
    {"Char", 1},
    {"Short", 2},
    {"Float8_e4m3fn", 1},
    {"Float8_e5m2", 1},
    {"Float8_e4m3fnuz", 1},
    {"Float8_e5m2fnuz", 1},
};

std::optional<int64_t> element_bytes(std::string_view dtype) {
  for (const DtypeSize& row : kDtypes) {
    if (row.dtype == dtype) return row.bytes;
  }
  return {};
}

struct Row {
  EventId event;
  const Collective* facts;  // null: a kernel known as communication by its name alone
};

// Kernels; ops that asked for a collective that no kernel ran; and gloo's, which run on the CPU.
std::vector<Row> find_collectives(const SheetInput& input) {
  const auto& [store, tree, scope, selection, kernels] = input;
  std::vector<Row> rows;
  for (EventId event : all_selected(input)) {
    const Collective* facts = store.collective(event);
    if (facts != nullptr || selection.is_communication(event)) rows.push_back({event, facts});
  }
  const bool whole_trace = !scope.steps && !scope.device;
  // Collectives may be nested: how many of the linked work up to a place belong to one.
  std::vector<uint32_t> collectives_before = {0};
  for (EventId e : tree.linked()) {
    const bool is_one = store.collective(e) != nullptr || selection.is_communication(e);
    collectives_before.push_back(collectives_before.back() + is_one);
  }
  for (const Collective& c : store.collectives()) {
    const CallId call = tree.call(c.event);
    if (!whole_trace || is_gpu_work(store.kind(c.event))) continue;
    if (is_annotation(store.kind(c.event))) rows.push_back({c.event, &c});
    if (!call.valid()) continue;
    const std::span<const EventId> work = tree.launched_in_subtree(call);
    const auto begin = static_cast<size_t>(work.data() - tree.linked().data());
    const bool ran_on_gpu = collectives_before[begin + work.size()] > collectives_before[begin];
    if (!ran_on_gpu) rows.push_back({c.event, &c});
  }
  std::ranges::sort(rows, {}, &Row::event);
  return rows;
}

}  // namespace

CollectiveKind collective_kind(std::string_view collective) {
  struct Word {
    std::string_view word;
    CollectiveKind kind;
  };
  // The first that fits: the longer words hold the shorter ones.
  static constexpr Word kWords[] = {
      {"allreduce", CollectiveKind::kAllReduce}, {"crossdevicereduce", CollectiveKind::kAllReduce},
      {"allgather", CollectiveKind::kAllGather}, {"reducescatter", CollectiveKind::kReduceScatter},
      {"alltoall", CollectiveKind::kAllToAll},   {"broadcast", CollectiveKind::kBroadcast},
      {"barrier", CollectiveKind::kBarrier},     {"sendrecv", CollectiveKind::kSendReceive},
      {"send", CollectiveKind::kSend},           {"recv", CollectiveKind::kReceive},
      {"reduce", CollectiveKind::kReduce},       {"gather", CollectiveKind::kGather},
      {"scatter", CollectiveKind::kScatter},
  };
  std::string name;
  for (const char c : collective.substr(0, 200)) {
    if (c != '_') name += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c;
  }
  for (const Word& row : kWords) {
    if (name.find(row.word) != std::string::npos) return row.kind;
  }
  return CollectiveKind::kOther;
}

std::string_view collective_kind_name(CollectiveKind kind) {
  static constexpr std::string_view kNames[] = {
      "all_reduce", "all_gather",   "reduce_scatter", "all_to_all", "broadcast",
      "reduce",     "gather",       "scatter",        "barrier",    "send",
      "receive",    "send_receive", "other"};
  return kNames[static_cast<size_t>(kind)];
}

bool is_synchronizing(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllGather ||
         kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllToAll ||
         kind == CollectiveKind::kBarrier;
}

std::optional<double> bus_factor(std::string_view collective, std::optional<int64_t> ranks) {
  if (!ranks || *ranks < 1) return {};
  const auto n = static_cast<double>(*ranks);
  switch (collective_kind(collective)) {
    case CollectiveKind::kAllReduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
      return (n - 1) / n;
    default:
      return 1;
  }
}

CollectiveMessage message_of(const EventStore& store, const Collective& c) {
  const std::optional<int64_t> element = element_bytes(store.text(c.dtype));
  CollectiveMessage message;
  if (!element || !c.in_elements || !c.out_elements) return message;
  message.bytes = static_cast<double>(std::max(*c.in_elements, *c.out_elements)) *
                  static_cast<double>(*element);
  if (const auto factor = bus_factor(store.text(c.name), c.group_size))
    message.bus_bytes = *message.bytes * *factor;
  return message;
}

Table collectives_sheet(const SheetInput& input) {
  const EventStore& store = input.store;
  Table table("coll_analysis");
  Column& rank = table.count_column("rank");
  Column& group = table.text_column("Process Group Name");
  Column& description = table.text_column("Process Group Description");
  Column& ranks = table.text_column("Process Group Ranks");
  Column& name = table.text_column("Collective name");
  Column& group_size = table.count_column("Group size");
  Column& dtype = table.text_column("dtype");
  Column& in_elements = table.count_column("In msg nelems");
  Column& out_elements = table.count_column("Out msg nelems");
  Column& in_split = table.text_column("In split size");
  Column& out_split = table.text_column("Out split size");
  Column& stream = table.count_column("stream");
  Column& in_size = table.real_column("In msg size (MB)", Unit::kMegabytes);
  Column& out_size = table.real_column("Out msg size (MB)", Unit::kMegabytes);
  Column& duration = table.time_column("dur", Unit::kMicros);
  Column& algorithm_rate = table.real_column("algo bw (GB/s)", Unit::kGigabytesPerSecond);
  Column& bus_rate = table.real_column("bus bw (GB/s)", Unit::kGigabytesPerSecond);
  Column& timed_on = table.text_column("timed on");
  Column& event_name = table.text_column("event name");
  Column& uid = table.count_column("UID");

  const auto add_text = [&store](Column& column, StringId id) {
    id.valid() ? column.add(store.text(id)) : column.add_unknown();
  };
  for (const auto& [event, facts] : find_collectives(input)) {
    const Collective c = facts != nullptr ? *facts : Collective{};
    const bool on_gpu = is_gpu_work(store.kind(event));
    rank.add(c.rank ? c.rank : store.metadata().rank);
    add_text(group, c.group_name);
    add_text(description, c.group_description);
    add_text(ranks, c.group_ranks);
    add_text(name, c.name);
    group_size.add(c.group_size);
    add_text(dtype, c.dtype);
    in_elements.add(c.in_elements);
    out_elements.add(c.out_elements);
    add_text(in_split, c.in_split);
    add_text(out_split, c.out_split);
    stream.add(on_gpu ? store.gpu_work(event).stream : std::nullopt);

    const std::optional<int64_t> element = element_bytes(store.text(c.dtype));
    const auto bytes = [&](std::optional<int64_t> elements) -> std::optional<double> {
      if (!element || !elements) return {};
      return static_cast<double>(*elements) * static_cast<double>(*element);
    };
    const auto megabytes = [](std::optional<double> b) {
      return b ? std::optional(*b / (1 << 20)) : b;
    };
    const std::optional<double> in_bytes = bytes(c.in_elements), out_bytes = bytes(c.out_elements);
    in_size.add(megabytes(in_bytes));
    out_size.add(megabytes(out_bytes));
    const Nanos time = store.duration(event);
    duration.add(time);
    std::optional<double> rate;  // bytes per nanosecond are GB/s
    if (in_bytes && out_bytes && time > Nanos{}) {
      rate = std::max(*in_bytes, *out_bytes) / static_cast<double>(time.count);
    }
    algorithm_rate.add(rate);
    const std::optional<double> factor = bus_factor(store.text(c.name), c.group_size);
    bus_rate.add(rate && factor ? std::optional(*rate * *factor) : std::nullopt);
    timed_on.add(std::string_view(on_gpu ? "gpu" : "cpu"));
    event_name.add(store.name(event));
    uid.add(store.uid(event));
  }
  return table;
}

}  // namespace fathom
