// The scanner over real repositories, whose folder FATHOM_SCAN_REPOS names: mini-sglang 20fcd7f,
// flashinfer fb28d72, flash-attention 0251105, llm.c. None of their code is kept here.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "checks.h"
#include "scan/kernel_oracle.h"
#include "scan/scan_repository.h"
#include "test_files.h"

namespace fathom {
namespace {

class RealKernels : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("FATHOM_SCAN_REPOS");
    if (folder == nullptr) GTEST_SKIP() << "skipped: FATHOM_SCAN_REPOS names no folder";
    root_ = folder;
    for (const char* name : {"mini-sglang", "flashinfer", "flash-attention", "llm.c"}) {
      if (!std::filesystem::exists(root_ / name)) {
        GTEST_SKIP() << "skipped: " << root_ << " has no " << name;
      }
    }
  }

  const CodeFacts& scan(const std::string& name) {
    static std::map<std::string, CodeFacts> scanned;
    const auto found = scanned.find(name);
    if (found != scanned.end()) return found->second;
    return scanned[name] = scan_repository(root_ / name).take();
  }

  // Kernels that are written out in C++ files, by the scanner and by the oracle.
  size_t compare_literal_kernels(const std::string& name) {
    const CodeFacts& facts = scan(name);
    size_t count = 0;
    for (uint32_t file = 0; file < facts.files.size(); ++file) {
      const SourceFile& source = facts.files[file];
      const bool cpp = source.language == Language::kCpp || source.language == Language::kCuda ||
                       source.language == Language::kHip;
      if (!cpp || !source.skipped.empty()) continue;
      const std::string text = test::read_file(root_ / name / source.path);
      if (text.find("__global__") == std::string::npos) continue;
      const auto expected = test::literal_kernels(text);
      std::vector<test::OracleKernel> found;
      for (const KernelFacts& kernel : facts.kernels) {
        const bool written_out =
            kernel.kind == KernelKind::kCuda || kernel.kind == KernelKind::kHip;
        if (kernel.at.file == file && written_out) found.push_back({kernel.name, kernel.line_last});
      }
      std::sort(found.begin(), found.end());
      EXPECT_TRUE(found == expected)
          << source.path << ": " << found.size() << " found, " << expected.size() << " expected";
      count += expected.size();
    }
    return count;
  }

  std::set<std::string> names(const std::string& repository, KernelKind kind) {
    std::set<std::string> out;
    for (const KernelFacts& kernel : scan(repository).kernels) {
      if (kernel.kind == kind) out.insert(kernel.name);
    }
    return out;
  }

  std::set<std::string> dead(const std::string& repository) {
    std::set<std::string> out;
    for (const KernelFacts& kernel : scan(repository).kernels) {
      if (kernel.dead) out.insert(kernel.name);
    }
    return out;
  }

  std::filesystem::path root_;
};

using KernelNames = std::set<std::string>;

TEST_F(RealKernels, EveryLiteralKernelWithItsNameAndEnd) {
  EXPECT_EQ(compare_literal_kernels("mini-sglang"), 3u);
  EXPECT_EQ(compare_literal_kernels("flashinfer"), 439u);
  EXPECT_EQ(compare_literal_kernels("flash-attention"), 12u);
  EXPECT_EQ(compare_literal_kernels("llm.c"), 148u);
}

TEST_F(RealKernels, MacrosPastedNamesAndAliases) {
  EXPECT_EQ(names("flash-attention", KernelKind::kMacro),
            (KernelNames{"flash_bwd_dq_dk_dv_loop_kernel",
                         "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", "flash_fwd_kernel",
                         "flash_fwd_splitkv_combine_kernel", "flash_fwd_splitkv_kernel"}));
  EXPECT_EQ(names("flashinfer", KernelKind::kMacro),
            (KernelNames{"convertSfR128c4ToLinearKernel", "convertSfR8c16ToLinearKernel",
                         "convertSfR8c4ToLinearKernel"}));
  const KernelNames cuda = names("flashinfer", KernelKind::kCuda);
  EXPECT_TRUE(cuda.contains("sm89_fp8_gemm_1d1d_impl"));
  EXPECT_TRUE(cuda.contains("sm89_fp8_bmm_1d1d_impl"));
}

TEST_F(RealKernels, ClassesThatDeviceKernelRuns) {
  EXPECT_EQ(names("flash-attention", KernelKind::kDeviceKernel),
            (KernelNames{"FlashAttnBwdPostprocessConvertdQ", "FlashAttnBwdPreprocess",
                         "FlashAttnBwdSm80", "FlashAttnBwdSm90", "FlashAttnFwdCombine",
                         "FlashAttnFwdSm80", "FlashAttnFwdSm90"}));
  EXPECT_EQ(
      names("flashinfer", KernelKind::kDeviceKernel),
      (KernelNames{"SM120BlockScaledGemmKernel", "SM120BlockScaledMoeGemmKernel",
                   "SM120BlockScalingGemmKernel", "SM120BlockScalingMoeGemmKernel",
                   "SM120BlockScalingFusedMoeGemmKernel", "SM120BlockScaledFusedMoeGemmKernel",
                   "Sm100FmhaFwdKernelTmaWarpspecialized", "Sm100FmhaMlaReductionKernel",
                   "Sm100FmhaMlaKernelTmaWarpspecialized"}));
}

