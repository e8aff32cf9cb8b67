#include <algorithm>
#include <unordered_map>

#include "events/statistics.h"
#include "sheets/kernel_details.h"
#include "sheets/op_columns.h"
#include "sheets/sheets.h"

namespace fathom {
namespace {

struct ArgsGroup {
  OpKey key;
  EventId first;
  std::vector<Nanos> direct, subtree;
  std::vector<std::span<const EventId>> kernels;
  TimeStatistics direct_stats;
};

std::vector<ArgsGroup> group_launchers(const SheetInput& input,
                                       const std::vector<Launcher>& launchers) {
  std::vector<ArgsGroup> groups;
  std::unordered_map<OpKey, size_t, OpKeyHash> index;
  for (const Launcher& l : launchers) {
    const EventId op = input.tree.event(l.call);
    const OpKey key = op_key(input.store, op, launcher_name(input, l), l.category);
    const auto [found, is_new] = index.try_emplace(key, groups.size());
    if (is_new) groups.push_back({found->first, op, {}, {}, {}, {}});
    ArgsGroup& group = groups[found->second];
    group.direct.push_back(l.direct);
    group.subtree.push_back(l.subtree);
    group.kernels.emplace_back(l.kernels);
  }
  for (ArgsGroup& g : groups) g.direct_stats = summarize(g.direct);
  std::ranges::sort(groups, [](const ArgsGroup& a, const ArgsGroup& b) {
    return std::tie(b.direct_stats.sum, a.first) < std::tie(a.direct_stats.sum, b.first);
  });
  return groups;
}

// total_direct_kernel_time_mean, total_subtree_kernel_time_mean, …_median and so on, in pairs.
struct StatisticColumns {
  explicit StatisticColumns(Table& table) {
    for (std::string suffix : {"_mean", "_median", "_std"}) {
      for (int i : {0, 1})
        derived[i].push_back(&table.real_column(prefix(i) + suffix, Unit::kMicros));
    }
    for (std::string suffix : {"_min", "_max", "_sum"}) {
      for (int i : {0, 1})
        exact[i].push_back(&table.time_column(prefix(i) + suffix, Unit::kMicros));
    }
  }
  static std::string prefix(int i) {
    return i == 0 ? "total_direct_kernel_time" : "total_subtree_kernel_time";
  }
  void add(int i, const TimeStatistics& s) {
    derived[i][0]->add(nanos_to_micros(s.mean));
    derived[i][1]->add(nanos_to_micros(s.median));
    s.sample_deviation ? derived[i][2]->add(nanos_to_micros(*s.sample_deviation))
                       : derived[i][2]->add_unknown();
    exact[i][0]->add(s.min);
    exact[i][1]->add(s.max);
    exact[i][2]->add(s.sum);
  }
  std::vector<Column*> derived[2], exact[2];
};

}  // namespace

Table ops_unique_args_sheet(const SheetInput& input, const std::vector<Launcher>& launchers) {
  const std::vector<ArgsGroup> groups = group_launchers(input, launchers);
  Nanos whole;
  for (const ArgsGroup& g : groups) whole += g.direct_stats.sum;

  Table table("ops_unique_args");
  OpKeyColumns keys(table);
  Column& count = table.count_column("operation_count");
  StatisticColumns times(table);
  Column& example = table.count_column("ex_UID");
  Column& details = table.text_column("kernel_details_summary");
  Column& truncated = table.text_column("trunc_kernel_details");
  PercentColumns percent(table, whole);
  for (const ArgsGroup& g : groups) {
    keys.add(input.store, g.key);
    count.add(static_cast<int64_t>(g.direct.size()));
    times.add(0, g.direct_stats);
    times.add(1, summarize(g.subtree));
    example.add(input.store.uid(g.first));
    const std::vector<KernelDetail> kernels = summarize_kernels(input.store, g.kernels);
    details.add(kernel_details_json(kernels));
    truncated.add(truncated_kernel_details_json(kernels));
    percent.add(g.direct_stats.sum);
  }
  return table;
}

}  // namespace fathom
