#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/hash.h"
#include "cost/op_catalog.h"
#include "events/statistics.h"
#include "sheets/op_columns.h"
#include "sheets/sheets.h"

namespace fathom {
namespace {

struct KernelRow {
  std::string_view category;  // empty for a kernel without a launch
  StringId op, kernel;        // the op's invalid likewise
  std::optional<int64_t> stream;

  bool operator==(const KernelRow&) const = default;
};

struct KernelRowHash {
  size_t operator()(const KernelRow& key) const {
    const TableHash hash;
    return hash(hash(key.category), key.op.index, key.kernel.index, key.stream.has_value(),
                key.stream.value_or(0));
  }
};

struct Group {
  KernelRow key;
  EventId first;
  std::vector<Nanos> durations;
  TimeStatistics stats;
};

// The op's category where one is around the launch; else what kind of call launched the kernel.
class KernelParents {
 public:
  KernelParents(const SheetInput& input, const std::vector<Launcher>& launchers)
      : input_(input),
        launchers_(input.tree, launchers),
        categories_(input.store.text_count()),
        graph_launches_(input.store.text_count()) {}

  KernelRow key(EventId kernel) {
    const auto& [store, tree, scope, selection, kernels] = input_;
    KernelRow key{{}, {}, store.name_id(kernel), store.gpu_work(kernel).stream};
    const CallId launch = tree.launch(kernel);
    if (!launch.valid() || tree.event(launch) == kernel) return key;
    if (const CallId op = tree.enclosing_op(launch); op.valid()) {
      key.op = store.name_id(tree.event(op));
      const Launcher* launcher = launchers_.find(op);
      key.category = launcher != nullptr ? launcher->category : category_of(key.op);
    } else {
      key.op = store.name_id(tree.event(launch));
      key.category = is_graph_launch(key.op) ? "graph" : "runtime";
    }
    return key;
  }

 private:
  // Each name is looked at once, however many kernels are below ops of that name.
  std::string_view category_of(StringId op) {
    std::optional<std::string_view>& known = categories_[op.index];
    if (!known) known = OpCatalog::built_in().category(input_.store.text(op), "");
    return *known;
  }
  bool is_graph_launch(StringId call) {
    std::optional<bool>& known = graph_launches_[call.index];
    if (!known) known = input_.store.text(call).find("GraphLaunch") != std::string_view::npos;
    return *known;
  }

  const SheetInput& input_;
  LauncherIndex launchers_;
  std::vector<std::optional<std::string_view>> categories_;  // by name
  std::vector<std::optional<bool>> graph_launches_;          // by name
};

std::vector<Group> group_kernels(const SheetInput& input, const std::vector<Launcher>& launchers) {
  KernelParents parents(input, launchers);
  std::vector<Group> groups;
  std::unordered_map<KernelRow, size_t, KernelRowHash> index;
  for (EventId event : all_selected(input)) {
    if (input.store.kind(event) != EventKind::kKernel) continue;
    const KernelRow key = parents.key(event);
    const auto [found, is_new] = index.try_emplace(key, groups.size());
    if (is_new) groups.push_back({key, event, {}, {}});
    Group& group = groups[found->second];
    group.first = std::min(group.first, event);
    group.durations.push_back(input.store.duration(event));
  }
  for (Group& g : groups) g.stats = summarize(std::move(g.durations));
  std::ranges::sort(groups, [](const Group& a, const Group& b) {
    return std::tie(b.stats.sum, a.first) < std::tie(a.stats.sum, b.first);
  });
  return groups;
}

// Where a repository's code defines the kernels; unknown where it does not.
void add_code_columns(Table& table, const std::vector<Group>& groups,
                      const KernelMeasures& kernels) {
  Column& source = table.text_column("Source");
  Column& facts = table.text_column("Code facts");
  for (const Group& g : groups) {
    const KernelCode& code = kernels.code(g.first);
    code.quality() != JoinQuality::kNone ? source.add(code.source) : source.add_unknown();
    code.quality() == JoinQuality::kByKey ? facts.add(code.facts) : facts.add_unknown();
  }
}

void add_label(Column& column, std::string_view label) {
  label.empty() ? column.add_unknown() : column.add(label);
}

std::set<std::optional<int32_t>> devices_of(const SheetInput& input) {
  std::set<std::optional<int32_t>> devices;
  for (const EventId e : all_selected(input)) devices.insert(input.store.gpu_work(e).device);
  return devices;
}

}  // namespace

Table kernel_summary_sheet(const SheetInput& input, const std::vector<Launcher>& launchers) {
  const std::vector<Group> groups = group_kernels(input, launchers);
  Nanos kernels_time;
  for (const Group& g : groups) kernels_time += g.stats.sum;
  // Over everything shown, unlinked work too: over the linked part alone the shares could pass 100
  // %. Each GPU has all of that time: two that work half of it are at half.
  const Nanos span = time_span(input.store, all_selected(input));
  const auto devices = static_cast<double>(std::max<size_t>(1, devices_of(input).size()));

  Table table("kernel_summary");
  Column& category = table.text_column("Parent op category");
  Column& op = table.text_column("Parent cpu_op");
  Column& kernel = table.text_column("Kernel name");
  Column& stream = table.count_column("Kernel stream");
  Column& sum = table.time_column("Kernel duration (µs)_sum", Unit::kMicros);
  Column& count = table.count_column("Kernel duration (µs)_count");
  Column& mean = table.real_column("Kernel duration (µs)_mean", Unit::kMicros);
  Column& min = table.time_column("Kernel duration (µs)_min", Unit::kMicros);
  Column& max = table.time_column("Kernel duration (µs)_max", Unit::kMicros);
  Column& of_kernels = table.real_column("Percent of kernels time (%)", Unit::kPercent);
  Column& of_total = table.real_column("Percent of total time (%)", Unit::kPercent);
  RepeatBudget repeats;
  for (const Group& g : groups) {
    add_label(category, g.key.category);
    add_label(op, text_cell(input.store, g.key.op, repeats));
    kernel.add(input.store.text(g.key.kernel));
    stream.add(g.key.stream);
    sum.add(g.stats.sum);
    count.add(static_cast<int64_t>(g.stats.count));
    mean.add(nanos_to_micros(g.stats.mean));
    min.add(g.stats.min);
    max.add(g.stats.max);
    of_kernels.add(ratio(g.stats.sum, kernels_time) * 100);
    of_total.add(ratio(g.stats.sum, span) / devices * 100);
  }
  if (input.kernels.has_code()) add_code_columns(table, groups, input.kernels);
  return table;
}

}  // namespace fathom
