#include "report/trace/kernel_pages.h"

#include "checks.h"
#include "report/csv.h"
#include "sheets/kernel_contexts.h"

namespace fathom::test {
namespace {

// Pages of kernels with counters: a bounded number, inert whatever a kernel is called.
KernelContext counted_kernel(std::string name) {
  KernelContext kernel;
  kernel.name = std::move(name);
  kernel.file = "c.csv";
  kernel.quality = JoinQuality::kByKey;
  kernel.trust = "yes";
  kernel.values = {{"dram_throughput", 90},      {"dram_read", 80},       {"dram_written", 20},
                   {"vector_flop", 1e9},         {"tensor_flop", 0},      {"duration_us", 50},
                   {"peak_bandwidth", 4.8e12},   {"peak_matrix", 989e12}, {"peak_vector", 66.9e12},
                   {"stall_long_scoreboard", 70}};
  kernel.stalls = {{"long_scoreboard", 70}, {"<b>&", 20}};
  add_derived_values(kernel.values);
  kernel.tested = test_hypotheses(kernel.values);
  return kernel;
}

TEST(KernelPages, AreBoundedInNumber) {
  std::vector<KernelContext> kernels;
  for (int i = 0; i < 50; ++i) kernels.push_back(counted_kernel("k" + std::to_string(i)));
  size_t pages = 0;
  for (const ReportFile& file : kernel_pages(kernels)) pages += file.path.ends_with(".md");
  EXPECT_EQ(pages, kMostKernelPages);
  // One without counters has none.
  kernels.resize(1);
  kernels[0].file.clear();
  EXPECT_TRUE(kernel_pages(kernels).empty());
}

TEST(KernelPages, DrawThePointThatWasCounted) {
  const KernelContext kernel = counted_kernel("k");
  // 1 GFLOP over 100 MB in 50 µs: 10 FLOP/B, 20 TFLOP/s.
  const std::string roofline = roofline_svg(kernel);
  EXPECT_NE(roofline.find("10 FLOP/B, 20 TFLOP/s"), std::string::npos) << roofline;
  EXPECT_NE(stalls_svg(kernel).find("70 %"), std::string::npos);
  KernelContext unknown = kernel;
  unknown.values.erase("flop_rate");
  EXPECT_EQ(roofline_svg(unknown), "");
  unknown.stalls.clear();
  EXPECT_EQ(stalls_svg(unknown), "");
}

TEST(KernelPages, AKernelsNameIsInert) {
  const auto files = kernel_pages({counted_kernel("<script>alert(1)</script>/../`|x")});
  ASSERT_EQ(files.size(), 3u);
  for (const ReportFile& file : files) {
    EXPECT_EQ(file.path.find(".."), std::string::npos) << file.path;
    EXPECT_EQ(file.path.find('<'), std::string::npos) << file.path;
    if (!file.path.ends_with(".svg")) continue;
    EXPECT_EQ(file.content.find("<b>"), std::string::npos);
    EXPECT_EQ(file.content.find("script"), std::string::npos);
  }
  EXPECT_EQ(files[0].content.find("\n<script"), std::string::npos);
}

TEST(KernelPages, WordsForWhatIsMissing) {
  KernelContext kernel = counted_kernel("k");
  kernel.file = "counters_of_k.csv";
  kernel.values = {{"issue", 0.9}, {"dram_throughput", 10}};
  add_derived_values(kernel.values);
  kernel.tested = test_hypotheses(kernel.values);
  const auto page = [&kernel] { return kernel_pages({kernel})[0].content; };
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  const std::string basic = page();
  // Confirmed without a range: no word of what the range assumes.
  EXPECT_TRUE(has(basic, "| **Issue slots are the limit** |")) << basic;
  EXPECT_TRUE(has(basic,
                  "| not known; needs L2 sectors, of peak (%); L1 data pipe (%): `fathom "
                  "record --counters=memory --replay -- PROGRAM` |"))
      << basic;
  EXPECT_FALSE(has(basic, "Range: half the instructions")) << basic;
  // Headers, no identifiers.
  EXPECT_FALSE(has(basic, "load_bytes_per_sector")) << basic;
  EXPECT_TRUE(has(basic, "Used bytes per load sector")) << basic;
  EXPECT_TRUE(has(basic, "Counters from `counters_of_k.csv`,")) << basic;
  kernel.file = "c.csv";
  EXPECT_TRUE(has(page(), "Counters from `c.csv`,")) << page();
  kernel.values["lsu_data"] = kernel.values["l2_sectors"] = 20;
  add_derived_values(kernel.values);
  kernel.tested = test_hypotheses(kernel.values);
  EXPECT_TRUE(has(page(), "| 1.33–2.00 × |")) << page();
  EXPECT_TRUE(has(page(), "Range: half the instructions")) << page();
}

TEST(KernelPages, KernelsOfOneNameDifferByShapeInTheTableOfHypotheses) {
  KernelContext small = counted_kernel("k"), large = small;
  small.launch.grid = Dim3{4, 1, 1};
  small.launch.block = Dim3{128, 1, 1};
  large.launch.grid = Dim3{4096, 2, 1};
  const Table table = hypotheses_sheet({small, large}, 2);
  ASSERT_EQ(table.columns()[1].name(), "Grid");
  ASSERT_EQ(table.columns()[2].name(), "Block");
  const std::string csv = to_csv(table);
  EXPECT_NE(csv.find("k,\"(4, 1, 1)\",\"(128, 1, 1)\","), std::string::npos) << csv;
  EXPECT_NE(csv.find("k,\"(4096, 2, 1)\",,"), std::string::npos) << csv;
}

TEST(KernelPages, TmaAndNvlinkWhereTheyAreUsed) {
  KernelContext plain = counted_kernel("k"), bulk = counted_kernel("b");
  const auto csv = [](const std::vector<KernelContext>& kernels) {
    return to_csv(kernels_sheet(kernels));
  };
  EXPECT_EQ(csv({plain}).find("TMA"), std::string::npos);
  bulk.values["tma_read"] = 0;  // counted, not used
  EXPECT_EQ(csv({plain, bulk}).find("TMA"), std::string::npos);
  bulk.values["tma_read"] = 64;
  bulk.values["nvlink_sent"] = 12.5;
  const std::string both = csv({plain, bulk});
  EXPECT_NE(both.find("Read by TMA (MB),NVLink sent (MB)"), std::string::npos) << both;
  EXPECT_NE(kernel_pages({bulk})[0].content.find("| Read by TMA | 64 MB |"), std::string::npos);
  EXPECT_EQ(kernel_pages({plain})[0].content.find("TMA"), std::string::npos);
}

TEST(KernelPages, AnUntrustedRunIsSaid) {
  KernelContext kernel = counted_kernel("k");
  EXPECT_EQ(kernel_pages({kernel})[0].content.find("over twice"), std::string::npos);
  kernel.is_trusted = false;
  EXPECT_NE(kernel_pages({kernel})[0].content.find("over twice"), std::string::npos);
}

}  // namespace
}  // namespace fathom::test
