// What the code makes expect of a kernel, evaluated for the launch that was measured, against what
// was counted.
#include "story/expected_measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "checks.h"
#include "report/scan/expected_measured_text.h"
#include "scan/scan_repository.h"
#include "session/code/measured.h"
#include "story/measured_launch.h"
#include "story/source_outlines.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

CodeFacts scanned_text(const std::string& file, const std::string& text) {
  const test::TemporaryDirectory directory;
  test::write_file(directory.path() / file, text);
  return scan_repository(directory.path(), {}).take();
}

const KernelFacts& kernel_named(const CodeFacts& facts, std::string_view name) {
  for (const KernelFacts& kernel : facts.kernels) {
    if (kernel.name == name) return kernel;
  }
  static const KernelFacts none;
  ADD_FAILURE() << name;
  return none;
}

constexpr const char* kScale = R"(
__global__ void scale(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
void run(float* y, const float* x, int count) { scale<<<(count + 255) / 256, 256>>>(y, x, count); }
)";

const ComparedQuantity& quantity(const ComparedKernel& compared, std::string_view id) {
  for (const ComparedQuantity& one : compared.quantities) {
    if (one.id == id) return one;
  }
  static const ComparedQuantity none{};
  ADD_FAILURE() << id;
  return none;
}

KernelContext counted_launch(std::string name, Dim3 grid, Dim3 block, HardwareValues values) {
  KernelContext out;
  out.name = std::move(name);
  out.launch.grid = grid;
  out.launch.block = block;
  out.file = "counters.csv";
  out.quality = JoinQuality::kExact;
  out.trust = "yes";
  out.values = std::move(values);
  return out;
}

TEST(MeasuredLaunch, TheGridTellsASizeUpToItsRounding) {
  const CodeFacts facts = scanned_text("a.cu", kScale);
  const auto fits = fit_launch(
      kernel_named(facts, "scale"),
      {"scale(float*, float const*, int)", Dim3{1000, 1, 1}, Dim3{256, 1, 1}}, Parameters());
  ASSERT_EQ(fits.size(), 1u);
  ASSERT_EQ(fits[0].solved.size(), 1u);
  EXPECT_EQ(fits[0].solved[0].name, "count");
  EXPECT_EQ(fits[0].solved[0].least, 999 * 256 + 1);
  EXPECT_EQ(fits[0].solved[0].most, 1000 * 256);
}

TEST(MeasuredLaunch, ALaunchOfAnotherBlockIsOfAnotherSite) {
  const CodeFacts facts = scanned_text("a.cu", kScale);
  EXPECT_TRUE(fit_launch(kernel_named(facts, "scale"), {"scale", Dim3{1000, 1, 1}, Dim3{128, 1, 1}},
                         Parameters())
                  .empty());
}

