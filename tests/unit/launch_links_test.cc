// Which call put which work on the GPU.
#include <fmt/format.h>

#include "checks.h"
#include "tree/call_tree.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::cpu_op;
using test::event_text;
using test::find_call;
using test::find_event;
using test::kernel;
using test::launch_call;
using test::names_of;
using test::open_events;
using NameList = std::vector<std::string>;

// The name of the call that launched a GPU event, or "".
std::string launch_of(const Trace& t, std::string_view gpu_event) {
  const CallId launch = t.tree.launch(find_event(t.store, gpu_event));
  return launch.valid() ? std::string(t.store.name(t.tree.event(launch))) : "";
}

TEST(LaunchLinks, AKernelBelongsToItsLaunchAndAllAboveIt) {
  const Trace t =
      open_events({cpu_op("outer", 0, 100), cpu_op("aten::mm", 10, 40), launch_call(20, 5, 77),
                   kernel("gemm", 60, 9, 77), cpu_op("idle", 200, 5)});
  EXPECT_EQ(launch_of(t, "gemm"), "cudaLaunchKernel");
  for (const char* call : {"outer", "aten::mm", "cudaLaunchKernel"}) {
    EXPECT_EQ(names_of(t.store, t.tree.launched_in_subtree(find_call(t, call))), NameList{"gemm"});
  }
  EXPECT_EQ(names_of(t.store, t.tree.launched_by(find_call(t, "cudaLaunchKernel"))),
            NameList{"gemm"});
  EXPECT_TRUE(t.tree.launched_by(find_call(t, "aten::mm")).empty());
  EXPECT_TRUE(t.tree.launched_in_subtree(find_call(t, "idle")).empty());
  EXPECT_TRUE(t.tree.unlinked().empty());
}

TEST(LaunchLinks, CopiesMemsetsAndDriverCallsLinkToo) {
  const Trace t = open_events(
      {launch_call(0, 5, 1, "1", "cudaMemcpyAsync"), launch_call(10, 5, 2, "1", "cudaMemsetAsync"),
       event_text("cuda_driver", "cuLaunchKernelEx", 20, 5, R"("correlation":3)"),
       event_text("gpu_memcpy", "Memcpy HtoD", 30, 5, R"("correlation":1)", "0", "7"),
       event_text("gpu_memset", "Memset", 40, 5, R"("correlation":2)", "0", "7"),
       kernel("triton_", 50, 5, 3)});
  EXPECT_EQ(launch_of(t, "Memcpy HtoD"), "cudaMemcpyAsync");
  EXPECT_EQ(launch_of(t, "Memset"), "cudaMemsetAsync");
  EXPECT_EQ(launch_of(t, "triton_"), "cuLaunchKernelEx");
}

TEST(LaunchLinks, AGraphLaunchOwnsEveryEventOfItsCorrelation) {
  std::vector<std::string> events = {launch_call(0, 5, 9, "1", "cudaGraphLaunch"),
                                     launch_call(10, 5, 10)};
  for (int i = 0; i < 421; ++i) {
    // Written last first: they must come out in the order of time.
    events.push_back(kernel(fmt::format("k{}", 420 - i), 1000 - i, 1, 9));
  }
  events.push_back(kernel("other", 2000, 1, 10));
  const Trace t = open_events(events);
  const auto launched = t.tree.launched_by(find_call(t, "cudaGraphLaunch"));
  ASSERT_EQ(launched.size(), 421u);
  for (size_t i = 1; i < launched.size(); ++i) {
    EXPECT_LT(t.store.start(launched[i - 1]), t.store.start(launched[i]));
  }
  EXPECT_EQ(names_of(t.store, t.tree.launched_by(find_call(t, "cudaLaunchKernel"))),
            NameList{"other"});
  EXPECT_EQ(t.tree.linked().size(), 422u);
  EXPECT_EQ(t.tree.diagnostics().count(Flaw::kAmbiguousCorrelation), 0);
}

TEST(LaunchLinks, LinkedWorkComesInTheOrderOfTheCalls) {
  const Trace t =
      open_events({kernel("second", 50, 5, 2), launch_call(10, 5, 1), launch_call(20, 5, 2),
                   kernel("first", 90, 5, 1), launch_call(30, 5, 3), kernel("third", 40, 5, 3)});
  EXPECT_EQ(names_of(t.store, t.tree.linked()), (NameList{"first", "second", "third"}));
}

