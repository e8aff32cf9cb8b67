#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/hash.h"
#include "sheets/op_columns.h"
#include "sheets/python_literal.h"
#include "sheets/sheets.h"

namespace fathom {
namespace {

struct NameGroup {
  std::string_view label;
  EventId first;
  size_t count = 0;
  Nanos direct, subtree;
  std::set<std::string> categories;
};

// Launchers come in the order of time, so a group's first event is its earliest.
template <typename LabelOf>
std::vector<NameGroup> group_launchers(const SheetInput& input,
                                       const std::vector<Launcher>& launchers, LabelOf label_of) {
  std::vector<NameGroup> groups;
  std::unordered_map<std::string_view, size_t, TableHash> index;
  for (const Launcher& l : launchers) {
    const std::string_view label = label_of(l);
    const auto [found, is_new] = index.try_emplace(label, groups.size());
    if (is_new) groups.push_back({label, input.tree.event(l.call), 0, {}, {}, {}});
    NameGroup& group = groups[found->second];
    ++group.count;
    group.direct += l.direct;
    group.subtree += l.subtree;
    group.categories.insert(std::string(l.category));
  }
  std::ranges::sort(groups, [](const NameGroup& a, const NameGroup& b) {
    return std::tie(b.direct, a.first) < std::tie(a.direct, b.first);
  });
  return groups;
}

Nanos total_direct(const std::vector<NameGroup>& groups) {
  Nanos total;
  for (const NameGroup& g : groups) total += g.direct;
  return total;
}

}  // namespace

Table ops_summary_by_category_sheet(const SheetInput& input,
                                    const std::vector<Launcher>& launchers) {
  const auto groups =
      group_launchers(input, launchers, [](const Launcher& l) { return l.category; });
  Table table("ops_summary_by_category");
  Column& category = table.text_column("op category");
  Column& count = table.count_column("Count");
  Column& direct = table.time_column("total_direct_kernel_time_ms", Unit::kMillis);
  PercentColumns percent(table, total_direct(groups));
  for (const NameGroup& g : groups) {
    category.add(g.label);
    count.add(static_cast<int64_t>(g.count));
    direct.add(g.direct);
    percent.add(g.direct);
  }
  return table;
}

Table ops_summary_sheet(const SheetInput& input, const std::vector<Launcher>& launchers) {
  const auto groups = group_launchers(
      input, launchers, [&input](const Launcher& l) { return launcher_name(input, l); });
  Table table("ops_summary");
  Column& name = table.text_column("name");
  Column& direct_us = table.time_column("total_direct_kernel_time_sum", Unit::kMicros);
  Column& subtree_us = table.time_column("total_subtree_kernel_time_sum", Unit::kMicros);
  Column& direct_ms = table.time_column("total_direct_kernel_time_ms", Unit::kMillis);
  Column& subtree_ms = table.time_column("total_subtree_kernel_time_ms", Unit::kMillis);
  Column& count = table.count_column("Count");
  Column& categories = table.text_column("Categories");
  PercentColumns percent(table, total_direct(groups));
  for (const NameGroup& g : groups) {
    name.add(g.label);
    direct_us.add(g.direct);
    subtree_us.add(g.subtree);
    direct_ms.add(g.direct);
    subtree_ms.add(g.subtree);
    count.add(static_cast<int64_t>(g.count));
    categories.add(python_list({g.categories.begin(), g.categories.end()}));
    percent.add(g.direct);
  }
  return table;
}

}  // namespace fathom
