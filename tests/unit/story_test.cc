#include "checks.h"
#include "report/scan/kernel_story.h"
#include "scan/cpp/launch_values.h"
#include "scan/python/assigned_values.h"
#include "story/expectation.h"
#include "story/host_expectation.h"
#include "story/kernel_notes.h"

namespace fathom {
namespace {

Parameters parameters(const std::vector<std::string>& given) {
  Result<Parameters> parsed = Parameters::parse(given);
  EXPECT_TRUE(parsed.ok());
  return parsed.take();
}

// A kernel that copies rows through an index, four warps to a block.
KernelFacts gather_kernel() {
  KernelFacts kernel;
  kernel.name = "gather_rows";
  kernel.at = {0, 5};
  kernel.line_name = 5;
  kernel.line_last = 12;
  kernel.evidence = {
      {"gather", "table through rows[i]", {0, 8}, "gather_rows", Certainty::kLikely, "table"},
      {"vector_access", "16 bytes", {0, 9}, "gather_rows", Certainty::kCertain}};
  KernelLauncher launcher;
  launcher.at = {0, 30};
  launcher.grid = "blocks(count)";
  launcher.block = "kThreads";
  launcher.values = {{"blocks(rows)", "(rows + kThreads / 32 - 1) / (kThreads / 32)", {0, 20}},
                     {"kThreads", "128", {0, 3}}};
  kernel.launchers = {launcher};
  return kernel;
}

const Platform& h200() { return *Platforms::built_in().find("h200").value(); }

const Estimate& find(const std::vector<Estimate>& list, std::string_view name) {
  for (const Estimate& estimate : list) {
    if (estimate.name == name) return estimate;
  }
  ADD_FAILURE() << name;
  static const Estimate none;
  return none;
}

TEST(Parameters, StandForTheNamesThatCodeUses) {
  const Parameters given = parameters({"batch=64", "embed_dim=4096", "dtype=fp16"});
  EXPECT_EQ(given.find("num_tokens"), 64);
  EXPECT_EQ(given.find("weights.shape[1]"), 4096);
  EXPECT_EQ(given.find("element_size"), 8192);
  EXPECT_EQ(given.find("sizeof(T)"), 2);
  EXPECT_EQ(given.find("heads"), std::nullopt);
}

TEST(Parameters, SayWhatIsWrongWithThem) {
  for (const char* text :
       {"batch", "=3", "batch=", "batch=many", "dtype=wide", "batch=0", "batch=-1"}) {
    const Result<Parameters> parsed = Parameters::parse({text});
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.error().message.find(text), std::string::npos);
  }
}

TEST(Parameters, GoBeforeWhatTheCodeSays) {
  const std::vector<NamedValue> values = {{"splits", "1", {0, 1}},
                                          {"warps", "splits * rows", {0, 2}}};
  EXPECT_EQ(parameters({"rows=8"}).evaluate_in("warps", values), 8);
  EXPECT_EQ(parameters({"rows=8", "splits=4"}).evaluate_in("warps", values), 32);
  EXPECT_EQ(parameters({"splits=4"}).evaluate_in("warps", values), std::nullopt);
}

TEST(Parameters, ValuesThatNameOneAnotherEnd) {
  const std::vector<NamedValue> values = {{"a", "b + 1", {0, 1}}, {"b", "a + 1", {0, 2}}};
  EXPECT_EQ(parameters({}).evaluate_in("a", values), std::nullopt);
}

TEST(Expectation, LaunchIsComputedThroughTheCodesOwnValues) {
  const KernelFacts kernel = gather_kernel();
  const Expectation expected = expect_of(kernel, parameters({"count=257"}), nullptr);
  ASSERT_TRUE(expected.launch);
  EXPECT_EQ(expected.launch->blocks, 65);
  EXPECT_EQ(expected.launch->threads, 128);
}

TEST(Expectation, BytesAndTimeOfAGather) {
  const Expectation expected =
      expect_of(gather_kernel(), parameters({"batch=64", "embed_dim=4096", "dtype=fp16"}), &h200());
  EXPECT_EQ(find(expected.traffic, "bytes read").low, 64 * 8192 + 64 * 8);
  EXPECT_EQ(find(expected.traffic, "bytes written").low, 64 * 8192);
  EXPECT_EQ(find(expected.traffic, "FLOPs").low, 0);
  EXPECT_EQ(expected.side, Bottleneck::kLatency);
  const Estimate& time = find(expected.counters, "time");
  ASSERT_TRUE(time.known());
  EXPECT_LT(*time.low, *time.high);
  // The same rows a thousand times over are bound by the memory.
  const Expectation large = expect_of(
      gather_kernel(), parameters({"batch=64000", "embed_dim=4096", "dtype=fp16"}), &h200());
  EXPECT_EQ(large.side, Bottleneck::kMemory);
  EXPECT_GT(*find(large.counters, "time").low, 200e-6);
}

TEST(Expectation, WhatIsNotGivenIsUnknownAndNamed) {
  const Expectation expected = expect_of(gather_kernel(), parameters({"batch=64"}), &h200());
  EXPECT_FALSE(find(expected.traffic, "bytes read").known());
  EXPECT_EQ(expected.missing, (std::vector<std::string>{"embed_dim", "dtype"}));
  EXPECT_EQ(expected.side, Bottleneck::kUnknown);
}

TEST(Expectation, NoModelNoNumbers) {
  KernelFacts kernel;
  kernel.name = "mystery";
  kernel.evidence = {{"atomics", "", {0, 1}, "mystery", Certainty::kCertain}};
  const Expectation expected = expect_of(kernel, parameters({"batch=64"}), &h200());
  EXPECT_FALSE(expected.model);
  EXPECT_TRUE(expected.traffic.empty());
}

TEST(Expectation, TensorCoresOnlyWhereTheCodeShowsThem) {
  KernelFacts kernel;
  kernel.name = "gemm";
  kernel.evidence = {{"wgmma", "", {0, 1}, "gemm", Certainty::kCertain}};
  const auto given = parameters({"m=8192", "n=8192", "k=8192", "dtype=bf16"});
  const Expectation expected = expect_of(kernel, given, &h200());
  EXPECT_EQ(expected.side, Bottleneck::kCompute);
  EXPECT_GT(
      *find(expected.counters, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed")
           .high,
      50);
  const Expectation gather =
      expect_of(gather_kernel(), parameters({"batch=9", "embed_dim=64", "dtype=fp16"}), &h200());
  EXPECT_EQ(
      find(gather.counters, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed").high,
      0);
}

TEST(HostExpectation, ForTwoGpusAllReduceSendsItsSizeOnce) {
  HostFacts host;
  host.evidence = {{"nccl_collective", "ncclAllReduce in place on x", {0, 1}, "f"}};
  const HostExpectation expected = expect_of(
      host, parameters({"bytes=8388608", "world_size=2", "link_bandwidth=450e9"}), nullptr);
  EXPECT_EQ(find(expected.estimates, "bytes that each GPU sends").low, 8388608);
  EXPECT_NEAR(*find(expected.estimates, "time").low, 18.6e-6, 0.1e-6);
}

TEST(KernelNotes, AGridSmallerThanTheGpuIsSaid) {
  const KernelFacts kernel = gather_kernel();
  const auto noted = [&](const char* count) {
    const Expectation expected = expect_of(kernel, parameters({count}), &h200());
    for (const KernelNote& note : notes_on(kernel, expected, parameters({count}), &h200())) {
      if (note.text.find("Small grid") != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(noted("count=64"));
  EXPECT_FALSE(noted("count=6400"));
}

TEST(KernelNotes, NarrowAccessesAreSaidWhereNothingIsWide) {
  KernelFacts kernel;
  kernel.name = "silu_kernel";
  kernel.evidence = {{"fast_math", "__expf", {0, 3}, "silu_kernel", Certainty::kCertain}};
  const auto noted = [&] {
    const Expectation expected = expect_of(kernel, parameters({}), nullptr);
    for (const KernelNote& note : notes_on(kernel, expected, parameters({}), nullptr)) {
      if (note.text.find("No vector access") != std::string::npos) return true;
    }
    return false;
  };
  kernel.parameters = "float* out, const float* in";
  EXPECT_TRUE(noted());
  kernel.parameters = "float4* out, const float4* in";
  EXPECT_FALSE(noted());
}

TEST(AssignedValues, AnIfChainIsAChoice) {
  const python::Tree tree = python::parse(
      "size = x.shape[1] * 2\n"
      "if size % 2048 == 0 and ok:\n    splits = 4\nelif size % 1024 == 0:\n    splits = "
      "2\nelse:\n    splits = 1\n"
      "config = Config(threads=128, pdl=False)\n"
      "if size:\n    lone = 1\n");
  const auto values = python::assigned_values(tree);
  const auto text = [&](std::string_view name) -> std::string {
    std::string found;
    for (const auto& value : values) {
      if (value.name == name && (found.empty() || value.text.find('?') != std::string::npos))
        found = value.text;
    }
    return found;
  };
  EXPECT_EQ(text("splits"), "(size % 2048 == 0 && ok) ? 4 : (size % 1024 == 0) ? 2 : 1");
  EXPECT_EQ(text("threads"), "128");
  EXPECT_EQ(text("pdl"), "false");
  EXPECT_EQ(text("lone"), "1");
}

TEST(LaunchValues, FollowNamesThroughFunctionFileAndTemplate) {
  const std::string code =
      "constexpr int kThreads = 128;\n"
      "int blocks(int rows) { return (rows + 3) / 4; }\n"
      "__global__ void k(int* p) {}\n"
      "template <int kSplits = 2> void run(int n) {\n"
      "  const int warps = kSplits * n;\n"
      "  dim3 grid(blocks(warps));\n"
      "  k<<<grid, kThreads>>>(nullptr);\n"
      "}\n";
  const cpp::TokenList source = cpp::lex(code);
  const cpp::Definitions definitions = cpp::find_definitions(source, {});
  const cpp::KnownNames known = cpp::known_names({&definitions});
  const cpp::Usage usage = cpp::find_usage(source, definitions, known);
  ASSERT_EQ(usage.launches.size(), 1u);
  std::vector<std::string> found;
  const cpp::Brackets brackets(source);
  cpp::BodyTrees trees({source, brackets}, definitions);
  for (const cpp::LocalValue& value :
       cpp::LaunchValues(trees, definitions, cpp::file_constants(source))
           .behind(usage.launches[0])) {
    found.push_back(value.name + " = " + value.text);
  }
  std::sort(found.begin(), found.end());
  const std::vector<std::string> wanted = {"blocks(rows) = (rows + 3) / 4", "kSplits = 2",
                                           "warps = kSplits * n"};
  for (const std::string& text : wanted) {
    EXPECT_TRUE(std::binary_search(found.begin(), found.end(), text)) << text;
  }
}

TEST(LaunchValues, AParameterHidesAConstantOfItsName) {
  const std::string code =
      "__global__ void k(int* p) {}\n"
      "void given(int block, int n) { k<<<n, block>>>(nullptr); }\n"
      "template <int block> void chosen(int n) { k<<<n, block>>>(nullptr); }\n"
      "void own(int n) { k<<<n, block>>>(nullptr); }\n"
      "const int block = 256, rows = 4;\n";
  const cpp::TokenList source = cpp::lex(code);
  const cpp::Definitions definitions = cpp::find_definitions(source, {});
  const cpp::Usage usage = cpp::find_usage(source, definitions, cpp::known_names({&definitions}));
  ASSERT_EQ(usage.launches.size(), 3u);
  const cpp::Brackets brackets(source);
  cpp::BodyTrees trees({source, brackets}, definitions);
  cpp::LaunchValues values(trees, definitions, cpp::file_constants(source));
  EXPECT_EQ(values.behind(usage.launches[0]).size(), 0u);
  EXPECT_EQ(values.behind(usage.launches[1]).size(), 0u);
  ASSERT_EQ(values.behind(usage.launches[2]).size(), 1u);
  EXPECT_EQ(values.behind(usage.launches[2])[0].text, "256");
}

}  // namespace
}  // namespace fathom
