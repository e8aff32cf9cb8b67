#include "tree/annotations.h"

#include <gtest/gtest.h>

#include "unit/small_trace.h"

namespace fathom {
namespace {

using Names = std::vector<std::string_view>;
using test::annotation;
using test::cpu_op;

Names around(const Annotations& annotations, const EventStore& store, std::string_view event) {
  Names names;
  for (EventId e : annotations.around(test::find_event(store, event))) {
    names.push_back(store.name(e));
  }
  return names;
}

TEST(Annotations, TheInnermostComesFirst) {
  const EventStore store = test::read_trace_text(test::trace_text(
      {annotation("step", 0, 100), annotation("layer", 10, 40), annotation("before", 12, 3),
       cpu_op("aten::mm", 20, 5), cpu_op("aten::relu", 60, 5), cpu_op("aten::add", 200, 5)}));
  const Annotations annotations(store);
  EXPECT_EQ(around(annotations, store, "aten::mm"), (Names{"layer", "step"}));
  EXPECT_EQ(around(annotations, store, "aten::relu"), Names{"step"});
  EXPECT_EQ(around(annotations, store, "aten::add"), Names{});
}

TEST(Annotations, OfManyOnlyTheInnermostAreLookedAt) {
  std::vector<std::string> events = {cpu_op("aten::mm", 2000, 5)};
  for (int i = 0; i < 1000; ++i) events.push_back(annotation("a" + std::to_string(i), i, 4000 - i));
  const EventStore store = test::read_trace_text(test::trace_text(events));
  const Names names = around(Annotations(store), store, "aten::mm");
  ASSERT_EQ(names.size(), 100);
  EXPECT_EQ(names.front(), "a999");
}

TEST(Annotations, OnlyThoseThatHoldTheWholeEvent) {
  const EventStore store = test::read_trace_text(test::trace_text(
      {annotation("short", 0, 22), annotation("same", 20, 5), cpu_op("aten::mm", 20, 5)}));
  EXPECT_EQ(around(Annotations(store), store, "aten::mm"), Names{"same"});
}

TEST(Annotations, OnlyThoseOfTheThread) {
  const EventStore store = test::read_trace_text(
      test::trace_text({annotation("other", 0, 100), cpu_op("aten::mm", 20, 5, "", "2"),
                        test::gpu_annotation("gpu", 0, 100, 7)}));
  EXPECT_EQ(around(Annotations(store), store, "aten::mm"), Names{});
}

TEST(Annotations, OnesThatOverlapAreBothAround) {
  const EventStore store = test::read_trace_text(
      test::trace_text({annotation("early", 0, 30), annotation("late", 10, 90),
                        cpu_op("aten::mm", 20, 5), cpu_op("aten::relu", 50, 5)}));
  const Annotations annotations(store);
  EXPECT_EQ(around(annotations, store, "aten::mm"), (Names{"late", "early"}));
  EXPECT_EQ(around(annotations, store, "aten::relu"), Names{"late"});
}

}  // namespace
}  // namespace fathom
