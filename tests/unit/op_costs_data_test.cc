// The data file of costs, and every row of it with arguments that no program would pass.
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "base/tsv.h"
#include "checks.h"
#include "cost/cost_functions.h"
#include "test_files.h"
#include "unit/cost_calls.h"

namespace fathom {
namespace {

using test::DataRow;

// The data file itself, read here on its own, without its header.
std::vector<DataRow> cost_rows() {
  std::vector<DataRow> rows = test::read_data_rows("op_families/op_costs.tsv");
  if (!rows.empty()) rows.erase(rows.begin());
  for (DataRow& row : rows) row.cells.resize(4);
  return rows;
}

std::vector<std::pair<std::string, std::string>> settings_of(const DataRow& row) {
  std::vector<std::pair<std::string, std::string>> settings;
  std::istringstream words(row.cells[2]);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    settings.emplace_back(word.substr(0, equals),
                          equals == std::string::npos ? "" : word.substr(equals + 1));
  }
  return settings;
}

TEST(OpCostsData, EveryOpHasOneRow) {
  std::map<std::string, int> lines;
  for (const DataRow& row : cost_rows()) {
    const auto [found, is_new] = lines.emplace(row.cells[0], row.line);
    EXPECT_TRUE(is_new) << row.cells[0] << " in lines " << found->second << " and " << row.line;
    if (row.cells[0].find("->") == std::string::npos && row.cells[0] != "triton_*") {
      EXPECT_NE(find_cost_row(row.cells[0]), nullptr) << row.cells[0];
    }
  }
  EXPECT_GT(lines.size(), 500u);
}

TEST(OpCostsData, EveryFunctionExistsAndReadsTheRowsSettings) {
  for (const DataRow& row : cost_rows()) {
    const CostFunctionFacts *function = find_cost_function(row.cells[1]),
                            *backward = find_cost_function(row.cells[3]);
    ASSERT_NE(function, nullptr) << "line " << row.line;
    if (!row.cells[3].empty()) {
      ASSERT_NE(backward, nullptr) << "line " << row.line;
    }
    std::set<std::string> seen;
    for (const auto& [key, value] : settings_of(row)) {
      EXPECT_TRUE(function->reads(key) || (backward != nullptr && backward->reads(key)))
          << "line " << row.line << ": " << row.cells[1] << " does not read " << key;
      EXPECT_TRUE(seen.insert(key).second) << "line " << row.line << ": " << key << " twice";
      EXPECT_EQ(value.find_first_not_of("0123456789.,:_abcdefghijklmnopqrstuvwxyzC"),
                std::string::npos)
          << "line " << row.line << ": " << value;
    }
  }
}

TEST(OpCostsData, EveryFunctionAndSettingIsUsed) {
  std::map<std::string, std::set<std::string>> used;
  for (const DataRow& row : cost_rows()) {
    for (const std::string& function : {row.cells[1], row.cells[3]}) {
      used[function];
      for (const auto& [key, value] : settings_of(row)) used[function].insert(key);
    }
  }
  for (const CostFunctionFacts& function : cost_functions()) {
    ASSERT_TRUE(used.contains(std::string(function.name))) << function.name;
    std::set<std::string_view> keys;
    for (std::string_view key : split(function.keys, ' ')) {
      EXPECT_TRUE(keys.insert(key).second) << function.name << ": " << key << " twice";
      EXPECT_TRUE(used[std::string(function.name)].contains(std::string(key)))
          << function.name << ": no row has " << key;
    }
  }
}

TEST(OpCostsData, TheManualNamesEveryFunctionAndSetting) {
  const std::string about =
      test::read_file(test::source_dir() / "data" / "op_families" / "about.md");
  for (const CostFunctionFacts& function : cost_functions()) {
    EXPECT_NE(about.find("`" + std::string(function.name) + "`"), std::string::npos)
        << function.name;
    for (std::string_view key : split(function.keys, ' ')) {
      EXPECT_NE(about.find("`" + std::string(key) + "`"), std::string::npos)
          << function.name << ": " << key;
    }
  }
}

// Arguments as a broken or hostile trace may have them.
class OddArguments {
 public:
  explicit OddArguments(uint32_t seed) : random_(seed) {}

  std::vector<ArgValue> list() {
    std::vector<ArgValue> inputs(below(22));
    for (ArgValue& input : inputs) input = value();
    return inputs;
  }

 private:
  size_t below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }

