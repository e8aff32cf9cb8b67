#include "checks.h"
#include "sheets/sheets.h"
#include "small_trace.h"

namespace fathom {
namespace {

std::string named(std::string_view pid, std::string_view process) {
  return R"({"ph":"M","pid":)" + std::string(pid) + R"(,"name":"process_name","args":{"name":")" +
         std::string(process) + "\"}}";
}
std::string thread(std::string_view pid, std::string_view tid, std::string_view name) {
  return R"({"ph":"M","pid":)" + std::string(pid) + R"(,"tid":)" + std::string(tid) +
         R"(,"name":"thread_name","args":{"name":")" + std::string(name) + "\"}}";
}
std::string event(std::string_view pid, std::string_view tid, std::string_view name, int start,
                  int duration, std::string_view args = "") {
  return R"({"ph":"X","pid":)" + std::string(pid) + R"(,"tid":)" + std::string(tid) + R"(,"ts":)" +
         std::to_string(start) + R"(,"dur":)" + std::to_string(duration) + R"(,"name":")" +
         std::string(name) + R"(","args":{)" + std::string(args) + "}}";
}

const std::vector<std::string> kJax = {
    named("1", "/device:GPU:0"),
    named("701", "/host:CPU"),
    thread("1", "13", "Stream #13(Compute)"),
    thread("1", "90", "XLA Modules"),
    thread("701", "5", "python"),
    event("1", "13", "loop_add_fusion", 100, 50,
          R"("correlation_id":"42","kernel_details":"regs:16 static_shared:0 dynamic_shared:1024 )"
          R"(grid:4,2,1 block:128,1,1 occ_pct:50","hlo_op":"fusion")"),
    event(
        "1", "13", "MemcpyH2D", 200, 10,
        R"("correlation_id":"43","memcpy_details":"kind_src:pageable kind_dst:device size:24 dest:0 async:1")"),
    event("1", "90", "jit_f(123)", 100, 110),
    event("701", "5", "cuLaunchKernel", 60, 5, R"("correlation_id":"42")"),
    event("701", "5", "PjitFunction(f)", 50, 100),
    event("701", "5", "$train.py:10 step", 40, 200),
};

void expect_jax(const EventStore& s) {
  const EventId kernel = test::find_event(s, "loop_add_fusion");
  EXPECT_EQ(s.kind(kernel), EventKind::kKernel);
  EXPECT_EQ(s.gpu_work(kernel).device, 0);
  EXPECT_EQ(s.gpu_work(kernel).stream, 13);
  EXPECT_EQ(s.gpu_work(kernel).registers, 16);
  EXPECT_EQ(s.gpu_work(kernel).shared_memory, 1024);
  EXPECT_EQ(s.gpu_work(kernel).grid->y, 2u);
  const EventId copy = test::find_event(s, "MemcpyH2D");
  EXPECT_EQ(s.kind(copy), EventKind::kMemcpy);
  EXPECT_EQ(s.gpu_work(copy).bytes, 24);
  // A line that tells of the same time again is no work.
  EXPECT_EQ(s.kind(test::find_event(s, "jit_f(123)")), EventKind::kGpuAnnotation);
  EXPECT_EQ(s.kind(test::find_event(s, "cuLaunchKernel")), EventKind::kDriver);
  EXPECT_EQ(s.kind(test::find_event(s, "PjitFunction(f)")), EventKind::kAnnotation);
  EXPECT_EQ(s.kind(test::find_event(s, "$train.py:10 step")), EventKind::kPython);
  const CallTree tree = build_call_tree(s);
  ASSERT_TRUE(tree.launch(kernel).valid());
  EXPECT_EQ(s.name(tree.event(tree.launch(kernel))), "cuLaunchKernel");
  EXPECT_EQ(s.metadata().source, "XLA profiler (JAX, TensorFlow)");
  EXPECT_EQ(s.diagnostics().count(Flaw::kUnknownCategory), 0);
}

