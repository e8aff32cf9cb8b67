// Kernels of the languages in data/kernels: what is said of those whose bodies are not read, and
// the sources of ../shared that were read wrongly.
#include <filesystem>

#include "checks.h"
#include "report/scan/scan_report.h"
#include "report/scan/unread_code.h"
#include "scan/scan_repository.h"
#include "story/tell_stories.h"
#include "test_files.h"

namespace fathom {
namespace {

using std::filesystem::path;

CodeFacts scanned(const path& repository) {
  Result<CodeFacts> facts = scan_repository(repository);
  EXPECT_TRUE(facts.ok());
  return facts.ok() ? facts.take() : CodeFacts();
}

path repository(std::string_view name) {
  return test::source_dir() / "tests/scan/repositories" / name;
}

TEST(KernelLanguages, SayWhatIsNotRead) {
  const CodeFacts facts = scanned(repository("24-strings-and-prebuilt"));
  EXPECT_EQ(unread_lines(facts), (std::vector<std::string>{
                                     "2 OpenCL kernels: positions only; bodies not read",
                                     "2 AMD code objects (.co): not read",
                                     "1 CUDA-in-string kernel: positions only; body not read",
                                     "1 WGSL kernel: positions only; body not read",
                                     "1 cubin (.cubin): not read", "1 PTX file (.ptx): not read"}));
}

// Where no header and no call says it, the file's own name does.
TEST(KernelLanguages, FilesThatAreCalledHip) {
  const test::TemporaryDirectory place;
  const std::string code =
      "__global__ void k(int* p) { p[0] = 1; }\nvoid run(int* p) { k<<<1, 1>>>(p); }\n";
  for (const char* name : {"sum-Hip.cpp", "sum-Cuda.cpp", "ship.cpp"})
    test::write_file(place.path() / name, code);
  std::string found;
  const CodeFacts facts = scanned(place.path());
  for (const KernelFacts& kernel : facts.kernels)
    found +=
        facts.files[kernel.at.file].path + (kernel.kind == KernelKind::kHip ? " hip " : " cuda ");
  EXPECT_EQ(found, "ship.cpp cuda sum-Cuda.cpp cuda sum-Hip.cpp hip ");
}

// A submodule is where its path says, whatever it is called.
TEST(KernelLanguages, SubmodulesThatAreNotCheckedOutAreNamed) {
  const test::TemporaryDirectory place;
  test::write_file(place.path() / ".gitmodules",
                   "[submodule \"cutlass\"]\n\tpath = third_party/cutlass\n\turl = x\n"
                   "[submodule \"other\"]\n\tpath = third_party/other\n\turl = y\n");
  test::write_file(place.path() / "third_party/cutlass/a.h", "int f();\n");
  EXPECT_EQ(unread_lines(scanned(place.path())),
            (std::vector<std::string>{
                "1 submodule is not checked out, kernels and launches in it are not seen: other"}));
}

TEST(KernelLanguages, NothingIsSaidWhereAllIsRead) {
  EXPECT_TRUE(unread_lines(scanned(repository("07-triton"))).empty());
  EXPECT_TRUE(unread_lines(scanned(repository("21-kernel-macros"))).empty());
}

TEST(KernelLanguages, KernelsWithoutABodyHaveNoStory) {
  const CodeFacts facts = scanned(repository("23-shaders"));
  ASSERT_FALSE(facts.kernels.empty());
  for (const KernelFacts& kernel : facts.kernels) {
    EXPECT_FALSE(kernel.body_read) << kernel.name;
    EXPECT_FALSE(kernel.dead) << kernel.name << ": launches of it are not looked for everywhere";
    EXPECT_TRUE(kernel.evidence.empty()) << kernel.name;
  }
}

// CUTLASS_GLOBAL, whose header is a submodule that is not there.
TEST(KernelLanguages, MacroOfAnAbsentHeader) {
  const path cases = test::source_dir() / "../shared/data/scan/case3";
  if (!std::filesystem::exists(cases)) GTEST_SKIP() << "skipped: no shared data";
  const CodeFacts facts = scanned(cases);
  ASSERT_EQ(facts.kernels.size(), 1u);
  EXPECT_EQ(facts.kernels[0].name, "my_impl");
  EXPECT_EQ(facts.kernels[0].at.line, 2u);
  EXPECT_EQ(facts.kernels[0].line_name, 4u);
  EXPECT_EQ(facts.kernels[0].line_last, 4u);
}

}  // namespace
}  // namespace fathom
