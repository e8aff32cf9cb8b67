#include "scan/kernel_oracle.h"

#include "checks.h"

namespace fathom::test {
namespace {

// What measures the scanner must itself be right.
TEST(KernelOracle, SeesCodeOnly) {
  const std::vector<OracleKernel> expected = {{"a", 2}, {"b", 7}, {"c", 12}};
  EXPECT_EQ(literal_kernels("// __global__ void no() {}\n"
                            "__global__ __launch_bounds__(1) void a(int x) { f(\"}\"); }\n"
                            "#ifdef X\n"
                            "__global__ void b<int>(int\n"
                            "  y) {\n"
                            "  '}';\n"
                            "}\n"
                            "#else\n"
                            "__global__ void declared(int);\n"
                            "#endif\n"
                            "R\"(__global__ void text() {})\";\n"
                            "__global__ void c() {}\n"),
            expected);
}

}  // namespace
}  // namespace fathom::test