TEST(XlaTrace, TheEmptyEventAtItsEndIsNoLoss) {
  std::vector<std::string> events(std::begin(kJax), std::end(kJax));
  events.emplace_back("{}");
  const EventStore store = test::read_trace_text(test::trace_text(events));
  EXPECT_EQ(store.diagnostics().count(Flaw::kMissingTime), 0);
  events.back() = R"({"ph":"X","name":"lost"})";
  EXPECT_EQ(test::read_trace_text(test::trace_text(events)).diagnostics().count(Flaw::kMissingTime),
            1);
}

TEST(XlaTrace, KindsComeFromProcessesAndThreads) {
  expect_jax(test::read_trace_text(test::trace_text(kJax)));
}

// Names may come last, and in another chunk than the events.
TEST(XlaTrace, NamesMayComeLast) {
  std::vector<std::string> events(kJax.begin() + 5, kJax.end());
  events.insert(events.end(), kJax.begin(), kJax.begin() + 5);
  const std::string text = test::trace_text(events);
  expect_jax(test::read_trace_text(text));
}

TEST(XlaTrace, ATpuHasOpsInsteadOfStreams) {
  const EventStore s = test::read_trace_text(test::trace_text(
      {named("3", "/device:TPU:1"), thread("3", "1", "XLA Modules"), thread("3", "2", "XLA Ops"),
       event("3", "1", "jit_f", 1, 9), event("3", "2", "fusion.1", 2, 3)}));
  EXPECT_EQ(s.kind(test::find_event(s, "fusion.1")), EventKind::kKernel);
  EXPECT_EQ(s.gpu_work(test::find_event(s, "fusion.1")).device, 1);
  EXPECT_EQ(s.kind(test::find_event(s, "jit_f")), EventKind::kGpuAnnotation);
}

// The near-twin: events without a category in another trace are kept and used by no sheet.
TEST(XlaTrace, OtherEventsWithoutACategoryStayOther) {
  const EventStore s = test::read_trace_text(test::trace_text(
      {named("1", "device 0"), event("1", "13", "x", 1, 2), test::cpu_op("a", 1, 2)}));
  EXPECT_EQ(s.kind(test::find_event(s, "x")), EventKind::kOther);
  EXPECT_EQ(s.diagnostics().count(Flaw::kUnknownCategory), 1);
  EXPECT_EQ(s.metadata().source, "PyTorch profiler");
}

TEST(KinetoCounters, ValuesAreKept) {
  const EventStore s = test::read_trace_text(test::trace_text(
      {R"({"ph":"C","cat":"hardware_counters","name":"GPU","pid":0,"tid":0,"ts":5,"args":{"util":12.5,"mem":"3","note":"x","deep":{"a":1}}})",
       R"({"ph":"X","cat":"cuda_profiler_range","name":"range","pid":0,"tid":0,"ts":5,"dur":2,"args":{"smsp__inst_executed.sum":100,"dram__bytes.sum":2.5e9}})",
       test::kernel("k", 1, 2, 3)}));
  const EventId counter = test::find_event(s, "GPU"), range = test::find_event(s, "range");
  EXPECT_EQ(s.kind(counter), EventKind::kCounter);
  ASSERT_EQ(s.counters(counter).size(), 2u);
  EXPECT_EQ(s.text(s.counters(counter)[0].name), "util");
  EXPECT_EQ(s.counters(counter)[0].value, 12.5);
  EXPECT_EQ(s.counters(counter)[1].value, 3);
  EXPECT_EQ(s.kind(range), EventKind::kProfilerRange);
  ASSERT_EQ(s.counters(range).size(), 2u);
  EXPECT_EQ(s.text(s.counters(range)[1].name), "dram__bytes.sum");
  EXPECT_EQ(s.counters(range)[1].value, 2.5e9);
  EXPECT_EQ(s.counters(test::find_event(s, "k")).size(), 0u);
  EXPECT_EQ(s.diagnostics().skipped_events(), 0);
  const CallTree tree = build_call_tree(s);
  const Scope everything;
  const std::vector<Table> sheets = counter_sheets(SheetInput(s, tree, everything));
  ASSERT_EQ(sheets.size(), 1u);
  EXPECT_EQ(sheets[0].rows(), 4u);
}

}  // namespace
}  // namespace fathom
