#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/text_source.h"
#include "events/counter_set.h"
#include "test_files.h"

namespace fathom::test {

// A metric's value in the n-th row, by its name or "Section/Name".
inline std::optional<double> value_of(const CounterSet& set, size_t row, std::string_view name) {
  for (const MetricValue& value : set.values(CounterRowId(row))) {
    if (set.metric_name(value.metric) == name || set.metric_path(value.metric) == name)
      return value.value;
  }
  return {};
}

inline std::string_view unit_of(const CounterSet& set, size_t row, std::string_view name) {
  for (const MetricValue& value : set.values(CounterRowId(row))) {
    if (set.metric_name(value.metric) == name) return set.text(set.metric(value.metric).unit);
  }
  return "absent";
}

// A real file beside the checkout; empty: it is not there.
inline std::string shared_file(std::string_view name) {
  const auto path = source_dir() / ".." / "shared" / "data" / name;
  return std::filesystem::exists(path) ? path.string() : std::string();
}

}  // namespace fathom::test
