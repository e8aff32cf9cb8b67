// Where the request paths of a library begin, and how they lead through its C++ modules.
#include <algorithm>
#include <cstdlib>

#include "checks.h"
#include "scan/docs/doc_examples.h"
#include "scan/facts/fact_names.h"
#include "scan/scan_repository.h"
#include "test_files.h"

namespace fathom {
namespace {

using Texts = std::vector<std::string>;

class LibraryPathsTest : public ::testing::Test {
 protected:
  void scan(const std::filesystem::path& repository) {
    Result<CodeFacts> scanned = scan_repository(repository, {0, {}});
    ASSERT_TRUE(scanned.ok()) << scanned.error().message;
    facts_ = scanned.take();
  }
  void scan_own(const std::string& name) {
    scan(test::source_dir() / "tests/scan/repositories" / name);
  }
  // None: the repositories are not here, and the test is skipped.
  bool scan_real(const std::string& name) {
    const char* folder = std::getenv("FATHOM_SCAN_REPOS");
    if (folder == nullptr || !std::filesystem::exists(std::filesystem::path(folder) / name))
      return false;
    scan(std::filesystem::path(folder) / name);
    return true;
  }
  Texts entries() const {
    Texts out;
    for (const RequestPath& path : facts_.request_paths) {
      if (std::find(out.begin(), out.end(), path.entry) == out.end()) out.push_back(path.entry);
    }
    return out;
  }
  const RequestPath* path(std::string_view entry, std::string_view kernel) const {
    for (const RequestPath& p : facts_.request_paths) {
      if (p.entry == entry && p.kernel && facts_.kernels[*p.kernel].name == kernel) return &p;
    }
    return nullptr;
  }
  static Texts functions(const RequestPath* path) {
    Texts out;
    if (path == nullptr) return out;
    for (const RequestHop& hop : path->hops) out.push_back(hop.function);
    return out;
  }
  // Its kernel's own path begins there.
  std::string first_of_path(std::string_view kernel) const {
    for (const KernelFacts& k : facts_.kernels) {
      if (k.name == kernel && !k.path.empty()) return hop_text(k.path[0]);
    }
    return "";
  }

