// One sentence on what a kernel computes.
#include <gtest/gtest.h>

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
