#include "tree/annotations.h"

#include "checks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using NameViews = std::vector<std::string_view>;
using test::annotation;
using test::cpu_op;

NameViews around(const Annotations& annotations, const EventStore& store, std::string_view event) {
  NameViews names;
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
  EXPECT_EQ(around(annotations, store, "aten::mm"), (NameViews{"layer", "step"}));
  EXPECT_EQ(around(annotations, store, "aten::relu"), NameViews{"step"});
  EXPECT_EQ(around(annotations, store, "aten::add"), NameViews{});
}

TEST(Annotations, OfManyOnlyTheInnermostAreLookedAt) {
  std::vector<std::string> events = {cpu_op("aten::mm", 2000, 5)};
  for (int i = 0; i < 1000; ++i) events.push_back(annotation("a" + std::to_string(i), i, 4000 - i));
  const EventStore store = test::read_trace_text(test::trace_text(events));
  const NameViews names = around(Annotations(store), store, "aten::mm");
  ASSERT_EQ(names.size(), 100);
  EXPECT_EQ(names.front(), "a999");
}

TEST(Annotations, OnlyThoseThatHoldTheWholeEvent) {
  const EventStore store = test::read_trace_text(test::trace_text(
      {annotation("short", 0, 22), annotation("same", 20, 5), cpu_op("aten::mm", 20, 5)}));
  EXPECT_EQ(around(Annotations(store), store, "aten::mm"), NameViews{"same"});
}

TEST(Annotations, OnlyThoseOfTheThread) {
  const EventStore store = test::read_trace_text(
      test::trace_text({annotation("other", 0, 100), cpu_op("aten::mm", 20, 5, "", "2"),
                        test::gpu_annotation("gpu", 0, 100, 7)}));
  EXPECT_EQ(around(Annotations(store), store, "aten::mm"), NameViews{});
}

TEST(Annotations, OnesThatOverlapAreBothAround) {
  const EventStore store = test::read_trace_text(
      test::trace_text({annotation("early", 0, 30), annotation("late", 10, 90),
                        cpu_op("aten::mm", 20, 5), cpu_op("aten::relu", 50, 5)}));
  const Annotations annotations(store);
  EXPECT_EQ(around(annotations, store, "aten::mm"), (NameViews{"late", "early"}));
  EXPECT_EQ(around(annotations, store, "aten::relu"), NameViews{"late"});
}

}  // namespace
}  // namespace fathom
