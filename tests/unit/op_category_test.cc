#include "cost/op_category.h"

#include "checks.h"

namespace fathom {
namespace {

TEST(OpCategory, AShortcutOfAnOpStaysThatOp) {
  EXPECT_EQ(op_category("aten::pow", "elementwise", false), "elementwise");
  EXPECT_EQ(op_category("aten::pow", "elementwise", true), "elementwise");
  EXPECT_EQ(op_category("aten::copy_", "elementwise", false), "elementwise");
  EXPECT_EQ(op_category("aten::copy_", "elementwise", true), "memcpy");
  EXPECT_EQ(op_category("mylib::upload", "other", true), "memcpy");
  EXPECT_EQ(op_category("mylib::upload", "other", false), "other");
}

TEST(OpCategory, IsNotThatOfTheSheets) {
  EXPECT_EQ(op_category("aten::mm", "GEMM", false), "gemm");
  EXPECT_EQ(op_category("c10d::allreduce_", "other", false), "communication");
  EXPECT_EQ(op_category("aten::_softmax", "other", false), "reduce");
  EXPECT_EQ(op_category("aten::_log_softmax_backward_data", "other", false), "reduce");
}

}  // namespace
}  // namespace fathom
