#include "tree/call_tree.h"

#include <fmt/format.h>

#include <random>

#include "checks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::cpu_op;
using test::event_text;
using test::find_call;
using test::find_event;
using test::launch_call;
using test::open_events;
using test::parent_name;

int64_t partial_overlaps(const Trace& trace) {
  return trace.tree.diagnostics().count(Flaw::kPartialOverlap);
}

TEST(CallNesting, AnInnerCallIsAChild) {
  const Trace t = open_events({cpu_op("inner", 20, 10), cpu_op("outer", 0, 100),
                               cpu_op("second", 40, 10), cpu_op("innermost", 22, 2)});
  EXPECT_EQ(parent_name(t, "outer"), "");
  EXPECT_EQ(parent_name(t, "inner"), "outer");
  EXPECT_EQ(parent_name(t, "innermost"), "inner");
  EXPECT_EQ(parent_name(t, "second"), "outer");
  EXPECT_EQ(partial_overlaps(t), 0);
}

TEST(CallNesting, OfEqualStartsTheLongerIsOutside) {
  const Trace t =
      open_events({cpu_op("short", 10, 5), cpu_op("long", 10, 50), cpu_op("middle", 10, 20)});
  EXPECT_EQ(parent_name(t, "long"), "");
  EXPECT_EQ(parent_name(t, "middle"), "long");
  EXPECT_EQ(parent_name(t, "short"), "middle");
}

TEST(CallNesting, OfEqualCallsTheFirstInTheFileIsOutside) {
  const Trace t = open_events({cpu_op("first", 10, 5), cpu_op("second", 10, 5)});
  EXPECT_EQ(parent_name(t, "first"), "");
  EXPECT_EQ(parent_name(t, "second"), "first");
}

TEST(CallNesting, EqualEndsNest) {
  const Trace t = open_events({cpu_op("outer", 0, 100), cpu_op("inner", 60, 40)});
  EXPECT_EQ(parent_name(t, "inner"), "outer");
}

TEST(CallNesting, CallsThatTouchAreSiblings) {
  const Trace t = open_events({cpu_op("outer", 0, 100), cpu_op("a", 0, 50), cpu_op("b", 50, 50)});
  EXPECT_EQ(parent_name(t, "a"), "outer");
  EXPECT_EQ(parent_name(t, "b"), "outer");
}

TEST(CallNesting, ACallWithoutDurationIsInsideAndHoldsNothing) {
  const Trace t =
      open_events({cpu_op("outer", 0, 100), cpu_op("none", 10, 0), cpu_op("with it", 10, 5),
                   cpu_op("none too", 30, 0), cpu_op("none after", 30, 0)});
  EXPECT_EQ(parent_name(t, "with it"), "outer");
  EXPECT_EQ(parent_name(t, "none"), "with it");
  EXPECT_EQ(parent_name(t, "none too"), "outer");
  EXPECT_EQ(parent_name(t, "none after"), "outer");
}

TEST(CallNesting, APartialOverlapIsASiblingAndIsCounted) {
  const Trace t = open_events({cpu_op("outer", 0, 100), cpu_op("early", 10, 20),
                               cpu_op("late", 25, 20), cpu_op("in late", 35, 5)});
  EXPECT_EQ(parent_name(t, "early"), "outer");
  EXPECT_EQ(parent_name(t, "late"), "outer");
  EXPECT_EQ(parent_name(t, "in late"), "late");
  EXPECT_EQ(partial_overlaps(t), 1);
  EXPECT_EQ(t.tree.diagnostics().all().front().example, "late");
}

// A parent must be around its child in time, or the parent's subtree would be charged with GPU work
// that was launched after it had ended.
TEST(CallNesting, ACallThatOutlastsSeveralOpenCallsIsInsideNoneOfThem) {
  const Trace t = open_events({cpu_op("outer", 0, 100), cpu_op("inner", 10, 90),
                               cpu_op("late", 95, 30), launch_call(110, 5, 1)});
  EXPECT_EQ(parent_name(t, "inner"), "outer");
  EXPECT_EQ(parent_name(t, "late"), "");
  EXPECT_EQ(parent_name(t, "cudaLaunchKernel"), "late");
  EXPECT_EQ(partial_overlaps(t), 1);
}

TEST(CallNesting, ThreadsAndProcessesDoNotMix) {
  const Trace t = open_events({cpu_op("a", 0, 100), cpu_op("other thread", 10, 10, "", "2"),
                               event_text("cpu_op", "other process", 20, 10, "", "2", "1"),
                               cpu_op("same thread", 30, 10)});
  EXPECT_EQ(parent_name(t, "other thread"), "");
  EXPECT_EQ(parent_name(t, "other process"), "");
  EXPECT_EQ(parent_name(t, "same thread"), "a");
}