  int64_t size() {
    static constexpr int64_t kSizes[] = {0, 1, 1, 2, 3, 4, 8, 16, 128, int64_t{1} << 40, INT64_MAX};
    return kSizes[below(std::size(kSizes))];
  }
  std::vector<int64_t> dims() {
    static constexpr size_t kRanks[] = {0, 1, 2, 2, 2, 3, 3, 4, 4, 5, 30};
    std::vector<int64_t> sizes(kRanks[below(std::size(kRanks))]);
    for (int64_t& each : sizes) each = size();
    return sizes;
  }
  ArgValue value() {
    static const char* const kTypes[] = {test::kBf16, test::kBf16,  test::kFp32,
                                         test::kFp8,  test::kInt64, test::kByte,
                                         "Scalar",    "",           "mystery"};
    static const char* const kPrinted[] = {"",
                                           "",
                                           "",
                                           "True",
                                           "False",
                                           "1",
                                           "0",
                                           "-1",
                                           "2",
                                           "4",
                                           "[1, 1]",
                                           "[0, 0]",
                                           "[-1]",
                                           "[2, 2]",
                                           "[]",
                                           "[9223372036854775807]",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "[-9223372036854775808, 9223372036854775807]",
                                           "99999999999999999999",
                                           "nan",
                                           "[nan]",
                                           "1e308",
                                           "[[1]]",
                                           "[True, True, True]",
                                           "[True",
                                           "x"};
    ArgValue result;
    result.shape.dims = dims();
    if (below(3) == 0) {
      for (size_t i = below(result.shape.dims.size() + 2); i > 0; --i) {
        result.shape.strides.push_back(below(3) == 0 ? 0 : size());
      }
    }
    if (below(8) == 0) {
      for (size_t i = below(4); i > 0; --i) result.list.push_back({dims(), {}});
    }
    result.type = kTypes[below(std::size(kTypes))];
    result.concrete = kPrinted[below(std::size(kPrinted))];
    return result;
  }

  std::mt19937 random_;
};

void expect_sensible(const std::optional<Cost>& cost, const std::string& op) {
  if (!cost) return;
  EXPECT_TRUE(std::isfinite(cost->flops) && cost->flops >= 0) << op << ": " << cost->flops;
  EXPECT_TRUE(std::isfinite(cost->bytes) && cost->bytes >= 0) << op << ": " << cost->bytes;
  for (const CostParam& param : cost->params) {
    EXPECT_FALSE(param.json.empty()) << op << ": " << param.name;
    if (param.json.starts_with('"')) continue;  // a text
    EXPECT_EQ(param.json.find("nan"), std::string::npos) << op << ": " << param.json;
    EXPECT_EQ(param.json.find("inf"), std::string::npos) << op << ": " << param.json;
  }
}

TEST(OpCostsData, NoRowFailsOnOddArguments) {
  test::Around around;
  around.kernels = {{"void multi_tensor_apply_kernel<BFloat16>", Dim3{UINT32_MAX, 9, 9}, {}},
                    {"index_elementwise_kernel<128, 2147483647>", Dim3{9, 9, 9}, Dim3{9, 9, 9}},
                    {"CatArrayBatchedCopy<OpaqueType<2u>>", {}, {}},
                    {"bmm_", {}, {}},
                    {"bmm__", {}, {}},
                    {"bmm_E4m3_E2m1E4m3", {}, {}},
                    {"Cijk_A", {}, {}}};
  around.annotations = {"x",
                        "execute_context_3(18446744073709551615_18446744073709551615)"
                        "_generation_0(0)"};
  size_t known = 0;
  for (const DataRow& row : cost_rows()) {
    std::string op = row.cells[0];
    if (op == "triton_*") op = "triton_red_fused_add_0";
    if (op.find("->") != std::string::npos) op += " (Synthetic Op)";
    OddArguments odd(static_cast<uint32_t>(row.line));
    for (int round = 0; round < 30; ++round) {
      around.below = {{"aten::empty", {odd.list()}},
                      {"aten::as_strided", {odd.list()}},
                      {"_C_cache_ops::reshape_and_cache_flash", {odd.list()}},
                      {"vllm::inplace_fused_experts", {odd.list()}}};
      if (round % 2 == 0) around.below.pop_back();
      const std::optional<Cost> found = test::cost(op, odd.list(), around);
      known += found.has_value();
      expect_sensible(found, op);
      expect_sensible(test::gradient_cost(op, odd.list()), op);
    }
  }
  EXPECT_GT(known, 1000u) << "the arguments are too odd to show anything";
}

// A petabyte may lie behind strides of 0; what no address reaches is a damaged shape.
TEST(OpCostsData, ShapesThatNoMemoryHoldsHaveNoCost) {
  const auto product = [](int64_t m, int64_t n, int64_t k) {
    return test::cost("aten::mm", {test::tensor({m, k}), test::tensor({k, n})});
  };
  EXPECT_TRUE(product(1 << 20, 1 << 20, 1 << 10));
  EXPECT_FALSE(product(int64_t{1} << 31, int64_t{1} << 31, int64_t{1} << 31));
  EXPECT_FALSE(product(int64_t{1} << 60, 1, 1));
}

TEST(OpCostsData, AnOpWithoutARowOrArgumentsIsUnknown) {
  EXPECT_FALSE(test::cost("aten::nonsense", {test::tensor({2, 3})}));
  EXPECT_FALSE(test::cost("", {}));
  for (const DataRow& row : cost_rows()) {
    CostQuestion question;
    question.op = row.cells[0];
    EXPECT_FALSE(cost_of(question)) << row.cells[0];
  }
}

}  // namespace
}  // namespace fathom