// Each was searched for by hand: its name stands nowhere but in its definition, in comments, or in
// files that have another kernel of this name.
TEST_F(RealKernels, DeadOnes) {
  EXPECT_EQ(dead("mini-sglang"), KernelNames{});
  EXPECT_EQ(dead("flashinfer"),
            (KernelNames{"cleanup_kernel", "dispatch_kernel",
                         "selective_state_update_kernel_async_horizontal_mtp"}));
  EXPECT_EQ(dead("flash-attention"),
            (KernelNames{"flash_bwd_dq_dk_dv_loop_kernel", "flash_bwd_clear_dkvaccum_kernel",
                         "flash_bwd_convert_dkv_kernel"}));
  EXPECT_EQ(dead("llm.c"), (KernelNames{"attention_forward_fused1", "global_norm_aggregate_kernel",
                                        "matmul_backward_bias_kernel_naive"}));
}

TEST_F(RealKernels, TritonHelpersAreNone) {
  const KernelNames kernels = names("flash-attention", KernelKind::kTriton);
  for (const char* helper : {"cosh", "relu_grad", "leaky_relu", "gelu"}) {
    EXPECT_FALSE(kernels.contains(helper)) << helper;
  }
  EXPECT_TRUE(kernels.contains("rotary_kernel"));
  EXPECT_FALSE(names("flashinfer", KernelKind::kTriton).contains("softplus"));
}

TEST_F(RealKernels, MiniSglangsLaunchers) {
  std::map<std::string, std::pair<std::string, uint32_t>> launched;
  const CodeFacts& facts = scan("mini-sglang");
  for (const KernelFacts& kernel : facts.kernels) {
    ASSERT_FALSE(kernel.launchers.empty()) << kernel.name;
    const CodePlace& at = kernel.launchers[0].at;
    launched[kernel.name] = {facts.files[at.file].path, at.line};
    ASSERT_FALSE(kernel.path.empty()) << kernel.name;
    EXPECT_EQ(kernel.path.front().kind, PathHopKind::kPython) << kernel.name;
  }
  const std::string jit = "python/minisgl/kernel/csrc/jit/",
                    moe = "python/minisgl/kernel/moe_impl.py";
  const decltype(launched) expected = {{"index_kernel", {jit + "index.cu", 166}},
                                       {"masked_index_kernel", {jit + "index.cu", 158}},
                                       {"store_kv_cache", {jit + "store.cu", 118}},
                                       {"moe_sum_reduce_kernel", {moe, 86}},
                                       {"fused_moe_kernel", {moe, 38}}};
  EXPECT_EQ(launched, expected);
}

TEST_F(RealKernels, MiniSglangsOptions) {
  std::map<std::string, std::string> cli, environment;
  for (const OptionFacts& option : scan("mini-sglang").options) {
    if (option.kind == OptionKind::kConfig) continue;
    auto& into = option.kind == OptionKind::kCli ? cli : environment;
    into[option.name] = option.default_value.value_or("(none)");
  }
  const std::map<std::string, std::string> expected_cli = {{"--model-path", "(none)"},
                                                           {"--dtype", "\"auto\""},
                                                           {"--tensor-parallel-size", "1"},
                                                           {"--max-running-requests", "256"},
                                                           {"--max-seq-len-override", "None"},
                                                           {"--memory-ratio", "0.9"},
                                                           {"--dummy-weight", "False"},
                                                           {"--disable-pynccl", "True"},
                                                           {"--host", "\"127.0.0.1\""},
                                                           {"--port", "1919"},
                                                           {"--cuda-graph-max-bs", "None"},
                                                           {"--num-tokenizer", "0"},
                                                           {"--max-prefill-length", "8192"},
                                                           {"--num-pages", "None"},
                                                           {"--page-size", "1"},
                                                           {"--attention-backend", "\"auto\""},
                                                           {"--model-source", "\"huggingface\""},
                                                           {"--cache-type", "\"radix\""},
                                                           {"--moe-backend", "\"auto\""},
                                                           {"--shell-mode", "False"}};
  EXPECT_EQ(cli, expected_cli);
  const std::map<std::string, std::string> expected_environment = {
      {"MINISGL_SHELL_MAX_TOKENS", "2048"},
      {"MINISGL_SHELL_TOP_K", "-1"},
      {"MINISGL_SHELL_TOP_P", "1.0"},
      {"MINISGL_SHELL_TEMPERATURE", "0.6"},
      {"MINISGL_FLASHINFER_USE_TENSOR_CORES", "None"},
      {"MINISGL_DISABLE_OVERLAP_SCHEDULING", "False"},
      {"MINISGL_PYNCCL_MAX_BUFFER_SIZE", "1024**3"},
      {"LOG_LEVEL", "\"\""},
      {"LOG_PID", "\"0\""}};
  EXPECT_EQ(environment, expected_environment);
}

}  // namespace
}  // namespace fathom
