#include "analyze/diff/stable_name.h"

#include "checks.h"

namespace fathom {
namespace {

TEST(StableName, AnOpLosesHashesAndAddressesOnly) {
  EXPECT_EQ(
      stable_op_name("## Call CompiledFxGraph f65t5hog7zjxiyvqjgebqjymm2kd6u4qynczvcr45kso ##"),
      "## Call CompiledFxGraph * ##");
  EXPECT_EQ(stable_op_name("<lambda at 0x7f3a12bc9d40>"), "<lambda at *>");
  for (const char* name :
       {"aten::mm", "aten::conv2d", "triton_poi_fused_add_0", "Torch-Compiled Region: 0/1", "0x12",
        "nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "", "gemm128x128x64bf16",
        "ends::with::", "CamelCaseNameThatIsLongerThanAnyHashWouldBe1234"}) {
    EXPECT_EQ(stable_op_name(name), name);
  }
}

TEST(StableName, AnAnnotationLosesTheNumberThatCounts) {
  EXPECT_EQ(stable_annotation_name("ProfilerStep#12"), "ProfilerStep#*");
  EXPECT_EQ(stable_annotation_name("decode step 7"), "decode step *");
  EXPECT_EQ(stable_annotation_name("layer_3"), "layer_*");
  EXPECT_EQ(stable_annotation_name("42"), "*");
  for (const char* name : {"H200", "conv2d", "Optimizer.step#AdamW.step", "forward", "", "a_1_b"})
    EXPECT_EQ(stable_annotation_name(name), name);
}

TEST(StableName, AModuleLosesItsObjectsNumber) {
  EXPECT_EQ(stable_module_name("nn.Module: Linear_3"), "Linear");
  EXPECT_EQ(stable_module_name("nn.Module: Conv2d_10"), "Conv2d");
  EXPECT_EQ(stable_module_name("nn.Module: Conv2d"), "Conv2d");
  EXPECT_EQ(stable_module_name("nn.Module: My_Block_2_0"), "My_Block_2");
  EXPECT_EQ(stable_module_name("nn.Module: _0"), "_0");
  EXPECT_EQ(stable_module_name("model.py(12): forward"), "");
}

}  // namespace
}  // namespace fathom
