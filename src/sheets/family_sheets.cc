// One sheet for each family of ops, with the numbers its costs were computed from.
#include <algorithm>
#include <map>

#include "base/json_unescape.h"
#include "base/tsv.h"
#include "cost/op_catalog.h"
#include "sheets/cost_columns.h"
#include "sheets/kernel_details.h"
#include "sheets/python_literal.h"
#include "sheets/sheets.h"

extern const std::string_view families_tsv;

namespace fathom {
namespace {

struct Family {
  std::string_view name;
  bool has_directions;
  std::vector<std::string_view> params;
};

const std::vector<Family>& families() {
  static const std::vector<Family> all = [] {
    std::vector<Family> list;
    for (const auto& row : read_tsv(families_tsv, 3)) {
      list.push_back({row[0], row[1] == "yes", split(row[2], ',')});
    }
    return list;
  }();
  return all;
}

// Calls whose costs were computed from the same numbers, whatever else they were called with.
struct FamilyRow {
  const OpGroup* first;
  std::vector<const UnifiedOp*> calls;
  std::vector<Nanos> times;
  TimeStatistics gpu;
};

const OpFacts* facts_of(const EventStore& store, const OpGroup& group) {
  const EventId forward = group.first().forward;
  return OpCatalog::built_in().find(forward.valid() ? store.name(forward) : group.key.name);
}

bool is_gradient(const OpGroup& group) {
  return group.first().forward.valid() || group.key.category.ends_with("_bwd");
}

std::vector<FamilyRow> rows_of(const EventStore& store, std::span<const OpGroup* const> groups) {
  std::vector<FamilyRow> rows;
  std::map<std::pair<std::string_view, std::string>, size_t> index;
  for (const OpGroup* group : groups) {
    const auto [found, is_new] =
        index.try_emplace({group->key.name, params_json(*group->cost)}, rows.size());
    if (is_new) rows.push_back({group, {}, {}, {}});
    FamilyRow& row = rows[found->second];
    const auto begin = [&store](const OpGroup& g) {
      return std::tuple(store.start(g.first().event), g.first().uid);
    };
    if (begin(*group) < begin(*row.first)) row.first = group;
    row.calls.insert(row.calls.end(), group->calls.begin(), group->calls.end());
    row.times.insert(row.times.end(), group->gpu_times.begin(), group->gpu_times.end());
  }
  for (FamilyRow& row : rows) row.gpu = summarize(row.times);
  std::ranges::sort(rows, [](const FamilyRow& a, const FamilyRow& b) {
    return std::tuple(b.gpu.sum, a.first->first().uid) <
           std::tuple(a.gpu.sum, b.first->first().uid);
  });
  return rows;
}

std::optional<std::string> param_cell(const Cost& cost, std::string_view name) {
  const auto found = std::ranges::find(cost.params, name, &CostParam::name);
  if (found == cost.params.end() || found->json == "null") return {};
  const std::string_view json = found->json;
  if (json.starts_with('"')) return json_unescaped(json.substr(1, json.size() - 2));
  return python_literal(json);
}

Table family_sheet(const SheetInput& input, const Family& family, std::string sheet,
                   std::span<const OpGroup* const> groups) {
  Table table(std::move(sheet));
  Column& name = table.text_column("name");
  std::vector<Column*> params;
  for (std::string_view param : family.params) {
    params.push_back(&table.text_column("param: " + std::string(param)));
  }
  CostColumns costs(table, "_first");
  RateColumns bandwidth(table, "TB/s"), throughput(table, "TFLOPS/s");
  for (RateColumns* rates : {&bandwidth, &throughput}) {
    rates->declare({"_mean", "_median", "_std", "_min", "_max"});
  }
  OpKeyColumns keys(table, OpKeyColumns::Part::kThread, "_first");
  Column& spec = table.text_column("Compute Spec");
  Column& details = table.text_column("kernel_details__summarize_kernel_stats");
  Column& truncated = table.text_column("trunc_kernel_details");
  OpKeyColumns args(table, OpKeyColumns::Part::kArgs, "_first");
  Column& mean = table.real_column("Kernel Time (µs)_mean", Unit::kMicros);
  Column& median = table.real_column("Kernel Time (µs)_median", Unit::kMicros);
  Column& deviation = table.real_column("Kernel Time (µs)_std", Unit::kMicros);
  Column& min = table.time_column("Kernel Time (µs)_min", Unit::kMicros);
  Column& max = table.time_column("Kernel Time (µs)_max", Unit::kMicros);
  Column& sum = table.time_column("Kernel Time (µs)_sum", Unit::kMicros);
  Column& count = table.count_column("name_count");
  Column& uid = table.count_column("UID_first");
  for (const FamilyRow& row : rows_of(input.store, groups)) {
    const Cost& cost = *row.first->cost;
    name.add(row.first->key.name);
    for (size_t i = 0; i < params.size(); ++i) params[i]->add(param_cell(cost, family.params[i]));
    costs.add(cost);
    bandwidth.add(tera_rates(cost.bytes, row.times));
    throughput.add(tera_rates(cost.flops, row.times));
    keys.add(input.store, row.first->key);
    spec.add(cost.spec);
    const std::vector<KernelDetail> kernels = summarize_kernels(input.store, kernels_of(row.calls));
    details.add(kernel_details_json(kernels));
    truncated.add(truncated_kernel_details_json(kernels));
    args.add(input.store, row.first->key);
    mean.add(nanos_to_micros(row.gpu.mean));
    median.add(nanos_to_micros(row.gpu.median));
    row.gpu.sample_deviation ? deviation.add(nanos_to_micros(*row.gpu.sample_deviation))
                             : deviation.add_unknown();
    min.add(row.gpu.min);
    max.add(row.gpu.max);
    sum.add(row.gpu.sum);
    count.add(static_cast<int64_t>(row.calls.size()));
    uid.add(row.first->first().uid);
  }
  return table;
}

}  // namespace

std::vector<Table> family_sheets(const SheetInput& input, const MeasuredOps& ops) {
  std::vector<Table> sheets;
  for (const Family& family : families()) {
    std::vector<const OpGroup*> forward, backward;
    for (const OpGroup& group : ops.groups()) {
      const OpFacts* facts = facts_of(input.store, group);
      if (facts == nullptr || facts->sheet != family.name || !group.cost) continue;
      (family.has_directions && is_gradient(group) ? backward : forward).push_back(&group);
    }
    const std::string name(family.name);
    if (!forward.empty()) {
      sheets.push_back(
          family_sheet(input, family, family.has_directions ? name + "_fwd" : name, forward));
    }
    if (!backward.empty()) sheets.push_back(family_sheet(input, family, name + "_bwd", backward));
  }
  return sheets;
}

}  // namespace fathom
