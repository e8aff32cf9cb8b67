#include "cost/op_args.h"

#include "checks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using Ints = std::vector<int64_t>;

std::optional<OpArgs> args_of(const std::string& fields) {
  const EventStore store =
      test::read_trace_text(test::trace_text({test::cpu_op("aten::x", 10, 20, fields)}));
  return read_op_args(store, store.args_id(EventId(0)));
}

TEST(OpArgs, TensorsScalarsAndLists) {
  const auto args = args_of(
      R"("Input Dims":[[2,3],[],[[4,5],[6]]],"Input type":["c10::BFloat16","Scalar","TensorList"],)"
      R"("Input Strides":[[3,1],[],[[5,1],[1]]],"Concrete Inputs":["","-1",""])");
  ASSERT_TRUE(args);
  ASSERT_EQ(args->inputs.size(), 3u);
  EXPECT_EQ(args->inputs[0].shape.dims, (Ints{2, 3}));
  EXPECT_EQ(args->inputs[0].shape.strides, (Ints{3, 1}));
  EXPECT_EQ(args->inputs[0].type, "c10::BFloat16");
  EXPECT_TRUE(args->inputs[0].is_tensor());
  EXPECT_FALSE(args->inputs[1].is_tensor());
  EXPECT_EQ(args->inputs[1].concrete, "-1");
  ASSERT_EQ(args->inputs[2].list.size(), 2u);
  EXPECT_EQ(args->inputs[2].list[0].dims, (Ints{4, 5}));
  EXPECT_EQ(args->inputs[2].list[1].strides, (Ints{1}));
  EXPECT_EQ(args->at(3), nullptr);
}

TEST(OpArgs, WithoutShapesThereAreNone) {
  EXPECT_FALSE(args_of(R"("Sequence number":5)"));
  EXPECT_FALSE(args_of(R"("Input Dims":"[[2,3]]")"));
  EXPECT_FALSE(args_of(R"("Input Dims":[[2,-3]])")) << "a negative size is no size";
  EXPECT_FALSE(args_of(R"("Input Dims":[[[[[[[[[[[[2]]]]]]]]]]]])"));
}

TEST(OpArgs, MissingFieldsLeaveTheRest) {
  const auto args = args_of(R"("Input Dims":[[2,3],[4]])");
  ASSERT_TRUE(args);
  EXPECT_EQ(args->inputs[1].shape.dims, (Ints{4}));
  EXPECT_TRUE(args->inputs[1].shape.strides.empty());
  EXPECT_EQ(args->inputs[1].type, "");
}

TEST(OpArgs, IntegerLists) {
  EXPECT_EQ(read_int_list("[1, -1]"), (Ints{1, -1}));
  EXPECT_EQ(read_int_list("[]"), Ints{});
  EXPECT_FALSE(read_int_list("[1, 2.5]"));
  EXPECT_FALSE(read_int_list("1"));
  EXPECT_FALSE(read_int_list("[1, 2"));
}

TEST(OpArgs, CountsThatOverflowAreUnknown) {
  EXPECT_EQ(element_count({4, 5}), 20);
  EXPECT_EQ(element_count({}), 1);
  EXPECT_FALSE(element_count({int64_t{1} << 40, int64_t{1} << 40}));
}

}  // namespace
}  // namespace fathom
