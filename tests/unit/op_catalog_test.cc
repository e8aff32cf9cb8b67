#include "cost/op_catalog.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "checks.h"
#include "test_files.h"

namespace fathom {
namespace {

constexpr std::string_view kAtenElementwise =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)";

std::string_view category(std::string_view op, std::string_view first_kernel = "") {
  return OpCatalog::built_in().category(op, first_kernel);
}

TEST(OpCatalog, KnowsOpsByTheirExactNames) {
  EXPECT_EQ(category("aten::mm"), "GEMM");
  EXPECT_EQ(category("aten::convolution"), "CONV_fwd");
  EXPECT_EQ(category("aten::convolution_backward"), "CONV_bwd");
  EXPECT_EQ(category("aten::mm2"), "other");
  EXPECT_EQ(category("aten::m"), "other");
  EXPECT_EQ(OpCatalog::built_in().find("aten::mm")->sheet, "GEMM");
  EXPECT_EQ(OpCatalog::built_in().find("aten::nonsense"), nullptr);
}

TEST(OpCatalog, TheNameOfTheOpComesBeforeItsKernel) {
  EXPECT_EQ(category("aten::mm", kAtenElementwise), "GEMM");
  EXPECT_EQ(category("triton_poi_fused_0", kAtenElementwise), "triton");
}

TEST(OpCatalog, TritonAndCommunicationByTheBeginningOfTheName) {
  EXPECT_EQ(category("triton_red_fused_add_3"), "triton");
  EXPECT_EQ(category("my_triton_op"), "other");
  EXPECT_EQ(category("record_param_comms"), "record_param_comms");
  EXPECT_EQ(category("record_param_comms_2"), "record_param_comms");
  EXPECT_EQ(category("a record_param_comms"), "other");
}

TEST(OpCatalog, OtherOpsByThePyTorchKernelTheyLaunchedFirst) {
  EXPECT_EQ(category("my::op", kAtenElementwise), "elementwise");
  EXPECT_EQ(category("my::op", "void at::native::reduce_kernel<512, 1>(x)"), "reduce");
  EXPECT_EQ(category("my::op", "void at::native::(anonymous)::multi_tensor_apply_kernel<x>()"),
            "multi_tensor_apply");
  EXPECT_EQ(category("my::op", "void at::native::index_kernel()"), "other");
}

TEST(OpCatalog, OnlyKernelsThatBeginAsPyTorchsOwnTell) {
  EXPECT_EQ(category("my::op", "void vllm::elementwise_kernel()"), "other");
  EXPECT_EQ(category("my::op", "at::native::elementwise_kernel()"), "other");
  EXPECT_EQ(category("my::op", "x void at::native::elementwise_kernel()"), "other");
  EXPECT_EQ(category("my::op", ""), "other");
}

TEST(OpCatalog, SaysWhichOpsAreTakenWhole) {
  const OpCatalog& catalog = OpCatalog::built_in();
  EXPECT_TRUE(catalog.is_modelled("aten::mm"));
  EXPECT_TRUE(catalog.is_modelled("triton_poi_fused_0"));
  EXPECT_FALSE(catalog.is_modelled("record_param_comms"));
  EXPECT_FALSE(catalog.is_modelled("aten::nonsense"));
}

TEST(OpCatalog, ReadsItsColumnsByPlace) {
  const OpCatalog catalog(
      "# comment\nop\tsheet\tcategory\thas_cost_model\tbackward\n"
      "a::x\tS\tC\tyes\tC_bwd\n\na::y\t\tD\tno\t\na::z\tS\tE\tyes");
  EXPECT_EQ(catalog.find("op"), nullptr) << "the header is no op";
  ASSERT_NE(catalog.find("a::x"), nullptr);
  EXPECT_EQ(catalog.find("a::x")->backward, "C_bwd");
  EXPECT_TRUE(catalog.is_modelled("a::x"));
  EXPECT_EQ(catalog.find("a::y")->sheet, "");
  EXPECT_FALSE(catalog.is_modelled("a::y"));
  EXPECT_EQ(catalog.category("a::y", kAtenElementwise), "D");
  EXPECT_EQ(catalog.find("a::z")->backward, "");
}

// The data file itself, read here on its own.
std::vector<test::DataRow> catalog_rows() {
  return test::read_data_rows("op_families/op_catalog.tsv");
}

TEST(OpCatalogData, HasOneRowForEachOp) {
  std::map<std::string, int> first_line;
  for (const test::DataRow& row : catalog_rows()) {
    const auto [found, is_new] = first_line.emplace(row.cells[0], row.line);
    EXPECT_TRUE(is_new) << row.cells[0] << " in lines " << found->second << " and " << row.line;
  }
  EXPECT_GT(first_line.size(), 250u);
}

TEST(OpCatalogData, EveryRowIsWholeAndFound) {
  const std::vector<test::DataRow> rows = catalog_rows();
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].cells,
            (std::vector<std::string>{"op", "sheet", "category", "has_cost_model", "backward"}));
  for (size_t i = 1; i < rows.size(); ++i) {
    const auto& [line, cells] = rows[i];
    ASSERT_EQ(cells.size(), 5u) << "line " << line;
    EXPECT_FALSE(cells[0].empty() || cells[2].empty()) << "line " << line;
    EXPECT_TRUE(cells[3] == "yes" || cells[3] == "no") << "line " << line;
    for (const std::string& cell : cells) {
      EXPECT_EQ(cell.find_first_of(" \r"), std::string::npos) << "line " << line;
    }
    const OpFacts* facts = OpCatalog::built_in().find(cells[0]);
    ASSERT_NE(facts, nullptr) << cells[0];
    EXPECT_EQ(facts->sheet, cells[1]);
    EXPECT_EQ(facts->category, cells[2]);
    EXPECT_EQ(facts->has_cost_model, cells[3] == "yes");
    EXPECT_EQ(facts->backward, cells[4]);
  }
}

TEST(OpCatalogData, AGradientsCategoryIsAlsoOneOfTheCategories) {
  const std::vector<test::DataRow> rows = catalog_rows();
  std::set<std::string> categories;
  for (const test::DataRow& row : rows) categories.insert(row.cells[2]);
  for (size_t i = 1; i < rows.size(); ++i) {
    const std::string& backward = rows[i].cells[4];
    EXPECT_TRUE(backward.empty() || categories.contains(backward)) << "line " << rows[i].line;
  }
}

}  // namespace
}  // namespace fathom
