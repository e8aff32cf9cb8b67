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

}  // namespace

std::vector<MetricGroup> group_metrics(const cupti::RangeApi& api, const std::string& chip,
                                       const std::vector<std::string>& metrics, bool one_group,
                                       std::vector<std::string>& unknown) {
  std::vector<std::string> known;
  std::vector<size_t> passes_alone;
  for (const std::string& asked : metrics) {
    std::string rest = asked.substr(asked.find_first_not_of("?+"));
    bool found = false;
    while (!rest.empty() && !found) {
      const size_t bar = rest.find('|');
      const std::string name = rest.substr(0, bar);
      rest = bar == std::string::npos ? "" : rest.substr(bar + 1);
      MetricGroup alone = make_group(api, chip, {name});
      found = alone.passes > 0;
      if (found) {
        known.push_back(name);
        passes_alone.push_back(alone.passes);
      }
      release(api, alone);
    }
    if (!found && !asked.starts_with("?")) unknown.push_back(asked);
  }
  std::vector<MetricGroup> groups;
  if (known.empty()) return groups;
  if (one_group) {
    groups.push_back(make_group(api, chip, known));
    return groups;
  }
  struct List {
    std::vector<std::string> names;
    bool is_open;  // of a metric that needs several passes, none has room for another
  };
  std::vector<List> lists;
  for (size_t i = 0; i < known.size(); ++i) {
    bool placed = false;
    for (size_t l = 0; passes_alone[i] == 1 && l < lists.size() && !placed; ++l) {
      if (!lists[l].is_open) continue;
      std::vector<std::string> longer = lists[l].names;
      longer.push_back(known[i]);
      MetricGroup tried = make_group(api, chip, longer);
      placed = tried.passes == 1;
      release(api, tried);
      if (placed) lists[l].names = std::move(longer);
    }
    if (!placed) lists.push_back({{known[i]}, passes_alone[i] == 1});
  }
  for (List& list : lists) groups.push_back(make_group(api, chip, std::move(list.names)));
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
