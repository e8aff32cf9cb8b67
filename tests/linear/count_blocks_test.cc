// Where steps are counted in assembly: at functions and at labels in code, nowhere else.
#include "checks.h"
#include "test_files.h"

namespace fathom::test {
namespace {

constexpr std::string_view kAssembly =
    "\t.text\n"
    "main:\n"
    ".LFB0:\n"
    "\t.cfi_startproc\n"
    "\tcmpl $3, %edi\n"
    ".L2:\n"
    "\tja .L4\n"
    ".LEHB0:\n"
    "\tjmp *%rax\n"
    ".L6:\n"
    "\taddsd %xmm1, %xmm0\n"
    "\tsetne %al\n"
    ".L7:\n"
    "\tmovl %eax, %edx\n"
    "\tucomisd %xmm1, %xmm0\n"
    "\tja .L2\n"
    "\t.section\t.rodata\n"
    ".LC0:\n"
    "\t.string \"s\"\n"
    ".L5:\n"
    "\t.long .L4-.L5\n"
    "\t.section\t.text.unlikely,\"ax\",@progbits\n"
    ".L4:\n"
    "\tret\n"
    "\t.cfi_endproc\n";

// The copy with each piece of counting code as one line: "+", or "+ flags" where it keeps them.
std::string shortened(const std::string& counted) {
  std::string lines;
  bool counting = false;
  for (size_t at = 0; at < counted.size();) {
    const size_t end = counted.find('\n', at);
    const std::string line = counted.substr(at, end - at);
    at = end + 1;
    if (line == "\tleaq -128(%rsp), %rsp") counting = true;
    if (!counting) lines += line == "\tincq %fs:fathom_steps@tpoff" ? "+\n" : line + "\n";
    if (line != "\tleaq 128(%rsp), %rsp") continue;
    lines += "+ flags\n";
    counting = false;
  }
  return lines;
}

TEST(CountBlocks, AtFunctionsAndLabelsOfCode) {
  const auto program = std::filesystem::path(counted_binary()).parent_path() / "count_blocks";
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "counted by the compiler here";
  const TemporaryDirectory place;
  write_file(place.path() / "in.s", kAssembly);
  const CommandResult result = run_command("'" + program.string() + "' <in.s", place.path());
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  std::string expected(kAssembly);
  for (const std::string_view line : {"\t.cfi_startproc\n", "\n.L4:\n", "\n.L7:\n"}) {
    expected.insert(expected.find(line) + line.size(), "+\n");
  }
  for (const std::string_view line : {"\n.L2:\n", "\n.L6:\n"}) {
    expected.insert(expected.find(line) + line.size(), "+ flags\n");
  }
  EXPECT_EQ(shortened(result.output), expected);
}

}  // namespace
}  // namespace fathom::test