// Correlation ids restart in each process.
TEST(LaunchLinks, OfSeveralLaunchesTheLatestBeforeTheWork) {
  const Trace t = open_events(
      {event_text("cuda_runtime", "of process 1", 10, 5, R"("correlation":5)", "1", "1"),
       event_text("cuda_runtime", "of process 2", 100, 5, R"("correlation":5)", "2", "1"),
       kernel("early", 50, 5, 5), kernel("late", 150, 5, 5), kernel("before both", 1, 2, 5)});
  EXPECT_EQ(launch_of(t, "early"), "of process 1");
  EXPECT_EQ(launch_of(t, "late"), "of process 2");
  EXPECT_EQ(launch_of(t, "before both"), "of process 1");
  EXPECT_EQ(t.tree.diagnostics().count(Flaw::kAmbiguousCorrelation), 3);
  EXPECT_TRUE(t.tree.unlinked().empty());
}

// A few microseconds are the error of clocks that were brought together.
TEST(LaunchLinks, WorkBeforeItsLaunchIsNoted) {
  const auto noted = [](int64_t start) {
    const Trace t = open_events({launch_call(100, 5, 1), kernel("k", start, 5, 1)});
    EXPECT_EQ(t.tree.linked().size(), 1u);
    return t.tree.diagnostics().count(Flaw::kBeforeItsLaunch);
  };
  EXPECT_EQ(noted(110), 0);
  EXPECT_EQ(noted(85), 0);
  EXPECT_EQ(noted(70), 1);
}

TEST(LaunchLinks, OldTracesLinkByTheExternalId) {
  const Trace t =
      open_events({event_text("Runtime", "cudaLaunchKernel", 10, 5, R"("External id":"12")"),
                   event_text("Runtime", "cudaMemcpyAsync", 20, 5, R"("external id":13)"),
                   event_text("Kernel", "old", 50, 5, R"("External id":12)", "0", "7"),
                   event_text("Memcpy", "copy", 60, 5, R"("External id":"13")", "0", "7")});
  EXPECT_EQ(launch_of(t, "old"), "cudaLaunchKernel");
  EXPECT_EQ(launch_of(t, "copy"), "cudaMemcpyAsync");
}

TEST(LaunchLinks, TheCorrelationIsTriedBeforeTheExternalId) {
  const Trace t = open_events(
      {event_text("cuda_runtime", "right", 10, 5, R"("External id":1,"correlation":2)"),
       event_text("cuda_runtime", "wrong", 20, 5, R"("External id":3,"correlation":4)"),
       event_text("kernel", "k", 50, 5, R"("External id":3,"correlation":2)", "0", "7")});
  EXPECT_EQ(launch_of(t, "k"), "right");
}

TEST(LaunchLinks, CorrelationsAndExternalIdsAreDifferentNumbers) {
  const Trace t = open_events(
      {launch_call(10, 5, 5), event_text("kernel", "k", 50, 5, R"("External id":5)", "0", "7")});
  EXPECT_EQ(launch_of(t, "k"), "");
}

TEST(LaunchLinks, OnlyLaunchesLaunch) {
  const Trace t = open_events(
      {cpu_op("aten::mm", 0, 100, R"("correlation":5,"External id":5)"), kernel("k", 50, 5, 5)});
  EXPECT_EQ(launch_of(t, "k"), "");
}

TEST(LaunchLinks, WorkWithoutALaunchIsKeptAndCounted) {
  const Trace t = open_events({kernel("no such launch", 10, 5, 99), launch_call(20, 5, 1),
                               kernel("linked", 30, 5, 1),
                               event_text("gpu_memset", "no key", 40, 5, "", "0", "7")});
  EXPECT_EQ(names_of(t.store, t.tree.unlinked()), (NameList{"no such launch", "no key"}));
  EXPECT_EQ(names_of(t.store, t.tree.linked()), NameList{"linked"});
  EXPECT_EQ(t.tree.diagnostics().count(Flaw::kUnlinkedGpuEvent), 2);
}

TEST(LaunchLinks, KeysBeyond53BitsStayDifferent) {
  const Trace t = open_events(
      {event_text("cuda_runtime", "even", 1, 1, R"("correlation":9007199254740992)"),
       event_text("cuda_runtime", "odd", 3, 1, R"("correlation":9007199254740993)"),
       event_text("kernel", "k", 50, 5, R"("correlation":9007199254740993)", "0", "7")});
  EXPECT_EQ(launch_of(t, "k"), "odd");
}

TEST(LaunchLinks, ALaunchOutsideAnyOpIsItsOwnRoot) {
  const Trace t = open_events({launch_call(10, 5, 1), kernel("k", 30, 5, 1)});
  EXPECT_EQ(test::parent_name(t, "cudaLaunchKernel"), "");
  EXPECT_EQ(launch_of(t, "k"), "cudaLaunchKernel");
  EXPECT_FALSE(t.tree.enclosing_op(find_call(t, "cudaLaunchKernel")).valid());
}

}  // namespace
}  // namespace fathom
