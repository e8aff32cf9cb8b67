// Launches, routes, and CUDA text in strings.
#include "checks.h"
#include "scan/python/python_file.h"

namespace fathom::python {
namespace {

TEST(ScanPythonLaunches, Triton) {
  const PythonFile file = read_python(
      "def f(x, n):\n"
      "  grid = lambda meta: (cdiv(n, meta['B']),)\n"
      "  kernel = fast if n > 4 else triton.jit(slow)\n"
      "  kernel[grid](\n    x, n,\n    B=64,\n  )\n"
      "  ops.add[(1, 2)](x)\n"
      "  # gone[grid](x)\n");
  ASSERT_EQ(file.launches.size(), 2u);
  const Launch& first = file.launches[0];
  EXPECT_EQ(first.kernel, "kernel");
  EXPECT_EQ(first.kernels, (std::vector<std::string>{"fast", "slow"}));
  EXPECT_EQ(first.grid, "grid");
  EXPECT_EQ(first.grid_value, "lambda meta: (cdiv(n, meta['B']),)");
  EXPECT_EQ(first.line_first, 4u);
  EXPECT_EQ(first.line_last, 7u);
  EXPECT_EQ(first.function, "f");
  ASSERT_EQ(first.arguments.size(), 3u);
  EXPECT_EQ(first.arguments[2].name, "B");
  EXPECT_EQ(file.launches[1].kernel, "ops.add");
  EXPECT_EQ(file.launches[1].grid, "(1, 2)");
}

TEST(ScanPythonLaunches, CuteAndCuTile) {
  const PythonFile file = read_python(
      "import cuda.tile as ct\n"
      "class Gemm:\n  @cute.jit\n  def __call__(self, a):\n"
      "    self.kernel(a, 1).launch(\n      grid=[n, 1, 1], block=[128, 1, 1], cluster=(2, 1),\n"
      "      smem=self.bytes, stream=s, use_pdl=True)\n"
      "    bound = self.other(a)\n    bound.launch(grid=g, block=b)\n"
      "ct.launch(stream, (4,), tile_kernel, (x, y))\n"
      "browser.launch(headless=True)\nserver().launch()\n");
  ASSERT_EQ(file.launches.size(), 4u);
  const Launch& cute = file.launches[0];
  EXPECT_EQ(cute.kind, LaunchKind::kCute);
  EXPECT_EQ(cute.kernel, "self.kernel");
  EXPECT_EQ(cute.grid, "[n, 1, 1]");
  EXPECT_EQ(cute.block, "[128, 1, 1]");
  EXPECT_EQ(cute.cluster, "(2, 1)");
  EXPECT_EQ(cute.shared_memory, "self.bytes");
  EXPECT_EQ(cute.stream, "s");
  EXPECT_EQ(cute.attributes.at(0).name, "use_pdl");
  EXPECT_EQ(cute.arguments.size(), 2u);
  EXPECT_EQ(cute.line_last, 7u);
  EXPECT_EQ(file.launches[1].kernels, (std::vector<std::string>{"self.other"}));
  EXPECT_EQ(file.launches[2].kind, LaunchKind::kApi);
  EXPECT_EQ(file.launches[2].kernel, "tile_kernel");
  EXPECT_EQ(file.launches[2].grid, "(4,)");
  EXPECT_EQ(file.launches[3].kernel, "server") << "a .launch() of a call; the linker looks it up";
}

TEST(ScanPythonLaunches, CupyAndPycuda) {
  const PythonFile file = read_python(
      "k = cupy.RawKernel(code, 'k')\nk((1,), (32,), (x,))\nfunc(a, grid=(1,1), block=(2,2,1))\n"
      "other((1,), (32,), (x,))\n");
  ASSERT_EQ(file.launches.size(), 2u);
  EXPECT_EQ(file.launches[0].grid, "(1,)");
  EXPECT_EQ(file.launches[0].block, "(32,)");
  EXPECT_EQ(file.launches[1].kernel, "func");
}

TEST(ScanPythonRoutes, DecoratorsCallsAndPrefixes) {
  const PythonFile file = read_python(
      "router = APIRouter(prefix='/v1')\n"
      "@router.post('/generate')\nasync def generate(): pass\n"
      "@app.api_route('/x', methods=['GET', 'post'])\ndef x(): pass\n"
      "@app.route('/flask')\ndef flask(): pass\n"
      "app.add_api_route('/health', health, methods=['GET'])\n"
      "app.include_router(router, prefix='/api')\n"
      "@cache.get('key')\ndef cached(): pass\nrequests.get('/not')\n# @app.get('/no')\n");
  std::string found;
  for (const Route& route : file.routes) {
    found += route.method + " " + route.path + " " + route.function + "@" +
             std::to_string(route.line) + "\n";
  }
  EXPECT_EQ(found,
            "POST /v1/generate generate@2\nGET /x x@4\nPOST /x x@4\nGET /flask flask@6\n"
            "GET /health health@8\n");
  ASSERT_EQ(file.router_mounts.size(), 1u);
  EXPECT_EQ(file.router_mounts[0].router, "router");
  EXPECT_EQ(file.router_mounts[0].prefix, "/api");
}

TEST(ScanPythonCudaTexts, LinesOfSourceAreExact) {
  const PythonFile file = read_python(
      "'''docs: __global__ void none()'''\n"
      "SOURCE = r'''\n"
      "#include <a.h>\n"
      "__global__ void one() {}\n"
      "'''\n"
      "def f():\n"
      "  return load(source=('// \\n'\n"
      "      '__global__ void \\\n"
      "two() {}\\n' f'''x<{n}> {{\n"
      "}}'''))\n"
      "# __global__ in a comment\n");
  ASSERT_EQ(file.cuda_texts.size(), 2u);
  const CudaText& first = file.cuda_texts[0];
  EXPECT_EQ(first.kind, CudaTextKind::kSource);
  EXPECT_EQ(first.text, "\n#include <a.h>\n__global__ void one() {}\n");
  EXPECT_EQ(first.line, 2u);
  EXPECT_EQ(first.lines, (std::vector<uint32_t>{2, 3, 4}));
  EXPECT_EQ(first.assigned_to, "SOURCE");
  const CudaText& second = file.cuda_texts[1];
  EXPECT_EQ(second.text, "// \n__global__ void two() {}\nx<{n}> {\n}");
  EXPECT_EQ(second.lines, (std::vector<uint32_t>{7, 8, 9, 10}));
  EXPECT_EQ(second.function, "f");
  EXPECT_EQ(second.call, "load");
}

TEST(ScanPythonCudaTexts, FilesAndTemplateArguments) {
  const PythonFile file = read_python(
      "load('index', files=['index.cu', f'{d}/x.cuh'], wrap=[('run', f'Index<{args}, 2>::run')])\n"
      "'a.cu'\nprint('not a file.cu')\nx = f'{a} < {b}'\ny = f'<{tag}>'\nz = 'Name<int>'\n");
  std::string found;
  for (const CudaText& text : file.cuda_texts) {
    found += std::to_string(static_cast<int>(text.kind)) + " " + text.text + "@" +
             std::to_string(text.line) + "\n";
  }
  EXPECT_EQ(found, "2 index.cu@1\n2 {d}/x.cuh@1\n3 Index<{args}, 2>::run@1\n");
}

}  // namespace
}  // namespace fathom::python