TEST(CallNesting, RuntimeAndDriverCallsNestToo) {
  const Trace t = open_events({cpu_op("aten::mm", 0, 100), launch_call(10, 20, 1),
                               event_text("cuda_driver", "cuLaunchKernel", 12, 5)});
  EXPECT_EQ(parent_name(t, "cudaLaunchKernel"), "aten::mm");
  EXPECT_EQ(parent_name(t, "cuLaunchKernel"), "cudaLaunchKernel");
  EXPECT_EQ(t.tree.enclosing_op(find_call(t, "cuLaunchKernel")), find_call(t, "aten::mm"));
  EXPECT_EQ(t.tree.enclosing_op(find_call(t, "aten::mm")), find_call(t, "aten::mm"));
  EXPECT_FALSE(t.tree.enclosing_op(CallId{}).valid());
}

TEST(CallNesting, AnnotationsAreNoCalls) {
  const Trace t = open_events({test::annotation("ProfilerStep#1", 0, 100), cpu_op("op", 10, 10)});
  EXPECT_EQ(t.tree.size(), 1u);
  EXPECT_FALSE(t.tree.call(find_event(t.store, "ProfilerStep#1")).valid());
  EXPECT_EQ(parent_name(t, "op"), "");
}

std::string python_frame(std::string_view name, int64_t start, int64_t duration) {
  return event_text("python_function", name, start, duration, R"("Python id":1)");
}

TEST(PythonFrames, ACallKnowsTheInnermostFrame) {
  const Trace t = open_events({python_frame("main.py(1)", 0, 100), cpu_op("op", 20, 50),
                               python_frame("model.py(7)", 10, 80), cpu_op("outside", 200, 5)});
  EXPECT_EQ(t.store.name(t.tree.frame(find_call(t, "op"))), "model.py(7)");
  EXPECT_EQ(t.tree.parent_frame(find_event(t.store, "model.py(7)")),
            find_event(t.store, "main.py(1)"));
  EXPECT_FALSE(t.tree.parent_frame(find_event(t.store, "main.py(1)")).valid());
  EXPECT_FALSE(t.tree.frame(find_call(t, "outside")).valid());
  EXPECT_EQ(parent_name(t, "op"), "") << "a frame is no call";
}

TEST(PythonFrames, AFrameThatEndsTooEarlyTearsNoCallsApart) {
  const Trace t = open_events(
      {cpu_op("outer", 0, 100), python_frame("forward", 1, 20), cpu_op("inner", 10, 30)});
  EXPECT_EQ(parent_name(t, "inner"), "outer");
  EXPECT_EQ(partial_overlaps(t), 0);
}

// Sixty ops at random on two threads.
Trace random_calls(std::mt19937& random) {
  std::vector<std::string> events;
  for (int i = 0; i < 60; ++i) {
    events.push_back(cpu_op(fmt::format("op{}", i), random() % 50, random() % 30, "",
                            random() % 2 == 0 ? "1" : "2"));
  }
  return open_events(events);
}

// Trees of random calls: a subtree is exactly the calls whose chain of parents meets its root.
TEST(CallSubtrees, AreRangesOfDescendants) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 20; ++trial) {
    const Trace t = random_calls(random);
    ASSERT_EQ(t.tree.size(), 60u);
    for (size_t root = 0; root < t.tree.size(); ++root) {
      for (size_t i = 0; i < t.tree.size(); ++i) {
        CallId at(i);
        while (at.valid() && at != CallId(root)) at = t.tree.parent(at);
        const bool in_range = i >= root && CallId(i) < t.tree.subtree_end(CallId(root));
        ASSERT_EQ(in_range, at.valid()) << "call " << i << " below " << root;
      }
    }
  }
}

TEST(CallSubtrees, AParentIsAroundItsChildOnTheSameThread) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 20; ++trial) {
    const Trace t = random_calls(random);
    for (size_t i = 0; i < t.tree.size(); ++i) {
      const CallId parent = t.tree.parent(CallId(i));
      if (!parent.valid()) continue;
      const EventId child = t.tree.event(CallId(i)), around = t.tree.event(parent);
      EXPECT_EQ(t.store.track_id(child), t.store.track_id(around));
      EXPECT_LE(t.store.start(around), t.store.start(child));
      ASSERT_GE(t.store.end(around).count, t.store.end(child).count)
          << t.store.name(child) << " outlasts " << t.store.name(around);
    }
  }
}

}  // namespace
}  // namespace fathom
