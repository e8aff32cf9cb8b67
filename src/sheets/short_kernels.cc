#include <algorithm>
#include <unordered_map>

#include "base/hash.h"
#include "sheets/op_columns.h"
#include "sheets/sheets.h"

namespace fathom {
namespace {

constexpr Nanos kShort{10'000};
constexpr size_t kBins = 100;

std::vector<EventId> short_kernels(const SheetInput& input) {
  std::vector<EventId> kernels;
  for (EventId event : all_selected(input)) {
    if (input.store.kind(event) == EventKind::kKernel && input.store.duration(event) < kShort) {
      kernels.push_back(event);
    }
  }
  return kernels;
}

// Equal bins from the shortest to the longest, each closed below and open above, the last closed.
struct Histogram {
  std::vector<double> edges;
  std::vector<int64_t> counts;
};

Histogram make_histogram(const std::vector<double>& values) {
  Histogram h;
  if (values.empty()) return h;
  auto [low, high] = std::ranges::minmax(values);
  if (low == high) {  // a bin must have a width
    low -= 0.5;
    high += 0.5;
  }
  const double width = (high - low) / static_cast<double>(kBins);
  for (size_t i = 0; i < kBins; ++i) h.edges.push_back(low + static_cast<double>(i) * width);
  h.edges.push_back(high);
  h.counts.resize(kBins);
  for (double value : values) {
    // By the edges as they are printed: a value on an edge must be in the bin that begins there.
    const auto above = std::upper_bound(h.edges.begin(), h.edges.end() - 1, value);
    ++h.counts[static_cast<size_t>(above - h.edges.begin()) - 1];
  }
  return h;
}

struct ShortKey {
  StringId op, dims, strides, concrete, kernel;

  bool operator==(const ShortKey&) const = default;
};

struct ShortKeyHash {
  size_t operator()(const ShortKey& key) const {
    return TableHash{}(key.op.index, key.dims.index, key.strides.index, key.concrete.index,
                       key.kernel.index);
  }
};

struct ShortGroup {
  ShortKey key;
  EventId first;
  int64_t count = 0;
  Nanos sum;
};

ShortKey short_key(const SheetInput& input, EventId kernel) {
  const auto& [store, tree, scope, selection, kernels] = input;
  ShortKey key;
  key.kernel = store.name_id(kernel);
  const CallId op = tree.enclosing_op(tree.launch(kernel));
  if (!op.valid()) return key;
  key.op = store.name_id(tree.event(op));
  if (const ArgsId id = store.args_id(tree.event(op)); id.valid()) {
    const Args& args = store.args(id);
    key.dims = args.dims;
    key.strides = args.strides;
    key.concrete = args.concrete;
  }
  return key;
}

std::vector<ShortGroup> group_short_kernels(const SheetInput& input) {
  std::vector<ShortGroup> groups;
  std::unordered_map<ShortKey, size_t, ShortKeyHash> index;
  for (EventId kernel : short_kernels(input)) {
    const ShortKey key = short_key(input, kernel);
    const auto [found, is_new] = index.try_emplace(key, groups.size());
    if (is_new) groups.push_back({key, kernel, 0, {}});
    ShortGroup& group = groups[found->second];
    group.first = std::min(group.first, kernel);
    ++group.count;
    group.sum += input.store.duration(kernel);
  }
  std::ranges::sort(groups, [](const ShortGroup& a, const ShortGroup& b) {
    return std::tie(b.sum, a.first) < std::tie(a.sum, b.first);
  });
  return groups;
}

}  // namespace

Table short_kernel_histogram_sheet(const SheetInput& input) {
  std::vector<double> micros;
  for (EventId kernel : short_kernels(input))
    micros.push_back(input.store.duration(kernel).micros());
  const Histogram histogram = make_histogram(micros);
  Table table("short_kernel_histogram");
  Column& begin = table.real_column("bin_start", Unit::kMicros);
  Column& end = table.real_column("bin_end", Unit::kMicros);
  Column& count = table.count_column("count");
  for (size_t i = 0; i < histogram.counts.size(); ++i) {
    begin.add(histogram.edges[i]);
    end.add(histogram.edges[i + 1]);
    count.add(histogram.counts[i]);
  }
  return table;
}

Table short_kernels_summary_sheet(const SheetInput& input) {
  const auto& store = input.store;
  const Nanos total = time_span(store, timeline_events(input));
  Table table("short_kernels_summary");
  Column& op = table.text_column("Parent cpu_op");
  Column& dims = table.text_column("Input dims");
  Column& strides = table.text_column("Input strides");
  Column& concrete = table.text_column("Concrete Inputs");
  Column& kernel = table.text_column("Kernel name");
  Column& sum = table.time_column("Short Kernel duration (µs) sum", Unit::kMicros);
  Column& count = table.count_column("Short Kernel count");
  Column& mean = table.real_column("Short Kernel duration (µs) mean", Unit::kMicros);
  Column& percent =
      table.real_column("Short Kernel duration (µs) percent of total time", Unit::kPercent);
  RepeatBudget repeats;
  for (const ShortGroup& g : group_short_kernels(input)) {
    g.key.op.valid() ? op.add(text_cell(store, g.key.op, repeats)) : op.add_unknown();
    dims.add(args_cell(store, g.key.dims, repeats));
    strides.add(args_cell(store, g.key.strides, repeats));
    concrete.add(args_cell(store, g.key.concrete, repeats));
    kernel.add(store.text(g.key.kernel));
    sum.add(g.sum);
    count.add(g.count);
    mean.add(g.sum.micros() / static_cast<double>(g.count));
    percent.add(ratio(g.sum, total) * 100);
  }
  return table;
}

}  // namespace fathom
