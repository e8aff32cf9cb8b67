#include <string>
#include <string_view>

#include "checks.h"
#include "scan/cpp/cpp_file.h"
#include "scan/facts/fact_names.h"

namespace fathom::cpp {
namespace {

struct ReadUsage {
  Definitions definitions;
  KnownNames known;
  Usage usage;
};

ReadUsage read_usage(std::string_view text) {
  const TokenList source = lex(text);
  ReadUsage out;
  out.definitions = find_definitions(source, {});
  out.known = known_names({&out.definitions});
  out.usage = find_usage(source, out.definitions, out.known);
  return out;
}

std::string text_of(const Launch& launch) {
  std::string out;
  for (const std::string& kernel : launch.kernels) out += (out.empty() ? "" : "|") + kernel;
  if (launch.through_parameter) out += "(parameter)";
  out += " via " + launch.via + " [" + launch.grid + "; " + launch.block + "; " +
         launch.shared_memory + "; " + launch.stream + "]";
  for (const LaunchAttribute& attribute : launch.attributes)
    out += " +" + attribute_text(attribute);
  return out;
}

std::string launches(std::string_view text) {
  std::string out;
  for (const Launch& launch : read_usage(text).usage.launches) {
    out += (out.empty() ? "" : "\n") + text_of(launch);
  }
  return out;
}

const std::string kKernels =
    "template <int N> __global__ void a(int* p) {} template <int N> __global__ void b(int* p) {}\n";

// A variable of the file that is no constant has its first value only until somebody sets it.
TEST(ScanCppUsage, VariablesOutsideOfTheFunctionMayHaveChanged) {
  EXPECT_EQ(launches(kKernels + "static int most = 0;\nstatic const int fixed = 128;\n"
                                "void set() { query(&most); }\n"
                                "void run(int* p) { int own = 2; a<1><<<most, fixed, own>>>(p); }"),
            "a via <<<>>> [most; 128; 2; ]");
}

TEST(ScanCppUsage, TripleBrackets) {
  const ReadUsage found = read_usage(kKernels + R"(
void run(int n, cudaStream_t stream) {
  dim3 grid(n, 2), block(128);
  CHECK(a<8>
      <<<grid, block, 64, stream>>>(p));
}
)");
  ASSERT_EQ(found.usage.launches.size(), 1u);
  const Launch& launch = found.usage.launches[0];
  EXPECT_EQ(text_of(launch), "a via <<<>>> [dim3(n, 2); dim3(128); 64; stream]");
  EXPECT_EQ(launch.template_arguments, "8");
  EXPECT_EQ(launch.line_first, 5u);
  EXPECT_EQ(launch.line_last, 6u);
  EXPECT_EQ(found.definitions.functions.at(*launch.function).name, "run");
}

TEST(ScanCppUsage, CommentedOutLaunchesAreNone) {
  EXPECT_EQ(launches(kKernels + "void f() { /* a<1><<<1, 2>>>(p); */ g(\"a<<<1, 2>>>()\"); }\n"),
            "");
}

TEST(ScanCppUsage, ChosenByConditionAndThroughAuto) {
  EXPECT_EQ(launches(kKernels + R"(
void run(bool wide) {
  if (wide) {
    auto kernel = &b<1>;
    kernel<<<1, 2>>>(p);
  } else {
    const auto kernel = wide ? a<1> : b<2>;
    kernel<<<3, 4>>>(p);
  }
}
)"),
            "b via <<<>>> [1; 2; ; ]\na|b via <<<>>> [3; 4; ; ]");
  EXPECT_EQ(launches(kKernels + R"(
void run(bool wide) {
  void (*kernel)(int*) = nullptr;
  if (wide) kernel = a<1>; else kernel = b<1>;
  void const* pointer = (void const*)kernel;
  cudaLaunchKernel(pointer, 5, 6, arguments, 7, stream);
}
)"),
            "a|b via cudaLaunchKernel [5; 6; 7; stream]");
}

TEST(ScanCppUsage, ConfigurationObjects) {
  EXPECT_EQ(
      launches(kKernels + R"(
void other() { cudaLaunchConfig_t config; config.gridDim = 99; }
void run(bool pdl) {
  cudaLaunchConfig_t config;
  config.gridDim = dim3(8, 2);
  config.blockDim = 128;
  config.dynamicSmemBytes = kBytes;
  config.stream = stream;
  cudaLaunchAttribute attrs[2];
  attrs[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attrs[0].val.programmaticStreamSerializationAllowed = pdl;
  attrs[1].id = cudaLaunchAttributeClusterDimension;
  attrs[1].val.clusterDim.x = 2;
  attrs[1].val.clusterDim.y = 1;
  attrs[1].val.clusterDim.z = 1;
  config.attrs = attrs;
  config.numAttrs = 2;
  cudaLaunchKernelEx(&config, a<4>, p);
}
)"),
      "a via cudaLaunchKernelEx [dim3(8, 2); 128; kBytes; stream] +PDL if pdl +cluster (2, 1, 1)");
  EXPECT_EQ(launches(kKernels + R"(
void run() {
  cudaLaunchConfig_t config{grid(), 64, 0, stream};
  cudaLaunchKernelExC(&config, (void*)a<4>, arguments);
}
void named() {
  cudaLaunchConfig_t config = {.gridDim = 7, .blockDim = 32};
  cudaLaunchKernelEx(&config, b<4>, p);
}
)"),
            "a via cudaLaunchKernelExC [grid(); 64; 0; stream]\n"
            "b via cudaLaunchKernelEx [7; 32; ; ]");
}

TEST(ScanCppUsage, OtherLaunchCalls) {
  EXPECT_EQ(launches(kKernels + R"(
void run() {
  cudaLaunchCooperativeKernel((void*)a<1>, 1, 2, arguments, 3, s);
  hipLaunchKernelGGL(b<1>, dim3(4), dim3(5), 6, s, p);
  cuLaunchKernel(function, 1, 2, 3, 32, 1, 1, 0, s, arguments, nullptr);
}
)"),
            "a via cudaLaunchCooperativeKernel [1; 2; 3; s] +cooperative\n"
            "b via hipLaunchKernelGGL [dim3(4); dim3(5); 6; s]\n"
            " via cuLaunchKernel [1, 2, 3; 32, 1, 1; 0; s]");
}

TEST(ScanCppUsage, HelperClasses) {
  EXPECT_EQ(launches(kKernels + R"(
struct Launcher {
  explicit Launcher(dim3 grid_dim, dim3 block_dim, cudaStream_t stream, int smem = 0)
      : config_(make(grid_dim, block_dim, stream, smem)) {}
  template <typename K, typename... Args>
  auto operator()(K&& kernel, Args&&... args) const -> void {
    cudaLaunchKernelEx(&config_, kernel, args...);
  }
  auto with_pdl(bool use) -> Launcher& {
    if (use) attribute_.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    return *this;
  }
};
void run(int n, bool wide) {
  const auto blocks = divide(n, 4);
  const auto kernel = wide ? a<4> : a<8>;
  Launcher(blocks, 128, stream).with_pdl(wide)(kernel, p);
  Launcher launcher(1, 2, stream, 9);
  launcher(b<1>, p);
}
)"),
            "(parameter) via cudaLaunchKernelEx [; ; ; ]\n"
            "a via Launcher [divide(n, 4); 128; ; stream] +PDL if wide\n"
            "b via Launcher [1; 2; 9; stream]");
}

TEST(ScanCppUsage, HelperFunctionsAndTemplateArguments) {
  EXPECT_EQ(launches(kKernels + R"(
template <typename K> void go(K kernel, dim3 grid, int threads, bool pdl) {
  cudaLaunchConfig_t config{grid, threads};
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = pdl;
  config.attrs = &attribute;
  cudaLaunchKernelEx(&config, kernel);
}
template <auto Kernel> void fixed() { Kernel<<<16, 32>>>(p); }
void run() {
  go(a<4>, 8, 64, true);
  go(something_else, 8, 64, true);
  fixed<b<2>>();
}
)"),
            "(parameter) via cudaLaunchKernelEx [grid; threads; ; ] +PDL if pdl\n"
            "(parameter) via <<<>>> [16; 32; ; ]\n"
            "a via go [8; 64; ; ] +PDL\n"
            "b via fixed [16; 32; ; ]");
}

// The condition is the code's own text, whatever it reads like.
TEST(ScanCppUsage, AnAttributeIsAKindAndItsCondition) {
  const auto attributes = [](const char* id, const char* condition) {
    return read_usage(kKernels +
                      "void run(bool pdl) {\n  cudaLaunchConfig_t config{1, 2};\n"
                      "  cudaLaunchAttribute attribute;\n  attribute.id = " +
                      id + ";\n  attribute.val.x = " + condition +
                      ";\n  config.attrs = &attribute;\n"
                      "  cudaLaunchKernelEx(&config, a<1>);\n}\n")
        .usage.launches.at(0)
        .attributes;
  };
  using Kind = LaunchAttribute::Kind;
  using Attributes = std::vector<LaunchAttribute>;
  const char* pdl = "cudaLaunchAttributeProgrammaticStreamSerialization";
  EXPECT_EQ(attributes(pdl, "pdl"), (Attributes{{Kind::kPdl, "", "pdl"}}));
  EXPECT_EQ(attributes(pdl, "1"), (Attributes{{Kind::kPdl, "", ""}}));
  EXPECT_EQ(attributes(pdl, "0"), Attributes{});
  EXPECT_EQ(attributes("cudaLaunchAttributeCooperative", "PDL"),
            (Attributes{{Kind::kCooperative, "", "PDL"}}));
  EXPECT_EQ(attributes("cudaLaunchAttributeClusterDimension", "2"),
            (Attributes{{Kind::kCluster, "(2)", ""}}));
  EXPECT_EQ(attributes("cudaLaunchAttributePriority", "2"), Attributes{});
}

TEST(ScanCppUsage, GenericLambdas) {
  EXPECT_EQ(launches(kKernels + R"(
void run() {
  auto launch = [&](auto kernel, int n) -> cudaError_t { kernel<<<n, 32>>>(p); return ok; };
  launch(a<1>, 2);
  launch(b<1>, 3);
}
)"),
            "a|b via <<<>>> [n; 32; ; ]");
}

TEST(ScanCppUsage, LaunchMacros) {
  const ReadUsage found = read_usage(kKernels + R"(
#define LAUNCH(K, N, ...)                   \
  do {                                      \
    dim3 grid(N);                           \
    K<N><<<grid, threads, 0>>>(__VA_ARGS__); \
  } while (0)
#define EITHER(x, N) if (x) { LAUNCH(a, N, p); } else { LAUNCH(b, N, p); }
void run(bool x) {
  const int threads = 256;
  EITHER(x,
         4);
}
)");
  ASSERT_EQ(found.usage.launches.size(), 2u);
  EXPECT_EQ(text_of(found.usage.launches[0]), "a via EITHER [dim3(4); 256; 0; ]");
  EXPECT_EQ(text_of(found.usage.launches[1]), "b via EITHER [dim3(4); 256; 0; ]");
  EXPECT_EQ(found.usage.launches[0].line_first, 11u);
  EXPECT_EQ(found.usage.launches[0].line_last, 12u);
}

TEST(ScanCppUsage, DeviceKernelClasses) {
  const ReadUsage found = read_usage(R"(
template <typename K> struct only_sm90 : K { CUTLASS_DEVICE void operator()(int p) {} };
template <typename T> struct Forward { CUTLASS_DEVICE void operator()(int p) {} };
template <typename T> struct Older { CUTLASS_DEVICE void operator()(int p) {} };
template <typename T, int Arch> void run() {
  using Inner = only_sm90<ns::Forward<T>>;
  using Chosen = std::conditional_t<Arch >= 90, Inner, Older<T>>;
  void const* kernel = (void const*)cutlass::device_kernel<Chosen>;
  cutlass::kernel_launch<Chosen>(grid, 128, 64, stream, params, Arch >= 90);
  cutlass::device_kernel<Inner><<<1, 2>>>(params);
}
template <typename Kernel_> struct Device {
  using Kernel = Kernel_;
  void run() { cutlass::device_kernel<Kernel><<<3, 4>>>(params); }
};
void use() { Device<Older<int>> device; }
)");
  std::string text;
  for (const Launch& launch : found.usage.launches) {
    EXPECT_TRUE(launch.device_kernel);
    text += text_of(launch) + "\n";
  }
  EXPECT_EQ(text,
            "ns::Forward|Older via kernel_launch [grid; 128; 64; stream] +PDL if Arch >= 90\n"
            "ns::Forward via <<<>>> [1; 2; ; ]\n"
            "(parameter) via <<<>>> [3; 4; ; ]\n"
            "Older via Device [; ; ; ]\n");
}

TEST(ScanCppUsage, CallsOfAFunction) {
  const ReadUsage found = read_usage(R"(
__device__ void f(X* x) {
  warp::copy<16>(x, x);
  dim3 grid(1, 2);
  int n(3);
  if (x) return;
  x->method(n);
  f2(g(n));
  // h();
}
)");
  std::string calls;
  for (const Reference& one : found.usage.references.at(0)) {
    const bool member = one.kind == ReferenceKind::kMember;
    calls += (member ? one.type + "." : "") + one.name + ":" + std::to_string(one.line) + " ";
  }
  EXPECT_EQ(calls, "warp::copy:3 dim3:4 X.method:7 f2:8 g:8 ");
}

TEST(ScanCppUsage, NamedButNotLaunched) {
  const ReadUsage found = read_usage(kKernels +
                                     "__global__ void dead(int) {}\n__global__ void dead(int);\n"
                                     "void f() { cudaFuncSetAttribute(a<1>, x, 1); } // dead\n"
                                     "#define USE b\n");
  EXPECT_EQ(found.usage.kernels_named, (std::set<std::string, std::less<>>{"a", "b"}));
}

TEST(ScanCppUsage, Bindings) {
  const ReadUsage found = read_usage(R"(
TORCH_LIBRARY(ops, m) {
  m.def("schema_only(Tensor x) -> Tensor");
  m.def("norm(Tensor x) -> Tensor", &rms_norm);
}
TORCH_LIBRARY_IMPL(ops, CUDA, m) { m.impl("add", torch::kCUDA, TORCH_BOX(&add_cuda)); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("fwd", &flash::mha_fwd<float>, "Forward", py::arg("q"));
  m.def("bwd", [](Tensor x) { return mha_bwd(x); });
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(launch, (IndexKernel<4, true>::run));
extern "C" int plain_entry(int x) { return x; }
)");
  std::string text;
  for (const Binding& binding : found.usage.bindings) {
    text += binding.exported + " = " + binding.target + " (" + binding.via + ") " +
            std::to_string(binding.line) + "\n";
  }
  EXPECT_EQ(text,
            "ops::norm = rms_norm (TORCH_LIBRARY) 4\n"
            "ops::add = add_cuda (TORCH_LIBRARY_IMPL) 6\n"
            "fwd = flash::mha_fwd (PYBIND11_MODULE) 8\n"
            "bwd = mha_bwd (PYBIND11_MODULE) 9\n"
            "launch = IndexKernel::run (TVM_FFI_DLL_EXPORT_TYPED_FUNC) 11\n"
            "plain_entry = plain_entry (extern \"C\") 12\n");
}

}  // namespace
}  // namespace fathom::cpp
