#include "ingest/capture/activity_points.h"

#include <algorithm>
#include <cmath>

namespace fathom::capture {
namespace {

struct Label {
  std::string_view metric, text;
};
constexpr Label kBusy[] = {
    {"sm__cycles_active.", "SM active"},    {"sm__pipe_tensor_cycles_active", "tensor cores"},
    {"dram__throughput.", "DRAM"},          {"sm__inst_executed", "instructions issued"},
    {"sm__warps_active", "warps resident"},
};
constexpr Label kTraffic[] = {
    {"dram__bytes_read.", "DRAM read"},     {"dram__bytes_op_read.", "DRAM read"},
    {"dram__bytes_write.", "DRAM written"}, {"dram__bytes_op_write.", "DRAM written"},
    {"pcie__read_bytes.", "PCIe read"},     {"pcie__write_bytes.", "PCIe written"},
    {"nvlrx__bytes.", "NVLink received"},   {"nvltx__bytes.", "NVLink sent"},
};

template <size_t N>
std::string_view label_of(const Label (&labels)[N], std::string_view metric) {
  for (const Label& label : labels) {
    if (metric.starts_with(label.metric)) return label.text;
  }
  return {};
}

}  // namespace

ActivitySeries activity_series(const std::vector<std::string>& metrics,
                               std::vector<Activity> samples, size_t most_points) {
  ActivitySeries series;
  std::vector<size_t> busy, traffic;  // places of the metrics
  for (size_t i = 0; i < metrics.size() && i < kMostActivities; ++i) {
    if (const std::string_view label = label_of(kBusy, metrics[i]); !label.empty()) {
      series.busy.emplace_back(label);
      busy.push_back(i);
    } else if (const std::string_view other = label_of(kTraffic, metrics[i]); !other.empty()) {
      series.traffic.emplace_back(other);
      traffic.push_back(i);
    }
  }
  std::erase_if(samples, [](const Activity& sample) { return sample.end <= sample.start; });
  std::ranges::stable_sort(samples, {}, &Activity::start);
  const size_t together = std::max<size_t>(1, (samples.size() + most_points - 1) / most_points);
  for (size_t first = 0; first < samples.size(); first += together) {
    const size_t end = std::min(samples.size(), first + together);
    double time = 0, sums[kMostActivities] = {};
    for (size_t i = first; i < end; ++i) {
      const Activity& sample = samples[i];
      const auto length = static_cast<double>(sample.end - sample.start);
      time += length;
      const auto add = [&](size_t place, double weight) {
        if (place < sample.count && std::isfinite(sample.values[place]))
          sums[place] += weight * static_cast<double>(sample.values[place]);
      };
      for (const size_t place : busy) add(place, length);
      for (const size_t place : traffic) add(place, 1);  // bytes for each ns are GB/s
    }
    const auto point = [&](bool is_traffic, const std::vector<size_t>& places) {
      ActivityPoint made{samples[first].start, samples[first].device, is_traffic, {}};
      for (const size_t place : places)
        made.values.push_back(static_cast<float>(sums[place] / time));
      if (!places.empty()) series.points.push_back(std::move(made));
    };
    point(false, busy);
    point(true, traffic);
  }
  return series;
}

}  // namespace fathom::capture
