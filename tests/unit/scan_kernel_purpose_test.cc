// One sentence on what a kernel computes.
#include "checks.h"
#include "report/scan/kernel_purpose.h"

namespace fathom {
namespace {

std::string purpose_of(const std::string& name, const std::string& doc = "",
                       const std::string& file = "a.cu") {
  CodeFacts facts;
  facts.files.emplace_back();
  facts.files[0].path = file;
  KernelFacts kernel;
  kernel.name = name;
  kernel.doc = doc;
  return kernel_purpose(facts, kernel);
}

TEST(KernelPurpose, ByNameDocstringAndFile) {
  EXPECT_EQ(purpose_of("rmsnorm_forward_kernel"), "RMS normalisation (by its name)");
  EXPECT_EQ(purpose_of("FlashAttnBwdKernel"), "Gradient of attention (by its name)");
  EXPECT_EQ(purpose_of("kernel", "", "src/softmax_h100.cu"), "Softmax (by its file's name)");
  EXPECT_EQ(purpose_of("_k", "Computes the sum of two rows. More text."),
            "Computes the sum of two rows (by its docstring)");
  EXPECT_EQ(purpose_of("softmax_kernel", "Computes softmax of rows Args: x_ptr: the rows, y: more"),
            "Computes softmax of rows (by its docstring)");
  // Words that only look alike, and a docstring that is a picture.
  EXPECT_EQ(purpose_of("property_kernel"), "");
  EXPECT_EQ(purpose_of("lambda_kernel"), "");
  EXPECT_EQ(purpose_of("forecast_kernel"), "");
  EXPECT_EQ(purpose_of("k", "Each letter in this diagram is a row."), "");
}

TEST(KernelPurpose, OneWordOfSeveralMeanings) {
  EXPECT_EQ(purpose_of("topk_sampling_kernel"), "Sampling of tokens (by its name)");
  EXPECT_EQ(purpose_of("importance_sample_kernel"), "Sampling (by its name)");
  EXPECT_EQ(purpose_of("upsample_kernel"), "Interpolation (by its name)");
  EXPECT_EQ(purpose_of("GridSample3DKernel"), "Interpolation (by its name)");
  EXPECT_EQ(purpose_of("image_resize_kernel"), "Interpolation (by its name)");
  EXPECT_EQ(purpose_of("box_resize_scale_kernel"), "");
  EXPECT_EQ(purpose_of("permute_colors_kernel"), "Permutation (by its name)");
  EXPECT_EQ(purpose_of("transpose_kernel"), "Transposition (by its name)");
  EXPECT_EQ(purpose_of("grouped_topk_sigmoid"), "Choice of experts for each token (by its name)");
  EXPECT_EQ(purpose_of("vec_quant_matmul"), "Product of quantised operands (by its name)");
  EXPECT_EQ(purpose_of("store_kvcache_kernel", "", "attention.py"),
            "Writing keys and values into the cache (by its name)");
  EXPECT_EQ(purpose_of("k", "Computes the rows of ``x_ptr`` and more"),
            "Computes the rows of `x_ptr` and more (by its docstring)");
}

TEST(KernelPurpose, FillingReadsNothing) {
  CodeFacts facts;
  facts.files.emplace_back();
  facts.files[0].path = "a.cu";
  KernelFacts kernel;
  kernel.name = "fill_A_kernel";
  ArrayTraffic read, written;
  read.array = "rows";
  written.array = "A";
  written.kind = AccessKind::kWrite;
  kernel.traffic = {written};
  EXPECT_EQ(kernel_purpose(facts, kernel), "Filling with a value (by its name): writes `A`");
  kernel.traffic = {read, written};
  EXPECT_EQ(kernel_purpose(facts, kernel), "Reads `rows`; writes `A`");
}

TEST(KernelPurpose, AFileOfSeveralKernels) {
  CodeFacts facts;
  facts.files.resize(2);
  facts.files[0].path = "softmax_h100.cu";
  facts.files[1].path = "b.cu";
  facts.kernels.resize(3);
  facts.kernels[0].name = facts.kernels[1].name = "first";
  facts.kernels[2].at.file = 1;
  EXPECT_EQ(kernel_purpose(facts, facts.kernels[0]), "Softmax (by its file's name)");
  facts.kernels[1].name = "second";
  EXPECT_EQ(kernel_purpose(facts, facts.kernels[0]), "");
}

TEST(KernelPurpose, ByItsCode) {
  CodeFacts facts;
  facts.files.emplace_back();
  facts.files[0].path = "a.cu";
  KernelFacts kernel;
  kernel.name = "k";
  ArrayTraffic read, written;
  read.array = "x";
  written.array = "y";
  written.kind = AccessKind::kWrite;
  kernel.traffic = {read, read, written};
  CodeEvidence product;
  product.what = "wgmma";
  kernel.evidence = {product};
  EXPECT_EQ(kernel_purpose(facts, kernel),
            "Reads `x`; writes `y`; products on tensor cores (wgmma)");
  // What could not be resolved may be any array: the list is not all.
  kernel.unresolved.resize(2);
  EXPECT_EQ(
      kernel_purpose(facts, kernel),
      "Reads `x`; writes `y`; 2 more accesses not resolved; products on tensor cores (wgmma)");
}

}  // namespace
}  // namespace fathom
