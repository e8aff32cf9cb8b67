#include "sheets/op_groups.h"

#include "checks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::annotation;
using test::cpu_op;
using test::kernel;
using test::launch_call;

constexpr const char* kMatrices =
    R"("Input Dims":[[2,3],[3,4]],"Input type":["c10::BFloat16","c10::BFloat16"])";
constexpr const char* kLinear =
    R"("Input Dims":[[2,3],[4,3],[]],"Input type":["c10::BFloat16","c10::BFloat16",""])";
constexpr const char* kAttention =
    R"("Input Dims":[[10,4,8],[10,2,8],[10,2,8],[10,4,8]],)"
    R"("Input type":["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16"])";

struct NamedGroup {
  std::string name;
  std::optional<Cost> cost;
  size_t calls;
};

std::vector<NamedGroup> groups_of(const std::vector<std::string>& events) {
  const Trace trace = test::open_events(events);
  const Scope scope;
  const SheetInput input{trace.store, trace.tree, scope};
  const MeasuredOps ops(input, find_launchers(input));
  std::vector<NamedGroup> groups;
  for (const OpGroup& group : ops.groups()) {
    groups.push_back({std::string(group.key.name), group.cost, group.calls.size()});
  }
  return groups;
}

// op_costs.tsv has rows for aten::linear and aten::softmax; op_catalog.tsv does not take them.
TEST(OpGroups, ACostDoesNotMakeAnOpARow) {
  const auto groups =
      groups_of({cpu_op("aten::linear", 0, 50, kLinear), cpu_op("aten::mm", 10, 20, kMatrices),
                 launch_call(12, 2, 1), kernel("gemm", 100, 10, 1)});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].name, "aten::mm");
  ASSERT_TRUE(groups[0].cost);
  EXPECT_EQ(groups[0].cost->flops, 48);
  const auto softmax = groups_of({cpu_op("aten::softmax", 0, 50, kMatrices),
                                  cpu_op("aten::_softmax", 10, 20, kMatrices),
                                  launch_call(12, 2, 1), kernel("softmax", 100, 10, 1)});
  ASSERT_EQ(softmax.size(), 1u);
  EXPECT_EQ(softmax[0].name, "aten::_softmax");
}

TEST(OpGroups, AnOpWithoutACostIsARowAllTheSame) {
  const auto groups = groups_of(
      {cpu_op("my::op", 0, 50, kMatrices), launch_call(12, 2, 1), kernel("kernel", 100, 10, 1)});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].name, "my::op");
  EXPECT_FALSE(groups[0].cost);
}

std::vector<std::string> attention_at(int64_t time, int64_t correlation) {
  return {cpu_op("vllm::unified_attention_with_output", time, 20, kAttention),
          launch_call(time + 2, 2, correlation), kernel("fmha", time + 50, 10, correlation)};
}

TEST(OpGroups, CallsUnderDifferentAnnotationsCostTheirMean) {
  std::vector<std::string> events = {
      annotation("execute_context_0(0)_generation_1(1_10)", 0, 100),
      annotation("execute_context_0(0)_generation_1(1_30)", 1000, 100)};
  for (const auto& call : {attention_at(10, 1), attention_at(40, 2), attention_at(1010, 3)}) {
    events.insert(events.end(), call.begin(), call.end());
  }
  const auto groups = groups_of(events);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].calls, 3u);
  ASSERT_TRUE(groups[0].cost);
  // 2 · 4 heads · 16 · keys: twice with 10, once with 30
  EXPECT_DOUBLE_EQ(groups[0].cost->flops, 2 * 4 * 16 * (10 + 10 + 30) / 3.0);
  EXPECT_EQ(groups[0].cost->assumption, "the mean of calls under different annotations");
}

TEST(OpGroups, AMeanNeedsAllCalls) {
  std::vector<std::string> events = {annotation("execute_context_0(0)_generation_1(1_10)", 0, 100)};
  for (const auto& call : {attention_at(10, 1), attention_at(1010, 3)}) {
    events.insert(events.end(), call.begin(), call.end());
  }
  const auto groups = groups_of(events);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_FALSE(groups[0].cost);
}

TEST(OpGroups, OpsBelowTellWhatArgumentsDoNot) {
  const char* empty =
      R"("Input Dims":[[],[]],"Input type":["ScalarList","Scalar"],"Concrete Inputs":["%","15"])";
  const auto buffer = [empty](int64_t time, const std::string& sizes) {
    std::string args = empty;
    args.replace(args.find('%'), 1, sizes);
    return cpu_op("aten::empty", time, 1, args);
  };
  const auto groups = groups_of(
      {cpu_op("vllm::moe_forward", 0, 50,
              R"("Input Dims":[[4,6],[4,4],[]],"Input type":["c10::BFloat16","c10::BFloat16",""])"),
       buffer(2, "[4, 2]"), buffer(4, "[16, 5]"), buffer(6, "[16, 6]"), launch_call(12, 2, 1),
       kernel("bmm", 100, 10, 1)});
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_TRUE(groups[0].cost);
  EXPECT_EQ(groups[0].cost->flops, 2 * 8 * 30 * 3);
}

}  // namespace
}  // namespace fathom
