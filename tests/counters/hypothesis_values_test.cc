// Hypotheses by values that are written down here: each case with its near-twin.
#include "checks.h"
#include "counters/recorded_contexts.h"

namespace fathom::test {
namespace {

std::optional<Verdict> verdict_of(const HardwareValues& given, std::string_view id) {
  HardwareValues values = given;
  add_derived_values(values);
  for (const TestedHypothesis& tested : test_hypotheses(values)) {
    if (tested.hypothesis->id == id) return tested.verdict;
  }
  return {};
}

// What no kernel of ours can plant on one GPU; each with its near-twin.
TEST(HypothesisValues, ThrottlingAndExposedCommunication) {
  const HardwareValues clock{{"boost_clock", 2e9}, {"trace_duration_us", 100}};
  HardwareValues slow = clock, near = clock;
  slow["sm_clock"] = 1.5e9;
  near["sm_clock"] = 1.7e9;
  EXPECT_EQ(verdict_of(slow, "throttling"), Verdict::kConfirmed);
  EXPECT_EQ(verdict_of(near, "throttling"), Verdict::kRejected);
  HardwareValues exposed{{"is_communication", 1}, {"exposed_share", 60}};
  EXPECT_EQ(verdict_of(exposed, "communication_exposed"), Verdict::kConfirmed);
  exposed["exposed_share"] = 5;
  EXPECT_EQ(verdict_of(exposed, "communication_exposed"), Verdict::kRejected);
}

// An attention kernel of FP16 on FMA units, whose operands come from shared memory but do not fill
// its pipe; its near-twin is a polynomial, whose operands stay in registers.
TEST(HypothesisValues, TensorCoresIdleBesideAHalfUsedSharedMemory) {
  HardwareValues kernel{
      {"tensor_flop", 0},      {"fma_instructions", 40}, {"thread_instructions", 100},
      {"narrow_type", 1},      {"lsu_data", 45},         {"shared_data", 40},
      {"intensity", 60},       {"vector_ridge", 14},     {"flop_rate", 2e13},
      {"peak_matrix", 9.9e14}, {"dram_throughput", 10}};
  EXPECT_EQ(verdict_of(kernel, "tensor_idle"), Verdict::kConfirmed);
  kernel["lsu_data"] = 10;
  kernel["shared_data"] = 0;
  EXPECT_EQ(verdict_of(kernel, "tensor_idle"), Verdict::kRejected);
}

// What is not about a kernel is not listed with it.
TEST(HypothesisValues, AHypothesisOfOtherKernelsIsNotListed) {
  EXPECT_EQ(
      verdict_of({{"is_communication", 0}, {"trace_duration_us", 33}}, "communication_exposed"),
      std::nullopt);
  const HardwareValues unmeasured{{"boost_clock", 1.98e9}, {"trace_duration_us", 33}};
  EXPECT_EQ(verdict_of(unmeasured, "throttling"), std::nullopt);
  HardwareValues longer = unmeasured;
  longer["trace_duration_us"] = 330;
  add_derived_values(longer);
  for (const TestedHypothesis& tested : test_hypotheses(longer)) {
    if (tested.hypothesis->id != "throttling") continue;
    EXPECT_EQ(tested.verdict, Verdict::kUntested);
    EXPECT_EQ(tested.missing, std::vector<std::string_view>{"sm_clock"});
    EXPECT_EQ(tested.command, "fathom record --counters=basic --replay -- PROGRAM");
  }
}

TEST(HypothesisValues, ARejectionShowsTheValuesThatReject) {
  KernelContext kernel;
  kernel.values = {{"stall_long_scoreboard", 80}, {"issue", 0.1},     {"dram_throughput", 85},
                   {"l2_throughput", 40},         {"lsu_data", 10},   {"limited_by_shared", 0},
                   {"theoretical_occupancy", 50}, {"stall_wait", 10}, {"stall_barrier", 2}};
  add_derived_values(kernel.values);
  kernel.tested = test_hypotheses(kernel.values);
  EXPECT_EQ(evidence_text(kernel, tested_of(kernel, "memory_latency")), "DRAM throughput 85 %");
  EXPECT_EQ(evidence_text(kernel, tested_of(kernel, "barrier_wait")), "stall barrier 2 %");
  EXPECT_EQ(evidence_text(kernel, tested_of(kernel, "occupancy_shared")),
            "limited by shared memory: no");
  EXPECT_EQ(evidence_text(kernel, tested_of(kernel, "dram_bandwidth")),
            "DRAM throughput 85 %");  // confirmed: what its row lists, as far as known
}

// Sampled over a long graph launch: gaps between its small kernels. Near-twins: multiprocessors at
// work, a launch too short for samples, and a copy that a few of them can do.
TEST(HypothesisValues, MultiprocessorsIdleInsideOfALaunch) {
  const HardwareValues graph{
      {"sm_active", 28}, {"dram_throughput", 18}, {"tensor", 2}, {"trace_duration_us", 725}};
  EXPECT_EQ(verdict_of(graph, "sm_idle"), Verdict::kConfirmed);
  HardwareValues other = graph;
  other["sm_active"] = 90;
  EXPECT_EQ(verdict_of(other, "sm_idle"), Verdict::kRejected);
  other = graph;
  other["trace_duration_us"] = 20;
  EXPECT_EQ(verdict_of(other, "sm_idle"), Verdict::kRejected);
  other = graph;
  other["dram_throughput"] = 85;
  EXPECT_EQ(verdict_of(other, "sm_idle"), Verdict::kRejected);
  other.erase("sm_active");
  EXPECT_EQ(verdict_of(other, "sm_idle"), std::nullopt) << "not sampled: not listed";
}

TEST(HypothesisValues, PartsInHostMemoryByTheirShareOfL2) {
  HardwareValues values{{"host_sectors", 2e6}, {"l2_sector_count", 4e6}};
  EXPECT_EQ(verdict_of(values, "pcie"), Verdict::kConfirmed);
  values["l2_sector_count"] = 8e6;
  EXPECT_EQ(verdict_of(values, "pcie"), Verdict::kRejected);
  EXPECT_EQ(verdict_of({{"host_sectors", 1e5}, {"l2_sector_count", 1e5}}, "pcie"),
            Verdict::kRejected);
}

TEST(HypothesisValues, ThePitfallsHold) {
  HardwareValues waits{
      {"stall_long_scoreboard", 80},  {"stall_drain", 0},    {"stall_membar", 0},
      {"trace_duration_us", 50},      {"issue", 0.1},        {"dram_throughput", 40},
      {"l2_throughput", 40},          {"lsu_data", 10},      {"shared_data", 5},
      {"stall_short_scoreboard", 70}, {"bank_conflicts", 2}, {"l2_sectors", 20}};
  EXPECT_EQ(verdict_of(waits, "memory_latency"), Verdict::kConfirmed);
  EXPECT_EQ(verdict_of(waits, "dram_bandwidth"), Verdict::kRejected);
  // A wait for shared memory alone is no bank conflict.
  waits["shared_data"] = 90;
  EXPECT_EQ(verdict_of(waits, "bank_conflicts"), Verdict::kRejected);
  waits["bank_conflicts"] = 40;
  EXPECT_EQ(verdict_of(waits, "bank_conflicts"), Verdict::kConfirmed);
  waits["dram_throughput"] = 85;
  EXPECT_EQ(verdict_of(waits, "memory_latency"), Verdict::kRejected);
  waits.erase("dram_throughput");
  EXPECT_EQ(verdict_of(waits, "memory_latency"), Verdict::kUntested);
}

// A unit whose work stays needs its time, whatever is repaired.
TEST(HypothesisValues, NoRangeIsBeyondWhatTheBusiestUnitAllows) {
  HardwareValues values{{"stall_barrier", 60},     {"issue", 0.3},     {"dram_throughput", 10},
                        {"trace_duration_us", 50}, {"l2_sectors", 10}, {"lsu_data", 20}};
  const auto tested = [&values] {
    HardwareValues all = values;
    add_derived_values(all);
    KernelContext kernel;
    kernel.tested = test_hypotheses(all);
    return tested_of(kernel, "barrier_wait");
  };
  EXPECT_NEAR(tested().most_gain().value_or(0), 1 / 0.4, 1e-6);
  for (const char* unit : {"dram_throughput", "l2_sectors", "lsu_data", "tensor", "fp64_pipe"}) {
    const HardwareValues before = values;
    values[unit] = 60;
    EXPECT_NEAR(tested().most_gain().value_or(0), 1 / 0.6, 1e-6) << unit;
    values[unit] = 95;
    EXPECT_EQ(tested().verdict, Verdict::kRejected) << unit;
    values = before;
  }
  values["stall_barrier"] = 31;
  values["lsu_data"] = 79;
  EXPECT_EQ(tested().verdict, Verdict::kConfirmed);
  // A pipe's share of active cycles is no share of the time.
  values = {{"stall_barrier", 60},     {"issue", 0.9},     {"dram_throughput", 10},
            {"trace_duration_us", 50}, {"l2_sectors", 10}, {"lsu_data", 20},
            {"sm_cycles_avg", 50e3},   {"sm_clock", 2e9},  {"duration_us", 50}};
  EXPECT_NEAR(tested().most_gain().value_or(0), 1 / 0.45, 1e-6);
}

TEST(HypothesisValues, WhatSavesLessThanATenthIsNoFault) {
  HardwareValues values{{"waves", 0.97},
                        {"full_waves", 1},
                        {"occupancy", 20},
                        {"issue", 0.3},
                        {"dram_throughput", 10},
                        {"l2_throughput", 20},
                        {"trace_duration_us", 50},
                        {"l2_sectors", 10},
                        {"lsu_data", 20},
                        {"stall_wait", 40},
                        {"stall_barrier", 5},
                        {"sm_imbalance", 1},
                        {"stall_long_scoreboard", 5},
                        {"stall_short_scoreboard", 5}};
  EXPECT_EQ(verdict_of(values, "small_grid"), Verdict::kRejected);
  values["waves"] = 0.6;
  EXPECT_EQ(verdict_of(values, "small_grid"), Verdict::kConfirmed);
}

// A product with few rows is bound by memory whatever the tensor cores do.
TEST(HypothesisValues, TensorCoresAreNotStarvedBelowTheRidge) {
  HardwareValues values{{"tensor", 3},         {"tensor_flop", 4e9},     {"vector_flop", 0},
                        {"dram_read", 1000},   {"dram_written", 0},      {"dram_throughput", 57},
                        {"peak_matrix", 1e15}, {"peak_bandwidth", 5e12}, {"waves", 1},
                        {"full_waves", 1}};
  EXPECT_EQ(verdict_of(values, "tensor_starved"), Verdict::kRejected);
  values["dram_read"] = 10;
  EXPECT_EQ(verdict_of(values, "tensor_starved"), Verdict::kConfirmed);
}

// Bytes of asynchronous copies are not counted, their sectors are.
TEST(HypothesisValues, AsynchronousCopiesAreNotUncoalesced) {
  HardwareValues values{{"load_sectors", 2e6},
                        {"store_sectors", 1e5},
                        {"load_bytes_per_sector", 0},
                        {"store_bytes_per_sector", 32},
                        {"dram_throughput", 20},
                        {"l2_throughput", 74},
                        {"lsu_data", 50}};
  EXPECT_EQ(verdict_of(values, "uncoalesced"), Verdict::kRejected);
  values["load_bytes_per_sector"] = 4;
  EXPECT_EQ(verdict_of(values, "uncoalesced"), Verdict::kConfirmed);
}

// A matrix transposed without shared memory on an H200: no unit is busy, and warps wait for their
// scattered stores to drain. Its near-twins drain stores of whole sectors, or wait for loads.
TEST(HypothesisValues, ScatteredStoresThatDrain) {
  HardwareValues values{{"load_sectors", 2.1e6},
                        {"store_sectors", 16.8e6},
                        {"load_bytes_per_sector", 32},
                        {"store_bytes_per_sector", 4},
                        {"stall_drain", 46},
                        {"stall_long_scoreboard", 36},
                        {"dram_throughput", 11},
                        {"dram_mb", 136},
                        {"l2_throughput", 26},
                        {"l2_sectors", 26},
                        {"issue_busy", 4},
                        {"lsu_data", 29}};
  EXPECT_EQ(verdict_of(values, "uncoalesced"), Verdict::kConfirmed);
  HardwareValues waits_for_loads = values;
  waits_for_loads["stall_drain"] = 3;
  EXPECT_EQ(verdict_of(waits_for_loads, "uncoalesced"), Verdict::kRejected);
  HardwareValues whole_sectors = values;
  whole_sectors["store_bytes_per_sector"] = 32;
  EXPECT_EQ(verdict_of(whole_sectors, "uncoalesced"), Verdict::kRejected);
}

TEST(HypothesisValues, AtomicsThatMeetInOneSector) {
  HardwareValues values{{"atomic_requests", 1e6},   {"atomic_sectors", 1e6},
                        {"load_requests", 1e6},     {"store_requests", 0},
                        {"stall_drain", 48},        {"stall_long_scoreboard", 29},
                        {"stall_membar", 0},        {"stall_short_scoreboard", 21},
                        {"stall_lg_throttle", 0},   {"issue", 0.001},
                        {"dram_throughput", 1},     {"l2_throughput", 1},
                        {"l2_sectors", 1},          {"lsu_data", 1},
                        {"trace_duration_us", 4000}};
  HardwareValues all = values;
  add_derived_values(all);
  const std::vector<TestedHypothesis> ranked = test_hypotheses(all);
  ASSERT_GE(ranked.size(), 2u);
  EXPECT_EQ(ranked[0].hypothesis->id, "atomics");
  EXPECT_EQ(ranked[0].explained_by, "");
  EXPECT_EQ(ranked[1].hypothesis->id, "memory_latency");  // its symptom
  EXPECT_EQ(ranked[1].explained_by, "atomics");
  values["atomic_sectors"] = 8e6;  // each warp's go to several, and still all units are idle
  EXPECT_EQ(verdict_of(values, "atomics"), Verdict::kConfirmed);
  values["l2_sectors"] = 40;  // L2 works: they are spread
  EXPECT_EQ(verdict_of(values, "atomics"), Verdict::kRejected);
  values.erase("atomic_requests");  // a capture without them
  EXPECT_EQ(verdict_of(values, "atomics"), Verdict::kUntested);
}

TEST(HypothesisValues, PipesOfSpecialFunctionsAndFp64) {
  HardwareValues values{{"xu_pipe", 88},
                        {"conversion_instructions", 0},
                        {"thread_instructions", 1e6},
                        {"fp64_instructions", 0},
                        {"fp64_pipe", 0},
                        {"issue", 0.5}};
  EXPECT_EQ(verdict_of(values, "mix_special"), Verdict::kConfirmed);
  EXPECT_EQ(verdict_of(values, "mix_conversion"), Verdict::kRejected);
  EXPECT_EQ(verdict_of(values, "mix_fp64"), Verdict::kRejected);
  values["conversion_instructions"] = 5e5;
  EXPECT_EQ(verdict_of(values, "mix_special"), Verdict::kRejected);
  EXPECT_EQ(verdict_of(values, "mix_conversion"), Verdict::kConfirmed);
  values["fp64_pipe"] = 90;
  EXPECT_EQ(verdict_of(values, "mix_fp64"), Verdict::kConfirmed);
}

}  // namespace
}  // namespace fathom::test
