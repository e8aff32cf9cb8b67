#include <map>

#include "sheets/op_columns.h"
#include "sheets/sheets.h"

namespace fathom {

// What the trace itself measured: counters over time, and the hardware counters of profiled ranges.
std::vector<Table> counter_sheets(const SheetInput& input) {
  struct Values {
    EventId first;
    int64_t count = 0;
    double sum = 0, min = 0, max = 0;
  };
  const EventStore& store = input.store;
  std::map<std::pair<StringId, StringId>, Values> groups;  // by event's and counter's name
  for (const CounterValue& v : store.counters()) {
    const auto [found, is_new] = groups.try_emplace({store.name_id(v.event), v.name},
                                                    Values{v.event, 0, 0, v.value, v.value});
    Values& values = found->second;
    ++values.count;
    values.sum += v.value;
    values.min = std::min(values.min, v.value);
    values.max = std::max(values.max, v.value);
  }
  if (groups.empty()) return {};
  Table table("counter_values");
  Column& kind = table.text_column("kind");
  Column& name = table.text_column("name");
  Column& counter = table.text_column("counter");
  Column& count = table.count_column("values");
  Column& mean = table.real_column("mean", Unit::kNone);
  Column& min = table.real_column("min", Unit::kNone);
  Column& max = table.real_column("max", Unit::kNone);
  RepeatBudget repeats;
  for (const auto& [key, values] : groups) {
    kind.add(store.kind(values.first) == EventKind::kProfilerRange ? "profiler range" : "counter");
    name.add(text_cell(store, key.first, repeats));
    counter.add(text_cell(store, key.second, repeats));
    count.add(values.count);
    mean.add(values.sum / static_cast<double>(values.count));
    min.add(values.min);
    max.add(values.max);
  }
  std::vector<Table> sheets;
  sheets.push_back(std::move(table));
  return sheets;
}

}  // namespace fathom