// A dim3 that is passed on is no number: nothing contradicts its other dimensions.
TEST(MeasuredLaunch, AGridThatIsPassedOnFitsAnyLaunch) {
  const CodeFacts facts = scanned_text("a.cu", R"(
__global__ void scale(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
void run(float* y, const float* x, dim3 grid, int n) { scale<<<grid, 256>>>(y, x, n); }
void rows(float* y, const float* x, int count, int n) { scale<<<count, 128>>>(y, x, n); }
)");
  const KernelFacts& kernel = kernel_named(facts, "scale");
  EXPECT_EQ(fit_launch(kernel, {"scale", Dim3{16, 8, 4}, Dim3{256, 1, 1}}, Parameters()).size(),
            1u);
  const auto plain = fit_launch(kernel, {"scale", Dim3{16, 1, 1}, Dim3{128, 1, 1}}, Parameters());
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_EQ(plain[0].solved[0].name, "count");
}

// The host's n is not the kernel's n: four elements a thread.
TEST(MeasuredLaunch, NamesOfTheHostAreNotTheKernels) {
  const CodeFacts facts = scanned_text("a.cu", R"(
__global__ void copy4(float4* y, const float4* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
void run(float* y, const float* x, int n) {
  copy4<<<n / 1024, 256>>>((float4*)y, (const float4*)x, n / 4);
}
)");
  const KernelContext launch =
      counted_launch("copy4", Dim3{64, 1, 1}, Dim3{256, 1, 1}, {{"dram_read", 0.2621}});
  const ComparedKernel compared =
      compare_kernel(kernel_named(facts, "copy4"), launch, Parameters(), nullptr);
  const ComparedQuantity& read = quantity(compared, "bytes_read");
  ASSERT_TRUE(read.low && read.high);
  EXPECT_EQ(*read.low, 64 * 256 * 16);
  EXPECT_LT(*read.high, 65 * 256 * 16);
}

TEST(MeasuredLaunch, TemplateArgumentsComeFromTheProfilersName) {
  const CodeFacts facts = scanned_text("a.cu", R"(
template <typename T, int kItems>
__global__ void fill(T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < kItems; ++k) y[i * kItems + k] = T(0);
}
template <typename T>
void run(T* y, int n) { fill<T, 4><<<n / 512, 128>>>(y, n); }
void others(double* y, int n) { fill<double, 8><<<n / 1024, 128>>>(y, n); }
)");
  const KernelFacts& kernel = kernel_named(facts, "fill");
  const auto own = template_values(kernel, "void fill<__half, (int)4>(__half*, int)");
  ASSERT_TRUE(own.contains("sizeof(T)") && own.contains("kItems"));
  EXPECT_EQ(own.at("sizeof(T)"), 2);
  EXPECT_EQ(own.at("kItems"), 4);
  const MeasuredLaunch launch{"void fill<__half, 4>(__half*, int)", Dim3{100, 1, 1},
                              Dim3{128, 1, 1}};
  const auto fits = fit_launch(kernel, launch, Parameters());
  ASSERT_EQ(fits.size(), 1u);  // fill<double, 8> is another launch
  const ComparedKernel compared = compare_kernel(
      kernel, counted_launch(launch.name, *launch.grid, *launch.block, {}), Parameters(), nullptr);
  EXPECT_EQ(quantity(compared, "bytes_written").high.value_or(0), 100 * 128 * 4 * 2);
}

// Two unknown sizes in one grid: nothing is guessed.
TEST(MeasuredLaunch, AnUnknownSizeIsNamedAndNothingIsGuessed) {
  const CodeFacts facts = scanned_text("a.cu", R"(
__global__ void scale(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
void run(float* y, const float* x, int rows, int columns) {
  scale<<<(rows + columns + 255) / 256, 256>>>(y, x, rows * columns);
}
)");
  const KernelContext launch =
      counted_launch("scale", Dim3{64, 1, 1}, Dim3{256, 1, 1}, {{"dram_read", 0.07}});
  const ComparedKernel compared =
      compare_kernel(kernel_named(facts, "scale"), launch, Parameters(), nullptr);
  const ComparedQuantity& read = quantity(compared, "bytes_read");
  EXPECT_EQ(read.comparison, Comparison::kNotComparable);
  EXPECT_EQ(read.reason, "parameter n unknown");
  EXPECT_FALSE(read.low);
  // One of them given, the grid tells the other.
  const Parameters given = Parameters::parse({"columns=16"}).take();
  const ComparedKernel more = compare_kernel(kernel_named(facts, "scale"), launch, given, nullptr);
  EXPECT_EQ(quantity(more, "bytes_read").high.value_or(0), (64 * 256 - 16) * 16 * 4);
}

// "n" is known where the grid is made of the same product, though neither factor is.
TEST(MeasuredLaunch, AProductIsSolvedWhole) {
  const auto code = [](const std::string& grid) {
    return scanned_text("a.cu", R"(
__global__ void scale(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
void run(float* y, const float* x, int rows, int columns) {
  scale<<<)" + grid + R"(, 256>>>(y, x, rows * columns);
}
)");
  };
  const KernelContext launch = counted_launch("scale", Dim3{64, 1, 1}, Dim3{256, 1, 1}, {});
  const auto most = [&](const std::string& grid) {
    const CodeFacts facts = code(grid);
    return quantity(compare_kernel(kernel_named(facts, "scale"), launch, Parameters(), nullptr),
                    "bytes_read")
        .high;
  };
  EXPECT_EQ(most("(rows * columns + 255) / 256").value_or(0), 64 * 256 * 4);
  EXPECT_FALSE(most("(4096 / rows * columns + 255) / 256"));  // another product
  EXPECT_FALSE(most("(rows * columns_all + 255) / 256"));
}

// The arguments of an op, where the function of its name launches, and where a Python function of
// its name calls the one that does.
TEST(OpValues, ShapesAreFollowedToTheLaunch) {
  const test::TemporaryDirectory directory;
  test::write_file(directory.path() / "norm.cu", R"(
__global__ void norm_kernel(float* out, const float* in, int width) {
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    out[blockIdx.x * width + i] = 2.0f * in[blockIdx.x * width + i];
}
void row_norm(torch::Tensor out, const torch::Tensor& x) {
  norm_kernel<<<x.size(0), 256>>>(out.data_ptr<float>(), x.data_ptr<float>(), x.size(1));
}
)");
  const CodeFacts facts = scan_repository(directory.path(), {}).take();
  const KernelFacts& kernel = kernel_named(facts, "norm_kernel");
  ASSERT_EQ(kernel.launchers.size(), 1u);
  SourceOutlines sources(directory.path(), facts.files);
  LaunchingOp op{"mine::row_norm", {}};
  for (int i = 0; i < 2; ++i) {
    ArgValue tensor;
    tensor.shape.dims = {64, 512};
    tensor.type = "float";
    op.arguments.inputs.push_back(tensor);
  }
  const OpValues values = [&](const KernelLauncher& launcher) {
    return values_of_op(facts, kernel, launcher, op, sources);
  };
  const auto read = [&](Dim3 grid) {
    const ComparedKernel compared =
        compare_kernel(kernel, counted_launch("norm_kernel", grid, Dim3{256, 1, 1}, {}),
                       Parameters(), nullptr, values);
    return quantity(compared, "bytes_read").high;
  };
  EXPECT_EQ(read(Dim3{64, 1, 1}).value_or(0), 64 * 512 * 4);
  // Shapes that contradict the launch are of another call.
  EXPECT_FALSE(read(Dim3{32, 1, 1}));
  op.name = "mine::layer_norm";
  EXPECT_FALSE(read(Dim3{64, 1, 1}));
}

TEST(ExpectedMeasured, SizesGivenForAnotherLaunchAreNotUsed) {
  const CodeFacts facts = scanned_text("a.cu", kScale);
  const KernelContext launch =
      counted_launch("scale", Dim3{1000, 1, 1}, Dim3{256, 1, 1}, {{"dram_read", 1.02}});
  const Parameters given = Parameters::parse({"count=64"}).take();
  const ComparedKernel compared =
      compare_kernel(kernel_named(facts, "scale"), launch, given, nullptr);
  EXPECT_EQ(quantity(compared, "bytes_read").comparison, Comparison::kWithin);
  ASSERT_EQ(compared.remarks.size(), 1u);
}

TEST(ExpectedMeasured, ASurpriseHasTheLikeliestReason) {
  const CodeFacts facts = scanned_text("a.cu", kScale);
  const KernelFacts& kernel = kernel_named(facts, "scale");
  const auto reason = [&](HardwareValues values, std::string_view id) {
    const ComparedKernel compared =
        compare_kernel(kernel, counted_launch("scale", Dim3{65536, 1, 1}, Dim3{256, 1, 1}, values),
                       Parameters(), nullptr);
    const ComparedQuantity& one = quantity(compared, id);
    return one.comparison == Comparison::kSurprise ? one.reason
                                                   : std::string(comparison_name(one.comparison));
  };
  constexpr double kBytes = 67.1, kSectors = 2097152;  // 16 Mi floats
  EXPECT_EQ(reason({{"dram_read", kBytes}}, "bytes_read"), "within");
  EXPECT_NE(reason({{"dram_read", 5}, {"l2_hit", 95}, {"load_sectors", kSectors}}, "bytes_read")
                .find("still in L2"),
            std::string::npos);
  EXPECT_NE(
      reason({{"dram_read", 0.1}, {"host_share", 60}, {"load_sectors", kSectors}}, "bytes_read")
          .find("host memory"),
      std::string::npos);
  EXPECT_NE(
      reason({{"dram_read", 500}, {"load_bytes_per_sector", 4}, {"load_sectors", 8 * kSectors}},
             "bytes_read")
          .find("uncoalesced"),
      std::string::npos);
  EXPECT_NE(reason({{"dram_read", 200},
                    {"load_bytes_per_sector", 32},
                    {"load_sectors", 4 * kSectors},
                    {"l2_hit", 20}},
                   "bytes_read")
                .find("exceeds L2"),
            std::string::npos);
  EXPECT_NE(reason({{"dram_read", 500}, {"local_mb", 400}}, "bytes_read").find("spills"),
            std::string::npos);
  EXPECT_NE(reason({{"dram_written", 3}, {"store_sectors", kSectors}}, "bytes_written")
                .find("stays in L2"),
            std::string::npos);
  EXPECT_NE(reason({{"dram_written", 3}, {"store_sectors", kSectors / 8}}, "bytes_written")
                .find("fewer elements are stored"),
            std::string::npos);
  // Without counters that tell why, none is made up.
  EXPECT_EQ(reason({{"dram_read", 500}}, "bytes_read"), "the counters do not show why");
}

TEST(ExpectedMeasured, NumbersThatAreNoneAreNotMeasured) {
  const CodeFacts facts = scanned_text("a.cu", kScale);
  for (const double value : {std::nan(""), -1.0, HUGE_VAL}) {
    const KernelContext launch =
        counted_launch("scale", Dim3{65536, 1, 1}, Dim3{256, 1, 1}, {{"dram_read", value}});
    const ComparedKernel compared =
        compare_kernel(kernel_named(facts, "scale"), launch, Parameters(), nullptr);
    EXPECT_EQ(quantity(compared, "bytes_read").comparison, Comparison::kNotMeasured) << value;
  }
  const Platform& h200 = *Platforms::built_in().find("h200").value();
  const KernelContext launch = counted_launch("scale", Dim3{65536, 1, 1}, Dim3{256, 1, 1},
                                              {{"dram_throughput", 1e300}, {"duration_us", 0}});
  const ComparedKernel compared =
      compare_kernel(kernel_named(facts, "scale"), launch, Parameters(), &h200);
  EXPECT_EQ(quantity(compared, "dram_percent").comparison, Comparison::kNotMeasured);
  EXPECT_EQ(quantity(compared, "time").comparison, Comparison::kNotMeasured);
}

TEST(ExpectedMeasured, EachRowOfTheDataHasAKnownNameAndCanHold) {
  const auto folder = test::source_dir() / "data/stories";
  const std::vector<std::string_view> own = {
      "expected_low", "expected_high", "measured",   "expected_bytes", "measured_bytes",
      "load_bytes",   "store_bytes",   "time_above", "time_below",     "latency_side"};
  for (const test::DataRow& row : test::read_data_rows(folder / "surprises.tsv")) {
    if (row.cells[0] == "quantity") continue;
    const std::string when = row.cells[2];
    const Result<Formula> formula = Formula::parse(when);
    ASSERT_TRUE(formula.ok()) << row.line;
    for (const std::string_view name : formula.value().names()) {
      EXPECT_TRUE(is_known_value(name) || std::ranges::find(own, name) != own.end())
          << "surprises.tsv:" << row.line << ": " << name;
    }
    EXPECT_TRUE(row.cells[1] == "above" || row.cells[1] == "below" || row.cells[1] == "any");
  }
  for (const test::DataRow& row : test::read_data_rows(folder / "compared.tsv")) {
    if (row.cells[0] == "quantity") continue;
    const std::string text = row.cells[3];
    const Result<Formula> formula = Formula::parse(text);
    ASSERT_TRUE(formula.ok()) << row.line;
    for (const std::string_view name : formula.value().names())
      EXPECT_TRUE(is_known_value(name)) << "compared.tsv:" << row.line << ": " << name;
  }
}

// Each launch with how many of its quantities are within, and each surprise with its reason.
std::string table_of(const std::vector<MeasuredRun>& runs) {
  std::string table;
  for (const MeasuredRun& run : runs) {
    for (const ComparedKernel& kernel : run.compared) {
      const KernelContext& context = run.contexts[kernel.context];
      const Dim3 grid = context.launch.grid.value_or(Dim3{});
      const ComparedCounts counts = count_compared({kernel});
      table += fmt::format("{} {}x{}x{}\twithin {}, not comparable {}, not measured {}{}\n",
                           context.name, grid.x, grid.y, grid.z, counts.within,
                           counts.not_comparable, counts.not_measured,
                           kernel.not_comparable.empty() ? "" : ": " + kernel.not_comparable);
      for (const ComparedQuantity& one : kernel.quantities) {
        if (one.comparison == Comparison::kSurprise)
          table += fmt::format("  {}\t{}\n", one.id, one.reason);
      }
    }
  }
  return table;
}

std::vector<MeasuredRun> runs_of(const fs::path& repository, const fs::path& recorded,
                                 const std::vector<std::string>& given = {}) {
  const CodeFacts code = scan_repository(repository, {}).take();
  MeasureRequest request;
  if (fs::is_directory(recorded)) {
    for (const auto& entry : fs::directory_iterator(recorded))
      request.files.push_back(entry.path().string());
  } else {
    request.files.push_back(recorded.string());
  }
  std::ranges::sort(request.files);
  const Parameters parameters = Parameters::parse(given).take();
  request.code = &code;
  request.parameters = &parameters;
  Result<std::vector<MeasuredRun>> runs = measure_kernels(request);
  EXPECT_TRUE(runs.ok());
  return runs.take();
}

ComparedCounts counts_of(const std::vector<MeasuredRun>& runs) {
  std::vector<ComparedKernel> all;
  for (const MeasuredRun& run : runs)
    all.insert(all.end(), run.compared.begin(), run.compared.end());
  return count_compared(all);
}

// Code of another style that the models were not made for, recorded on an H200.
TEST(ExpectedMeasured, AForeignEnginesKernelsAreMostlyWithinTheirRanges) {
  const fs::path folder = test::source_dir() / "tests/story";
  const auto runs = runs_of(folder / "foreign_engine", folder / "foreign_recorded");
  EXPECT_EQ(test::compare_golden(folder / "expected_foreign.tsv", table_of(runs)), "");
  const ComparedCounts counts = counts_of(runs);
  EXPECT_GE(counts.within, 4 * counts.surprises);
}

// Our own ladders; what the launch does not tell is given.
TEST(ExpectedMeasured, TheLaddersKernelsAreMostlyWithinTheirRanges) {
  const auto runs =
      runs_of(test::source_dir() / "kernels", test::source_dir() / "examples/captures/ladders",
              {"batch=4", "heads=16", "kv_heads=4", "seq=1024", "kv_len=1024", "head_dim=128",
               "dtype=fp16"});
  EXPECT_EQ(
      test::compare_golden(test::source_dir() / "tests/story/expected_ladders.tsv", table_of(runs)),
      "");
  const ComparedCounts counts = counts_of(runs);
  EXPECT_GE(counts.within, 3 * counts.surprises);
}

// Recordings of planted faults and their twins: the whole table is held, with each reason.
TEST(ExpectedMeasured, PlantedFaultsSurpriseForTheRightReason) {
  const fs::path folder = test::source_dir() / "tests/gpu/faults";
  const auto runs = runs_of(folder, folder / "recorded");
  EXPECT_EQ(
      test::compare_golden(test::source_dir() / "tests/story/expected_faults.tsv", table_of(runs)),
      "");
  const ComparedCounts counts = counts_of(runs);
  EXPECT_GE(counts.within, 3 * counts.surprises);
}

TEST(ExpectedMeasured, PagesAreInertWhateverNamesAndReasonsHold) {
  MeasuredRun run;
  run.file = "<b>x</b>|y.capture";
  run.doubt = "a|b <i>";
  KernelContext context = counted_launch("<script>|k", Dim3{1, 1, 1}, Dim3{32, 1, 1}, {});
  context.stalls = {{"<b>|stall", 99}};
  run.contexts.push_back(context);
  ComparedKernel compared;
  compared.solved.push_back({"n|<b>", 1, 2, "grid x"});
  compared.quantities.push_back({"stalls",
                                 "first stall reason",
                                 "",
                                 {},
                                 {},
                                 {},
                                 "<i>|",
                                 "<b>|stall",
                                 Comparison::kSurprise,
                                 "<u>|",
                                 ""});
  run.compared.push_back(compared);
  const std::string part = measured_part(run, run.compared[0]);
  const std::string page = compared_page("<repo>|", {run});
  for (const std::string& text : {part, page}) {
    size_t outside = 0;
    bool in_code = false;
    for (const char c : text) {
      if (c == '`') in_code = !in_code;
      outside += !in_code && c == '<';
    }
    EXPECT_EQ(outside, 0u) << text;
  }
}

}  // namespace
}  // namespace fathom
