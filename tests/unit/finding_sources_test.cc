#include "checks.h"
#include "report/trace/findings_markdown.h"

namespace fathom {
namespace {

Finding with_kernels(std::vector<std::string> kernels, std::vector<std::string> sources) {
  Finding finding{};
  EvidenceOp op;
  op.op = "aten::mm";
  op.kernels = std::move(kernels);
  op.sources = std::move(sources);
  finding.evidence.push_back(std::move(op));
  return finding;
}

TEST(FindingSources, KernelsGetTheirPlaceInTheCode) {
  const std::string text =
      md_evidence(with_kernels({"rows", "library_gemm", "odd"}, {"csrc/a.cu:7", "", "x|`y:1"}));
  EXPECT_NE(text.find("`rows` at `csrc/a.cu:7`<br>`library_gemm`<br>`odd` at "), std::string::npos)
      << text;
  EXPECT_EQ(text.find("x|"), std::string::npos) << text;  // it would end the cell
}

TEST(FindingSources, WithoutCodeNothingIsSaid) {
  EXPECT_EQ(md_evidence(with_kernels({"rows"}, {})).find(" at "), std::string::npos);
}

}  // namespace
}  // namespace fathom