  CodeFacts facts_;
};

Texts names_of(const std::vector<DocumentedCall>& calls) {
  Texts out;
  for (const DocumentedCall& call : calls) out.push_back(call.name);
  return out;
}

TEST(DocExamples, CallsByTheirImports) {
  const std::vector<DocumentedCall> calls = read_doc_examples(
      "# Title\n"
      "```python\n"
      "import torch\n"
      "import pkg\n"
      "from pkg.sub import make as build\n"
      "w = pkg.Wrapper(torch.zeros(1))\n"
      "w.plan(1)\n"
      "w.run(pkg.f(1))\n"
      "build()\n"
      "```\n"
      "```bash\npkg.not_python(1)\n```\n"
      "`pkg.g(1)` is prose.\n",
      true);
  EXPECT_EQ(names_of(calls), (Texts{"pkg.Wrapper", "torch.zeros", "pkg.Wrapper.plan",
                                    "pkg.Wrapper.run", "pkg.f", "pkg.sub.make"}));
  EXPECT_EQ(calls[0].at.line, 6u);
}

TEST(DocExamples, SignaturesWithoutDef) {
  EXPECT_EQ(names_of(read_doc_examples("```python\nfrom pkg import f\n```\n"
                                       "```py\nf(q, k,\n  causal=False):\n\"\"\"Text\n\"\"\"\n```\n"
                                       "```python\ndef g(x):\n    pass\n```\n",
                                       true)),
            (Texts{"pkg.f", "pkg.g"}));
  // A block that is entered is no signature, and what nothing imports is nobody's.
  EXPECT_EQ(names_of(read_doc_examples("```python\nif f(x):\n    g(x)\n```\n", true)), Texts{});
}

TEST_F(LibraryPathsTest, ReadmeFirstThenWhatIsCalledMost) {
  scan_own("17-jit-modules");
  EXPECT_EQ(entries(),
            (Texts{"pkg.single_decode", "pkg.BatchWrapper.run", "pkg.BatchWrapper.plan"}))
      << "helper reaches no kernel";
  EXPECT_EQ(facts_.request_paths[0].why, "a README example calls it (README.md:8)");
  EXPECT_EQ(facts_.request_paths[1].why,
            "the package exports it; 1 file of the repository calls it");
  EXPECT_EQ(facts_.request_paths[2].why, "it is called before run");
}

// A method that very many classes implement leads to none of them.
TEST_F(LibraryPathsTest, ThroughAnInterfaceOfAFew) {
  for (const int classes : {3, 40}) {
    const test::TemporaryDirectory place;
    std::string code =
        "import triton\n\n@triton.jit\ndef work_kernel(x):\n    pass\n\nclass Op:\n"
        "    def __call__(self, x):\n        return self.work(x)\n"
        "    def work(self, x):\n        raise NotImplementedError\n\n";
    for (int i = 0; i < classes; ++i)
      code += "class Op" + std::to_string(i) +
              "(Op):\n    def work(self, x):\n        work_kernel[(1,)](x)\n\n";
    std::filesystem::create_directories(place.path() / "pkg");
    test::write_file(place.path() / "pkg/__init__.py",
                     code + "def apply(op: Op, x):\n    return op(x)\n");
    test::write_file(place.path() / "README.md",
                     "# T\n\n```python\nimport pkg\npkg.apply(op, x)\n```\n");
    scan(place.path());
    ASSERT_FALSE(facts_.request_paths.empty());
    EXPECT_EQ(facts_.request_paths[0].kernels_reached, classes == 3 ? 1u : 0u) << classes;
  }
}

// Two modules export `run`: the one that the object comes from is meant.
TEST_F(LibraryPathsTest, ThroughTheModuleThatTheObjectComesFrom) {
  scan_own("17-jit-modules");
  const RequestPath* single = path("pkg.single_decode", "single_kernel");
  EXPECT_EQ(functions(single), (Texts{"single_decode", "get_single_module.run_single",
                                      "single_decode", "single_dispatched", "single_kernel"}));
  ASSERT_NE(single, nullptr);
  EXPECT_EQ(single->hops[0].at.line, 33u) << "the function, and not its @overload";
  EXPECT_EQ(reach_text(facts_, single->hops[2].how),
            "calls run of the module built by gen_customize_single_module (bound at "
            "csrc/single_binding.cu:3)");
  EXPECT_EQ(single->hops[2].certainty, Certainty::kLikely);
  EXPECT_EQ(path("pkg.single_decode", "batch_kernel"), nullptr);
  EXPECT_EQ(functions(path("pkg.BatchWrapper.run", "batch_kernel")),
            (Texts{"BatchWrapper.run", "batch_run", "batch_kernel"}));
  EXPECT_EQ(path("pkg.BatchWrapper.run", "single_kernel"), nullptr);
  const RequestPath& plan = facts_.request_paths.back();
  EXPECT_FALSE(plan.kernel.has_value());
  EXPECT_EQ(plan.hops.back().function, "batch_plan");
  // The kernels' own paths say the same: run_with_module may be given either module.
  EXPECT_EQ(first_of_path("single_kernel"), "Python single_decode");
  EXPECT_EQ(first_of_path("batch_kernel"), "Python BatchWrapper.run");
}

TEST_F(LibraryPathsTest, ThroughAnExtensionOfSetupPy) {
  scan_own("18-setup-extension");
  EXPECT_EQ(entries(), Texts{"pkg.attend"});
  const RequestPath* attend = path("pkg.attend", "attend_kernel");
  EXPECT_EQ(functions(attend),
            (Texts{"attend", "pkg::forward", "run_", "launch", "attend_kernel"}));
  ASSERT_NE(attend, nullptr);
  EXPECT_EQ(reach_text(facts_, attend->hops[2].how), "calls it or another of 2 specialisations");
  EXPECT_EQ(path("pkg.attend", "other_kernel"), nullptr) << "another extension exports fwd too";
  // The other branch of the import is somebody else's library.
  EXPECT_EQ(facts_.request_paths.back().stopped,
            "continues in aiter, whose kernels are outside this repository");
}

TEST_F(LibraryPathsTest, FlashInfer) {
  if (!scan_real("flashinfer")) GTEST_SKIP() << "FATHOM_SCAN_REPOS has no flashinfer";
  const Texts found = entries();
  ASSERT_GE(found.size(), 4u);
  EXPECT_EQ(found[0], "flashinfer.single_decode_with_kv_cache");
  for (const std::string_view wanted : {"flashinfer.BatchDecodeWithPagedKVCacheWrapper.run",
                                        "flashinfer.BatchDecodeWithPagedKVCacheWrapper.plan",
                                        "flashinfer.BatchPrefillWithPagedKVCacheWrapper.run",
                                        "flashinfer.single_prefill_with_kv_cache"})
    EXPECT_NE(std::find(found.begin(), found.end(), wanted), found.end()) << wanted;
  EXPECT_EQ(functions(path(found[0], "SingleDecodeWithKVCacheKernel")),
            (Texts{"single_decode_with_kv_cache", "get_single_decode_module.run_single_decode",
                   "single_decode_with_kv_cache", "flashinfer::SingleDecodeWithKVCacheDispatched",
                   "SingleDecodeWithKVCacheKernel"}));
  EXPECT_EQ(path(found[0], "BatchDecodeWithPagedKVCacheKernel"), nullptr);
  EXPECT_EQ(
      functions(path("flashinfer.BatchDecodeWithPagedKVCacheWrapper.run",
                     "BatchDecodeWithPagedKVCacheKernel")),
      (Texts{"BatchDecodeWithPagedKVCacheWrapper.run", "get_batch_decode_module.run_batch_decode",
             "BatchDecodeWithPagedKVCacheRun", "flashinfer::BatchDecodeWithPagedKVCacheDispatched",
             "BatchDecodeWithPagedKVCacheKernel"}));
  EXPECT_NE(path("flashinfer.single_prefill_with_kv_cache", "SinglePrefillWithKVCacheKernel"),
            nullptr);
}

TEST_F(LibraryPathsTest, FlashAttention) {
  if (!scan_real("flash-attention")) GTEST_SKIP() << "FATHOM_SCAN_REPOS has no flash-attention";
  const Texts found = entries();
  ASSERT_GE(found.size(), 5u);
  EXPECT_EQ(Texts(found.begin(), found.begin() + 5),
            (Texts{"flash_attn_3.flash_attn_interface.flash_attn_func",
                   "flash_attn.cute.flash_attn_func", "flash_attn.flash_attn_qkvpacked_func",
                   "flash_attn.flash_attn_func", "flash_attn.flash_attn_with_kvcache"}));
  const Texts forward = functions(path("flash_attn.flash_attn_func", "flash_fwd_kernel"));
  ASSERT_EQ(forward.size(), 9u);
  EXPECT_EQ(Texts(forward.begin(), forward.begin() + 6),
            (Texts{"flash_attn_func", "FlashAttnFunc.forward", "_flash_attn_forward",
                   "FLASH_NAMESPACE::mha_fwd", "FLASH_NAMESPACE::run_mha_fwd",
                   "FLASH_NAMESPACE::run_mha_fwd_"}));
  EXPECT_NE(path("flash_attn.flash_attn_with_kvcache", "flash_fwd_splitkv_kernel"), nullptr);
  EXPECT_NE(path("flash_attn_3.flash_attn_interface.flash_attn_func", "FlashAttnFwdSm90"), nullptr);
  // Of AMD's library and of Hopper's module nothing is reached from the function of
  // FlashAttention-2.
  EXPECT_EQ(path("flash_attn.flash_attn_func", "FlashAttnFwdSm90"), nullptr);
}

}  // namespace
}  // namespace fathom
