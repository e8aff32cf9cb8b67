// Advice is data: what its rows name must exist, and no row may speak of one vendor's tools to all.
#include "analyze/advice.h"

#include <algorithm>

#include "base/tsv.h"
#include "checks.h"

extern const std::string_view advice_tsv;
extern const std::string_view tools_tsv;

namespace fathom {
namespace {

constexpr std::string_view kNvidiaOnly[] = {"CUDA", "cuda",   "ncu",     "Nsight",
                                            "nsys", "cuBLAS", "CUTLASS", "sm__"};
constexpr std::string_view kAmdOnly[] = {"HIP", "rocprof", "MIOpen", "hipBLAS", "MFMA", "LDS"};

bool mentions(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(
      words, [text](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

TEST(Advice, RowsNameTraitsAndWordsThatExist) {
  const auto words = read_tsv(tools_tsv, 3);
  for (const auto& row : read_tsv(advice_tsv, 6)) {
    EXPECT_TRUE(row[0] == "code" || row[0] == "kernel" || row[0] == "counters") << row[0];
    EXPECT_FALSE(row[5].empty()) << row[1];
    if (row[4] != "*") {
      for (std::string_view trait : split(row[4], ',')) {
        if (trait.starts_with('!')) trait.remove_prefix(1);
        EXPECT_NE(std::ranges::find(trait_names(), trait), trait_names().end()) << trait;
      }
    }
    for (std::string_view text = row[5]; text.find('{') != std::string_view::npos;) {
      text.remove_prefix(text.find('{') + 1);
      const std::string_view word = text.substr(0, text.find('}'));
      EXPECT_TRUE(std::ranges::any_of(words, [word](const auto& tool) {
        return tool[0] == "*" && tool[1] == word;
      })) << word;
    }
  }
}

TEST(Advice, OnlyWordsOfAVendorNameItsTools) {
  for (const auto& row : read_tsv(advice_tsv, 6)) {
    EXPECT_FALSE(mentions(row[5], kNvidiaOnly) || mentions(row[5], kAmdOnly)) << row[5];
  }
}

TEST(Advice, SpeaksOfTheVendorsTools) {
  const auto rows = read_tsv(advice_tsv, 6);
  for (const auto& row : rows) {
    AdviceQuestion question{row[1], row[2] == "*" ? "some_op" : row[2], "compute", "NVIDIA", {}};
    const Advice nvidia = advice_for(question);
    question.vendor = "AMD";
    const Advice amd = advice_for(question);
    question.vendor = {};
    const Advice unknown = advice_for(question);
    for (std::string Advice::* path :
         {&Advice::change_code, &Advice::improve_kernel, &Advice::counters}) {
      EXPECT_FALSE(mentions(nvidia.*path, kAmdOnly)) << nvidia.*path;
      EXPECT_FALSE(mentions(amd.*path, kNvidiaOnly)) << amd.*path;
      EXPECT_FALSE(mentions(unknown.*path, kAmdOnly) || mentions(unknown.*path, kNvidiaOnly))
          << unknown.*path;
      EXPECT_EQ((amd.*path).find('{'), std::string::npos) << amd.*path;
    }
  }
  EXPECT_EQ(advice_for({"gemm", "aten::mm", "compute", "AMD", {}}).counters,
            "MFMA utilization, wavefront occupancy and wavefront wait cycles of the kernel, with "
            "rocprof-compute");
  EXPECT_TRUE(advice_for({"host_bound", {}, {}, "AMD", {}})
                  .change_code.starts_with("Reduce launches: HIP graphs"));
}

TEST(Advice, WhatNamesTheOpCountsBeforeItsCategory) {
  const auto code = [](std::string_view about, std::string_view op) {
    return advice_for({about, op, "memory", "NVIDIA", {}}).change_code;
  };
  EXPECT_TRUE(code("elementwise", "aten::cat").starts_with("Preallocate the result"));
  EXPECT_TRUE(code("elementwise", "aten::mul").starts_with("Fuse it with the ops around it:"));
  EXPECT_TRUE(code("ssm", "mamba").starts_with("Fuse it with the ops around it (torch.compile)"));
  EXPECT_EQ(advice_for({"host_bound", {}, {}, "NVIDIA", {}, false}).improve_kernel, "")
      << "no kernel is at fault";
  EXPECT_TRUE(code("fusible_chain", "copy_ → pow → mean → add → rsqrt → mul")
                  .starts_with("This is an RMSNorm"));
}

}  // namespace
}  // namespace fathom
