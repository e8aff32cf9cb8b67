#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "capture/format.h"
#include "checks.h"
#include "plan/plan_metrics.h"
#include "record/metric_groups.h"
#include "session/counter_plan.h"

namespace fathom {
namespace {

// CUPTI's host library needs no GPU: it knows every chip's metrics and passes.
void* host_library() {
  for (const char* folder :
       {"/usr/local/cuda/lib", "/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64"}) {
    for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
      const std::filesystem::path path = std::filesystem::path(folder) / name;
      std::error_code error;
      if (!std::filesystem::exists(path, error)) continue;
      // It looks for its second library by name alone.
      dlopen((path.parent_path() / "libnvperf_host.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
      if (void* library = dlopen(path.c_str(), RTLD_NOW)) return library;
    }
  }
  return nullptr;
}

TEST(CounterSets, EveryChipHasTheMetricsInTheirPasses) {
  void* library = host_library();
  if (library == nullptr) GTEST_SKIP() << "no CUPTI library: no CUDA toolkit here";
  const cupti::RangeApi api = cupti::range_api(library);
  ASSERT_TRUE(api.whole());
  const std::vector<std::string> metrics = *counter_metrics("full");
  for (const char* chip : {"GA100", "GA102", "AD102", "GH100", "GB100", "GB202"}) {
    size_t counted = 0;
    for (const std::string& metric : metrics) {
      std::vector<std::string> unknown;
      const auto alone = record::group_metrics(api, chip, {metric}, true, unknown);
      EXPECT_TRUE(unknown.empty()) << chip << " has no " << metric;
      if (alone.empty()) continue;
      ++counted;
      // What needs several runs is marked in the table.
      EXPECT_TRUE(alone[0].passes == 1 || metric.substr(0, 2).find('+') != std::string::npos)
          << chip << ": " << metric << " needs " << alone[0].passes << " passes";
    }
    EXPECT_GE(counted, 40u) << chip;
  }
  // How they are divided takes seconds, and is the same for all chips.
  std::vector<std::string> ignored;
  const auto groups = record::group_metrics(api, "GH100", metrics, false, ignored);
  EXPECT_GE(groups.size(), 5u);
  size_t divided = 0;
  for (const record::MetricGroup& group : groups) {
    EXPECT_GE(group.passes, 1u);
    EXPECT_TRUE(group.passes == 1 || group.names.size() == 1) << group.names[0];
    divided += group.names.size();
  }
  EXPECT_GE(divided, 40u);
  EXPECT_EQ(record::group_metrics(api, "GH100", metrics, true, ignored).size(), 1u);
  for (const char* chip : {"GA100", "GA102", "AD102", "GH100", "GB100", "GB202"}) {
    std::vector<std::string> left_out;
    const record::MetricGroup sampled =
        record::sampled_metrics(api, chip, nullptr, sampled_metrics(), left_out);
    EXPECT_TRUE(left_out.empty()) << chip << ": " << (left_out.empty() ? "" : left_out[0]);
    EXPECT_EQ(sampled.passes, 1u) << chip;
    EXPECT_GE(sampled.names.size(), 9u) << chip;
    EXPECT_LE(sampled.names.size(), capture::kMostActivities) << chip;
  }
  std::vector<std::string> unknown;
  EXPECT_TRUE(record::group_metrics(api, "GH100", {"no__such_metric.sum"}, false, unknown).empty());
  EXPECT_EQ(unknown.size(), 1u);
}

// data/metrics/counter_passes.tsv and metric_passes.tsv are what CUPTI says.
TEST(CounterSets, PassesAreThoseOfTheTables) {
  void* library = host_library();
  if (library == nullptr) GTEST_SKIP() << "no CUPTI library: no CUDA toolkit here";
  const cupti::RangeApi api = cupti::range_api(library);
  for (const char* chip : {"GA100", "GH100", "GB202"}) {
    const std::vector<std::string> metrics = *counter_metrics("memory");
    std::vector<std::string> unknown;
    const auto groups = record::group_metrics(api, chip, metrics, false, unknown);
    const auto replay = record::group_metrics(api, chip, metrics, true, unknown);
    const std::optional<SetPasses> passes = set_passes(chip, "memory");
    ASSERT_TRUE(passes && !replay.empty());
    const auto single = std::ranges::count(groups, 1u, &record::MetricGroup::passes);
    EXPECT_EQ(passes->groups, single) << chip;
    EXPECT_EQ(passes->replay, static_cast<int64_t>(replay[0].passes)) << chip;
    for (const char* id : {"sm_throughput", "stall_gmma", "dram_bytes", "ops_fp8"}) {
      for (const std::string& name : counters_on(*find_plan_metric(id), chip).names) {
        const auto alone = record::group_metrics(api, chip, {name}, true, unknown);
        EXPECT_FALSE(alone.empty()) << chip << ": " << name;
      }
    }
  }
}

}  // namespace
}  // namespace fathom
