#include "scan/features/feature_rules.h"

#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "base/tsv.h"
#include "checks.h"
#include "scan/features/file_weight.h"
#include "scan/features/pairs.h"
#include "test_files.h"

namespace fathom {
namespace {

TEST(FoldName, SpellingsOfOneNameAreOne) {
  for (const char* name : {"RadixCache", "radix_cache", "RADIX_CACHE", "radixCache", "kRadixCache",
                           "_radix_cache_", "__radix_cache"}) {
    EXPECT_EQ(fold_name(name), "radix_cache") << name;
  }
  EXPECT_EQ(fold_name("PagedKVCache"), "paged_kv_cache");
  EXPECT_EQ(fold_name("FusedMoELayer"), "fused_moe_layer");
  EXPECT_EQ(fold_name("cudaGraphLaunch"), "cuda_graph_launch");
  EXPECT_EQ(fold_name("CUDAGraph"), "cuda_graph");
  EXPECT_EQ(fold_name("Int8Quant"), "int8_quant");
  EXPECT_EQ(fold_name("--max-running-req"), "max_running_req");
  EXPECT_EQ(fold_name("torch.cuda.CUDAGraph"), "torch.cuda.cuda_graph");
  EXPECT_EQ(fold_name("*_mla_*"), "*_mla_*");
  EXPECT_EQ(fold_name("k"), "k");
  EXPECT_EQ(fold_name(""), "");
}

constexpr std::string_view kMetrics =
    "id\ttitle\tlevel\tnvidia\tchips\tamd\thow\nidle\tidle\tprocess\t\t\t\tsee\n";
constexpr std::string_view kRuleColumns = "header\n";

std::string error_of(const std::string& feature_row) {
  const std::string features = std::string(kRuleColumns) + feature_row + "\n";
  const auto rules = FeatureRules::parse(features, kRuleColumns, kMetrics);
  return rules.ok() ? "" : rules.error().message;
}

TEST(FeatureRules, RefusesRulesThatCannotMeanWhatTheySay) {
  EXPECT_EQ(error_of("a\tA\tx\tname:abcd\t\t\tc\tIt is.\tidle\t"), "");
  EXPECT_EQ(error_of("a\tA\tx\t\t\t\tc\tIt is.\tidle\t"), "rule a: never fires");
  EXPECT_EQ(error_of("a\tA\tx\t\tname:abcd\t2\tc\tIt is.\tidle\t"),
            "rule a: needs more signals than it has");
  EXPECT_EQ(error_of("a\tA\tx\t\tname:abcd\t\tc\tIt is.\tidle\t"),
            "rule a: needs and signals do not fit");
  EXPECT_EQ(error_of("a\tA\tx\tword:abcd\t\t\tc\tIt is.\tidle\t"),
            "rule a: not a signal: \"word:abcd\"");
  EXPECT_EQ(error_of("a\tA\tx\tname:ab*\t\t\tc\tIt is.\tidle\t"),
            "rule a: a name needs four letters before its *: name:ab*");
  EXPECT_EQ(error_of("a\tA\tx\tname:abcd\t\t\tc\tIt is.\tbusy\t"), "rule a: no metric busy");
  EXPECT_EQ(error_of("a\tA\tx\tname:abcd\t\t\tc\tIt is.\t\t"), "rule a: nothing to measure");
  EXPECT_EQ(error_of("a\tA\tx\tname:abcd\t\t\tc\t\tidle\t"),
            "rule a: says nothing about the hardware");
}

TEST(FeatureRules, StampChangesWithTheRules) {
  const auto stamp = [](std::string_view name) {
    const std::string features = std::string(kRuleColumns) + "a\tA\tx\tname:" + std::string(name) +
                                 "\t\t\tc\tIt is.\tidle\t\n";
    return FeatureRules::parse(features, kRuleColumns, kMetrics).value().stamp();
  };
  EXPECT_NE(stamp("abcd"), stamp("abce"));
}

TEST(FeatureMetrics, CountersHaveNamesThatToolsTake) {
  const std::regex nvidia(
      "[a-z0-9]+__[a-z0-9_]+\\."
      "(sum|avg|max|min|ratio|pct|(avg|sum)\\.(pct_of_peak_sustained_(elapsed|active)|per_cycle_"
      "active))");
  const std::regex amd("[A-Z0-9]+(_[A-Z0-9]+)+(_sum)?");
  const std::set<std::string_view> chips = {"GA100", "AD102", "GH100", "GB100", "GB202"};
  for (const Metric& metric : FeatureRules::built_in().metrics()) {
    for (const std::string_view name : metric.nvidia) {
      EXPECT_TRUE(std::regex_match(std::string(name), nvidia)) << metric.id << ": " << name;
    }
    for (const std::string_view name : metric.amd) {
      EXPECT_TRUE(std::regex_match(std::string(name), amd)) << metric.id << ": " << name;
    }
    for (const std::string_view chip : metric.nvidia_chips) EXPECT_TRUE(chips.contains(chip));
    EXPECT_EQ(metric.nvidia.empty(), metric.nvidia_chips.empty()) << metric.id;
    EXPECT_FALSE(metric.how.empty() && metric.amd_how.empty()) << metric.id;
  }
}

// counters.tsv was not made from the rules: CUPTI was asked for every name on every chip.
TEST(FeatureMetrics, EveryCounterExistsOnTheChipsThatAreNamed) {
  const std::string text =
      test::read_file(test::source_dir() / "tests" / "scan" / "features" / "counters.tsv");
  std::map<std::string_view, std::set<std::string_view>> chips_of;
  for (const auto& row : read_tsv(text, 3)) {
    for (const std::string_view chip : split(row[1], ' ')) chips_of[row[0]].insert(chip);
  }
  size_t checked = 0;
  for (const Metric& metric : FeatureRules::built_in().metrics()) {
    std::set<std::string_view> common;
    for (size_t i = 0; i < metric.nvidia.size(); ++i) {
      ASSERT_TRUE(chips_of.contains(metric.nvidia[i])) << metric.id << ": " << metric.nvidia[i];
      const std::set<std::string_view>& chips = chips_of[metric.nvidia[i]];
      if (i == 0) common = chips;
      std::erase_if(common, [&](std::string_view chip) { return !chips.contains(chip); });
      ++checked;
    }
    EXPECT_EQ(common, std::set(metric.nvidia_chips.begin(), metric.nvidia_chips.end()))
        << metric.id;
    for (const std::string_view name : metric.amd) {
      EXPECT_TRUE(chips_of.contains(name)) << metric.id << ": " << name;
      ++checked;
    }
  }
  EXPECT_GT(checked, 50u);
}

TEST(FeatureMetrics, NoneIsKnownTwiceOrUsedByNoRule) {
  const FeatureRules& rules = FeatureRules::built_in();
  std::set<std::string_view> ids, used;
  for (const Metric& metric : rules.metrics()) EXPECT_TRUE(ids.insert(metric.id).second);
  for (const FeatureRule& rule : rules.features()) {
    for (const uint32_t metric : rule.metrics) used.insert(rules.metrics()[metric].id);
  }
  for (const std::string_view id : ids) EXPECT_TRUE(used.contains(id)) << id;
}

TEST(FeatureRulesData, PatternsAreRowsOfTheirTable) {
  const auto table = test::source_dir() / "data" / "features" / "code_patterns.tsv";
  if (!std::filesystem::exists(table)) GTEST_SKIP() << "no code_patterns.tsv yet";
  const std::string text = test::read_file(table);
  std::set<std::string_view> known;
  for (const auto& row : read_tsv(text, 4)) known.insert(row[0]);
  for (const Signal& signal : FeatureRules::built_in().signals()) {
    if (signal.kind != SignalKind::kPattern) continue;
    for (const std::string& id : signal.alternatives) EXPECT_TRUE(known.contains(id)) << id;
  }
}

bool weighs(std::string path, Origin origin = Origin::kOwn) {
  SourceFile file;
  file.path = std::move(path);
  file.language = Language::kPython;
  file.origin = origin;
  return carries_weight(file);
}

TEST(FileWeight, TestsBenchmarksExamplesAndOthersCodeHaveNone) {
  EXPECT_TRUE(weighs("pkg/attention.py"));
  EXPECT_TRUE(weighs("attest/protest.py"));
  for (const char* path : {"tests/attention.py", "pkg/test_attention.py", "pkg/attention_test.py",
                           "benchmarks/run.py", "pkg/benchmark.py", "bench_serving.py",
                           "examples/serve.py", "docs/conf.py", "conftest.py"}) {
    EXPECT_FALSE(weighs(path)) << path;
  }
  EXPECT_FALSE(weighs("pkg/attention.py", Origin::kVendored));
  EXPECT_FALSE(weighs("pkg/attention.py", Origin::kSubmodule));
  EXPECT_FALSE(weighs("pkg/attention.py", Origin::kGenerated));
}

TEST(FileWeight, ScratchSpaceLiesAside) {
  const auto weight = [](const char* path) {
    SourceFile file;
    file.path = path;
    file.language = Language::kCuda;
    return file_weight(file);
  };
  EXPECT_EQ(weight("llmc/matmul.cuh"), FileWeight::kProduct);
  EXPECT_EQ(weight("vllm/profiler/wrapper.py"), FileWeight::kProduct);
  for (const char* path : {"dev/cuda/matmul.cu", "scripts/tune.py", "csrc/cpu/attention.cpp"}) {
    EXPECT_EQ(weight(path), FileWeight::kAside) << path;
  }
  EXPECT_EQ(weight("AI/racecheck_repro_1d.py"), FileWeight::kNone);
  EXPECT_EQ(weight("report/repository.py"), FileWeight::kProduct);
}

TEST(FileWeight, StandInsAreNotTheThingItself) {
  for (const char* name : {"layernorm_forward_cpu", "layer_norm_ref", "topk_reference", "topk_fake",
                           "coordinator_no_prefix_cache"}) {
    EXPECT_TRUE(is_stand_in(name)) << name;
  }
  for (const char* name : {"layernorm_forward", "cpu_offload", "href", "node_cache", "norm"}) {
    EXPECT_FALSE(is_stand_in(name)) << name;
  }
}

TEST(FeatureRules, MetricsOfSomeProgramsNameComponentsAndLeaveOthersSomething) {
  const auto error = [](const std::string& metrics) {
    const auto rules = FeatureRules::parse("header\na\tA\tx\tname:abcd\t\t\tc\tIt is.\tidle\t\n",
                                           "header\nserver\tServer\timport:fastapi\t1\tanswers\n",
                                           "header\n" + metrics);
    return rules.ok() ? "" : rules.error().message;
  };
  EXPECT_EQ(error("idle\tidle\tprocess\t\t\t\tsee\n"), "");
  EXPECT_EQ(error("idle\tidle\tprocess\t\t\t\tsee\tnobody\n"), "rule idle: no component nobody");
  EXPECT_EQ(error("idle\tidle\tprocess\t\t\t\tsee\tserver\n"),
            "rule a: nothing to measure in some programs");
}

}  // namespace
}  // namespace fathom
