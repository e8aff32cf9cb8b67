// Kernels with one fault each and their repaired twins (tests/gpu/faults), recorded on an H200:
// the right hypothesis is confirmed, and none that is not true.
#include <fstream>
#include <map>

#include "checks.h"
#include "counters/recorded_contexts.h"
#include "test_files.h"

namespace fathom::test {
namespace {

std::filesystem::path faults_folder() { return source_dir() / "tests/gpu/faults"; }

Recorded contexts_of(const std::string& pair) {
  return contexts_of_file((faults_folder() / "recorded" / (pair + ".capture")).string());
}

double micros_of(const KernelContext& kernel) {
  return static_cast<double>(kernel.time.count) / 1e3 / static_cast<double>(kernel.count);
}

TEST(PlantedFaults, TheRightHypothesisIsConfirmedAndNoneThatIsNotTrue) {
  const std::string text = read_file(faults_folder() / "expected.tsv");
  size_t pairs = 0, right = 0, in_range = 0;
  std::string table;
  for (const auto& row : read_tsv(text, 6)) {
    const std::string pair(row[0]);
    const bool is_planted = row[1] != "-";
    pairs += is_planted;
    const Recorded recorded = contexts_of(pair);
    const KernelContext* fault = recorded.find("fault_" + pair);
    const KernelContext* twin = recorded.find("twin_" + pair);
    ASSERT_TRUE(fault != nullptr && twin != nullptr) << pair;
    const std::vector<std::string> confirmed = confirmed_of(*fault);
    const bool is_right = std::ranges::find(confirmed, row[1]) != confirmed.end();
    EXPECT_EQ(is_right, is_planted) << pair << ": " << row[1] << " is not confirmed";
    right += is_right;
    for (const std::string& id : confirmed) {
      const auto others = listed(row[2]);
      EXPECT_TRUE(id == row[1] || std::ranges::find(others, id) != others.end())
          << "fault_" << pair << ": " << id;
    }
    const auto allowed = listed(row[3]);
    for (const std::string& id : confirmed_of(*twin)) {
      EXPECT_TRUE(std::ranges::find(allowed, id) != allowed.end()) << "twin_" << pair << ": " << id;
    }
    const TestedHypothesis& tested = tested_of(*fault, row[1]);
    if (!is_planted || !tested.least_gain()) continue;
    // What is saved of a launch includes the time before it.
    const double before = row[1] == "host_bound" ? fault->value("idle_before_us").value_or(0) : 0;
    const double steps = pair == "tiny_steps" ? 300 : 1;  // launches that one twin replaces
    const double gain = steps * (micros_of(*fault) + before) / micros_of(*twin);
    const std::string found = gain < *tested.least_gain()  ? "below"
                              : gain > *tested.most_gain() ? "above"
                                                           : "in";
    EXPECT_EQ(found, row[4]) << pair << ": " << gain << " × against " << gain_text(tested);
    in_range += found == "in";
    std::string of_fault, of_twin;
    for (const std::string& id : confirmed) of_fault += (of_fault.empty() ? "" : ", ") + id;
    for (const std::string& id : confirmed_of(*twin)) of_twin += (of_twin.empty() ? "" : ", ") + id;
    char line[512];
    std::snprintf(line, sizeof line, "| %s | %.1f | %.1f | %s | %s | %s | %.2f | %s | %s |\n",
                  pair.c_str(), micros_of(*fault), micros_of(*twin), std::string(row[1]).c_str(),
                  of_fault.c_str(), of_twin.c_str(), gain, gain_text(tested).c_str(),
                  found.c_str());
    table += line;
  }
  EXPECT_GE(pairs, 20u);
  EXPECT_GE(10 * right, 9 * pairs);
  EXPECT_GE(10 * in_range, 7 * pairs);
  // For bench/results: the same table that this test checks.
  if (const char* path = std::getenv("FATHOM_FAULTS_TABLE")) std::ofstream(path) << table;
}

TEST(PlantedFaults, WithoutCountersHypothesesAreUntestedWithTheCommandThatTestsThem) {
  HardwareValues values{{"trace_duration_us", 100}, {"idle_before_us", 1}, {"runs", 20}};
  add_derived_values(values);
  for (const TestedHypothesis& tested : test_hypotheses(values)) {
    if (tested.hypothesis->id == "host_bound") {
      EXPECT_EQ(tested.verdict, Verdict::kRejected);
      continue;
    }
    EXPECT_EQ(tested.verdict, Verdict::kUntested) << tested.hypothesis->id;
    EXPECT_FALSE(tested.missing.empty()) << tested.hypothesis->id;
  }
  EXPECT_EQ(command_for({"stall_barrier"}), "fathom record --counters=stalls --replay -- PROGRAM");
  EXPECT_EQ(command_for({"dram_throughput", "l2_hit", "stall_wait"}),
            "fathom record --counters=full --replay -- PROGRAM");
  EXPECT_EQ(command_for({"allocated_mb"}), "fathom record --allocations -- PROGRAM");
  EXPECT_EQ(command_for({"is_communication"}), "");
  // Whose tool counted the rest is who counts the missing: what `--set full` lacks is named.
  EXPECT_EQ(command_for({"stall_barrier", "l2_hit"}, CountingTool::kNcu),
            "ncu --set full --page raw --csv --log-file counters.csv PROGRAM");
  EXPECT_EQ(
      command_for({"dram_read", "local_mb"}, CountingTool::kNcu),
      "ncu --set full --metrics sm__sass_data_bytes_mem_local.sum --page raw --csv --log-file "
      "counters.csv PROGRAM");
  EXPECT_EQ(command_for({"dram_read", "allocated_mb"}, CountingTool::kNcu), "");
  EXPECT_EQ(command_for({"is_communication"}, CountingTool::kNcu), "");
  EXPECT_EQ(command_for({"tensor", "l2_hit"}, CountingTool::kRocprof),
            "rocprofv3 --pmc MfmaUtil L2CacheHit -- PROGRAM");
  EXPECT_EQ(command_for({"tensor", "stall_barrier"}, CountingTool::kRocprof), "");
}

TEST(PlantedFaults, EveryRejectionHasEvidenceAndNoHitRateIsOver100Percent) {
  for (const auto& entry : std::filesystem::directory_iterator(faults_folder() / "recorded")) {
    if (entry.path().extension() != ".capture") continue;
    for (const KernelContext& kernel : contexts_of(entry.path().stem().string()).kernels) {
      EXPECT_LE(kernel.value("l2_hit").value_or(0), 100) << kernel.name;
      for (const TestedHypothesis& tested : kernel.tested) {
        if (tested.verdict != Verdict::kRejected) continue;
        EXPECT_NE(evidence_text(kernel, tested), "") << kernel.name << tested.hypothesis->id;
      }
    }
  }
}

// The L2's halves count some sectors twice: 416 MB at L2 are 278 MB that threads read.
TEST(PlantedFaults, HostMemoryIsNotCountedTwice) {
  const Recorded recorded = contexts_of("host_memory");
  const KernelContext* fault = recorded.find("fault_host_memory");
  ASSERT_NE(fault, nullptr);
  EXPECT_NEAR(fault->value("host_mb").value_or(0), 277.9, 0.1);
  EXPECT_NEAR(fault->value("host_rate").value_or(0), 51.5, 0.2);
  const auto host_mb = [](HardwareValues values) {
    add_derived_values(values);
    return values["host_mb"];
  };
  // 64 MB at L2.
  EXPECT_EQ(host_mb({{"host_sectors", 2e6}}), 64);
  EXPECT_EQ(host_mb({{"host_sectors", 2e6}, {"load_sectors", 1e6}, {"store_sectors", 5e5}}), 48);
  // Loads and stores explain less than half: something else reads it too.
  EXPECT_EQ(host_mb({{"host_sectors", 2e6}, {"load_sectors", 1e5}, {"store_sectors", 0}}), 64);
  // Loads of device memory beside it are none of the host's.
  EXPECT_EQ(host_mb({{"host_sectors", 2e6}, {"load_sectors", 9e6}, {"store_sectors", 0}}), 64);
}

}  // namespace
}  // namespace fathom::test
