// What counters confirm is a finding of the trace: the kernel, the cause in the hardware, the
// saving of wall time.
#include "analyze/pipeline.h"
#include "checks.h"
#include "counters/recorded_contexts.h"
#include "test_files.h"

namespace fathom::test {
namespace {

struct FoundInCapture {
  std::vector<Finding> findings;
  Nanos length;
};

FoundInCapture found_in(const std::string& path, bool with_counters = true) {
  const Trace trace = open_trace((source_dir() / path).string()).take();
  const std::vector<CounterFile> files = open_capture_counters(trace).take();
  KernelMeasures measures;
  if (with_counters) measures.add_counters(trace.store, files);
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope, std::move(measures));
  const MeasuredOps ops(input, find_launchers(input));
  const Assessment assessment(input, ops, detect_platform(trace));
  const CriticalPath path_of_trace(input, assessment.base());
  return {find_all(assessment, &path_of_trace), assessment.length()};
}

const Hypothesis& hypothesis(std::string_view id) {
  return *std::ranges::find(hypotheses(), id, &Hypothesis::id);
}

// "" where no finding is about a kernel whose name begins so.
std::string limit_of(const FoundInCapture& found, const std::string& kernel) {
  for (const Finding& f : found.findings) {
    if (f.kind != FindingKind::kKernelLimit || !f.subject.starts_with(kernel)) continue;
    EXPECT_TRUE(f.title.starts_with(f.subject)) << f.title;
    EXPECT_FALSE(f.improve_kernel.empty());
    EXPECT_LT(f.saving_at_least, f.saving_at_most);
    EXPECT_LE(f.saving_at_most, f.time);
    return f.title.substr(f.subject.size() + 2);
  }
  return "";
}

TEST(KernelLimits, APlantedFaultThatCostsWallTimeIsAFindingAndItsTwinIsNone) {
  for (const auto& [pair, id] :
       std::map<std::string, std::string>{{"bank_column", "bank_conflicts"},
                                          {"strided_loads", "uncoalesced"},
                                          {"host_memory", "pcie"},
                                          {"few_blocks", "small_grid"},
                                          {"imbalance", "load_imbalance"},
                                          {"block_sync", "barrier_wait"},
                                          {"local_array", "spills"}}) {
    const FoundInCapture found = found_in("tests/gpu/faults/recorded/" + pair + ".capture");
    EXPECT_EQ(limit_of(found, "fault_" + pair), hypothesis(id).title) << pair;
    EXPECT_EQ(limit_of(found, "twin_" + pair), "") << pair;
  }
}

// A unit at its limit is no fault, and what the GPU waits for is idle time.
TEST(KernelLimits, LimitsAndWaitsAreNone) {
  for (const char* pair : {"dram_precision", "tiny_steps"}) {
    const FoundInCapture found =
        found_in(fmt::format("tests/gpu/faults/recorded/{}.capture", pair));
    EXPECT_EQ(limit_of(found, "fault_"), "") << pair;
  }
}

TEST(KernelLimits, SamplesOfAGraphLaunchTellThatItLeavesTheGpuIdle) {
  const FoundInCapture found = found_in("examples/captures/serve-h200.capture");
  EXPECT_EQ(limit_of(found, "CUDA graph"), hypothesis("sm_idle").title);
  const FoundInCapture uncounted = found_in("examples/captures/serve-h200.capture", false);
  EXPECT_EQ(limit_of(uncounted, "CUDA graph"), "");
}

}  // namespace
}  // namespace fathom::test
