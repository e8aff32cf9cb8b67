#include "tree/forward_backward.h"

#include "checks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::cpu_op;
using test::find_event;
using test::open_events;

constexpr const char* kEvaluate = "autograd::engine::evaluate_function: MmBackward0";

std::string numbered(std::string_view name, int64_t start, int64_t sequence,
                     std::string_view thread) {
  return cpu_op(name, start, 10, R"("Sequence number":)" + std::to_string(sequence), thread);
}

// The name of the forward op that the gradient is linked to, or "".
std::string forward_name(const std::vector<std::string>& events) {
  const Trace t = open_events(events);
  const auto links = link_backward_to_forward(t.store);
  const auto found = links.find(find_event(t.store, kEvaluate));
  return found == links.end() ? "" : std::string(t.store.name(found->second));
}

TEST(BackwardLinks, BySequenceNumber) {
  EXPECT_EQ(forward_name({numbered("aten::relu", 0, 4, "1"), numbered("aten::mm", 20, 5, "1"),
                          numbered("aten::add", 40, 6, "1"), numbered(kEvaluate, 100, 5, "2")}),
            "aten::mm");
}

TEST(BackwardLinks, TheLastForwardOpBegunBefore) {
  EXPECT_EQ(
      forward_name({numbered("aten::linear", 10, 5, "1"), numbered("aten::addmm", 12, 5, "1"),
                    numbered("next iteration", 200, 5, "1"), numbered(kEvaluate, 100, 5, "2")}),
      "aten::addmm");
}

TEST(BackwardLinks, NotToAnOpOfTheSameThread) {
  EXPECT_EQ(forward_name({numbered("aten::mm", 10, 5, "1"), numbered("MmBackward0", 50, 5, "2"),
                          numbered(kEvaluate, 100, 5, "2")}),
            "aten::mm");
  EXPECT_EQ(forward_name({numbered("MmBackward0", 50, 5, "2"), numbered(kEvaluate, 100, 5, "2")}),
            "");
}

TEST(BackwardLinks, WithoutASequenceNumberThereIsNone) {
  EXPECT_EQ(forward_name({cpu_op("aten::mm", 10, 5), numbered(kEvaluate, 100, 5, "2")}), "");
  EXPECT_EQ(forward_name({numbered("aten::mm", 10, 5, "1"), cpu_op(kEvaluate, 100, 5, "", "2")}),
            "");
}

TEST(BackwardLinks, OnlyAutogradsOwnEventsHaveOne) {
  const Trace t =
      open_events({numbered("aten::mm", 10, 5, "1"), numbered("MmBackward0", 100, 5, "2"),
                   numbered(kEvaluate, 99, 5, "2")});
  const auto links = link_backward_to_forward(t.store);
  EXPECT_EQ(links.size(), 1u);
  EXPECT_TRUE(links.contains(find_event(t.store, kEvaluate)));
}

}  // namespace
}  // namespace fathom
