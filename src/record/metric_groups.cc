#include "record/metric_groups.h"

#include "record/pm_sampling_api.h"

namespace fathom::record {
namespace {

// A group of these metrics, or one without passes where the chip cannot count them.
MetricGroup make_group(const cupti::RangeApi& api, const std::string& chip,
                       std::vector<std::string> names, uint32_t profiler = cupti::kRangeProfiler,
                       const uint8_t* availability = nullptr) {
  MetricGroup group;
  group.names = std::move(names);
  for (const std::string& name : group.names) group.pointers.push_back(name.c_str());
  cupti::HostInitialize start{FATHOM_CUPTI_SIZE(cupti::HostInitialize, host),
                              nullptr,
                              profiler,
                              chip.c_str(),
                              availability,
                              nullptr};
  if (api.ProfilerHostInitialize(&start) != 0) return group;
  group.host = start.host;
  cupti::HostAddMetrics add{FATHOM_CUPTI_SIZE(cupti::HostAddMetrics, count), nullptr, group.host,
                            group.pointers.data(), group.pointers.size()};
  cupti::HostConfigSize size{FATHOM_CUPTI_SIZE(cupti::HostConfigSize, bytes), nullptr, group.host,
                             0};
  if (api.ProfilerHostConfigAddMetrics(&add) != 0 ||
      api.ProfilerHostGetConfigImageSize(&size) != 0 || size.bytes == 0) {
    return group;
  }
  group.config.resize(size.bytes);
  cupti::HostConfig config{FATHOM_CUPTI_SIZE(cupti::HostConfig, image), nullptr, group.host,
                           group.config.size(), group.config.data()};
  cupti::HostPasses passes{FATHOM_CUPTI_SIZE(cupti::HostPasses, passes), nullptr,
                           group.config.size(), group.config.data(), 0};
  if (api.ProfilerHostGetConfigImage(&config) == 0 &&
      api.ProfilerHostGetNumOfPasses(&passes) == 0) {
    group.passes = passes.passes;
  }
  return group;
}

void release(const cupti::RangeApi& api, MetricGroup& group) {
  if (group.host == nullptr) return;
  cupti::HostDeinitialize end{FATHOM_CUPTI_SIZE(cupti::HostDeinitialize, host), nullptr,
                              group.host};
  api.ProfilerHostDeinitialize(&end);
  group.host = nullptr;
}

// The first of "a|b" that the chip can count, alone; without passes where it can count none.
MetricGroup first_counted(const cupti::RangeApi& api, const std::string& chip,
                          const std::string& asked) {
  std::string rest = asked.substr(asked.find_first_not_of("?+"));
  while (!rest.empty()) {
    const size_t bar = rest.find('|');
    MetricGroup alone = make_group(api, chip, {rest.substr(0, bar)});
    if (alone.passes > 0) return alone;
    release(api, alone);
    rest = bar == std::string::npos ? "" : rest.substr(bar + 1);
  }
  return {};
}

// Adds a metric to the first group that needs no second pass for it, else behind them. Those that
// need several have no room.
void place(const cupti::RangeApi& api, const std::string& chip, MetricGroup alone,
           std::vector<MetricGroup>& groups) {
  for (MetricGroup& group : groups) {
    if (alone.passes != 1 || group.passes != 1) continue;
    std::vector<std::string> longer = group.names;
    longer.push_back(alone.names[0]);
    MetricGroup tried = make_group(api, chip, std::move(longer));
    const bool fits = tried.passes == 1;
    if (fits) std::swap(group, tried);
    release(api, tried);
    if (fits) return release(api, alone);
  }
  groups.push_back(std::move(alone));
}

}  // namespace

std::vector<MetricGroup> group_metrics(const cupti::RangeApi& api, const std::string& chip,
                                       const std::vector<std::string>& metrics, bool one_group,
                                       std::vector<std::string>& unknown) {
  std::vector<MetricGroup> groups;
  std::vector<std::string> names;
  for (const std::string& asked : metrics) {
    MetricGroup alone = first_counted(api, chip, asked);
    if (alone.passes == 0) {
      if (!asked.starts_with("?")) unknown.push_back(asked);
      continue;
    }
    names.push_back(alone.names[0]);
    if (!one_group) {
      place(api, chip, std::move(alone), groups);
    } else if (names.size() == 1) {
      groups.push_back(std::move(alone));
    } else {
      release(api, alone);
    }
  }
  if (one_group && names.size() > 1) {
    release(api, groups[0]);
    groups[0] = make_group(api, chip, std::move(names));
  }
  return groups;
}

MetricGroup sampled_metrics(const cupti::RangeApi& api, const std::string& chip,
                            const uint8_t* availability, const std::vector<std::string>& metrics,
                            std::vector<std::string>& left_out) {
  MetricGroup group;
  for (const std::string& asked : metrics) {
    std::string rest = asked.substr(asked.find_first_not_of("?+"));
    bool found = false;
    while (!rest.empty() && !found) {
      const size_t bar = rest.find('|');
      std::vector<std::string> longer = group.names;
      longer.push_back(rest.substr(0, bar));
      rest = bar == std::string::npos ? "" : rest.substr(bar + 1);
      MetricGroup tried =
          make_group(api, chip, std::move(longer), cupti::kPmSampling, availability);
      found = tried.passes == 1;
      if (found) std::swap(group, tried);
      release(api, tried);
    }
    if (!found && !asked.starts_with("?")) left_out.push_back(asked);
  }
  return group;
}

}  // namespace fathom::record
