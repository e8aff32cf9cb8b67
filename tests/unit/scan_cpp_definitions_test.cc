#include <string>
#include <string_view>

#include "checks.h"
#include "scan/cpp/cpp_file.h"

namespace fathom::cpp {
namespace {

Definitions definitions_of(std::string_view text, const KnownNames& known = {}) {
  return find_definitions(lex(text), known);
}

// "name first-name-last" of each kernel, with what is unusual about it.
std::string kernels(const Definitions& definitions) {
  std::string out;
  for (const Function& function : definitions.functions) {
    if (function.kind != FunctionKind::kKernel) continue;
    out += out.empty() ? "" : "; ";
    if (!function.scope.empty()) out += function.scope + "::";
    out += function.name + " " + std::to_string(function.line_first) + "-" +
           std::to_string(function.line_name) + "-" + std::to_string(function.line_last);
    if (!function.defined) out += " declared";
    if (!function.made_by.empty()) out += " by " + function.made_by;
    if (!function.condition.empty()) out += " if " + function.condition;
  }
  return out;
}

const Function& only(const Definitions& definitions) {
  EXPECT_EQ(definitions.functions.size(), 1u);
  return definitions.functions.at(0);
}

TEST(ScanCppDefinitions, KernelWithTemplateAndAttributes) {
  const Definitions found = definitions_of(R"(
namespace gpu { namespace {
template <typename T,
          int kThreads>
__global__ __launch_bounds__(kThreads, 2) void
    scale(T* out, const T* in, float by) {
  if (by > 0) { out[0] = in[0]; }
}
}}
)");
  EXPECT_EQ(kernels(found), "gpu::scale 3-6-8");
  EXPECT_EQ(only(found).template_parameters, "typename T, int kThreads");
  EXPECT_EQ(only(found).parameters, "T* out, const T* in, float by");
  EXPECT_EQ(only(found).attributes, std::vector<std::string>{"__launch_bounds__(kThreads, 2)"});
  EXPECT_EQ(only(found).return_type, "void");
}

TEST(ScanCppDefinitions, AttributesAfterVoidAndMacrosThatMayBeEmpty) {
  EXPECT_EQ(kernels(definitions_of(
                "__global__ void __cluster_dims__(2, 1, 1) __maxnreg__(64) a(int x) {}")),
            "a 1-1-1");
  EXPECT_EQ(kernels(definitions_of("__global__ void BOUNDS(128) b(int x) {}")), "b 1-1-1");
  EXPECT_EQ(kernels(definitions_of("BOUNDS(128) __global__ void c(int x) {}")), "c 1-1-1");
  EXPECT_EQ(kernels(definitions_of("extern \"C\"\n__global__\nvoid d(int x) {\n}\n")), "d 1-3-4");
  EXPECT_EQ(kernels(definitions_of("static __global__ void e(int x) NOTHING {}")), "e 1-1-1");
  EXPECT_EQ(only(definitions_of("__global__ void __cluster_dims__(2, 1, 1) __maxnreg__(64) a() {}"))
                .attributes,
            (std::vector<std::string>{"__cluster_dims__(2, 1, 1)", "__maxnreg__(64)"}));
}

TEST(ScanCppDefinitions, DeclarationsAndInstantiationsAreNoDefinitions) {
  EXPECT_EQ(kernels(definitions_of("__global__ void k(int x);\n")), "k 1-1-1 declared");
  EXPECT_EQ(kernels(definitions_of("template __global__ void k<float>(int x);\n")), "");
  EXPECT_EQ(kernels(definitions_of("extern template __global__ void k<float>(int x);\n")), "");
  EXPECT_EQ(kernels(definitions_of("template <> __global__ void k<float>(int x) {}\n")), "k 1-1-1");
}

TEST(ScanCppDefinitions, CommentsStringsAndDeadBranchesHoldNoKernels) {
  EXPECT_EQ(kernels(definitions_of("// __global__ void k() {}\n/* __global__ void l() {} */\n")),
            "");
  EXPECT_EQ(kernels(definitions_of("const char* s = \"__global__ void k() {}\";\n")), "");
  EXPECT_EQ(kernels(definitions_of("const char* s = R\"(\n__global__ void k() {}\n)\";\n")), "");
  EXPECT_EQ(
      kernels(definitions_of("#if 0\n__global__ void k() {}\n#endif\n__global__ void l() {}\n")),
      "l 4-4-4");
  EXPECT_EQ(kernels(definitions_of(
                "#if 0  /* old */\n__global__ void k() {\n#else\n__global__ void l() {\n"
                "#endif\n}\n")),
            "l 4-4-6 if !(0)");
}

TEST(ScanCppDefinitions, BranchesInHeaderParametersAndBody) {
  EXPECT_EQ(kernels(definitions_of(R"(
__global__ void
#ifdef FAST
__launch_bounds__(256)
#endif
k(int a
#if WIDE
  , int b) {
#else
  , float b) {
#endif
#ifdef FAST
  if (a) {
#else
  if (b) {
#endif
  }
}
__global__ void after() {}
)")),
            "k 2-6-18; after 19-19-19");
}

TEST(ScanCppDefinitions, NameWrittenInEachBranch) {
  EXPECT_EQ(kernels(definitions_of(
                "__global__ void\n#if WIDE\n__launch_bounds__(512) k(\n#else\nk(\n#endif\n"
                "  int a) {\n}\n")),
            "k 1-3-8");
}

TEST(ScanCppDefinitions, RealAndStubAreToldApart) {
  const std::string both = "k 1-3-4 if defined(FAST); k 1-6-7 if !(defined(FAST))";
  EXPECT_EQ(
      kernels(definitions_of("template <int N>\n#ifdef FAST\n__global__ void k(int a) {\n}\n#else\n"
                             "__global__ void k(int a) {\n}\n#endif\n")),
      both);
  // The branches share a body.
  EXPECT_EQ(kernels(definitions_of("#ifdef FAST\n__global__ void k(int a) {\n#else\n"
                                   "__global__ void k(float a) {\n#endif\n}\n")),
            "k 2-2-6 if defined(FAST); k 4-4-6 if !(defined(FAST))");
  // Without #else.
  EXPECT_EQ(kernels(definitions_of("#ifdef FAST\n__global__ void k() {}\n#endif\n#ifndef FAST\n"
                                   "__global__ void k() {}\n#endif\n")),
            "k 2-2-2 if defined(FAST); k 5-5-5 if !defined(FAST)");
}

TEST(ScanCppDefinitions, MacrosThatDefineKernels) {
  EXPECT_EQ(kernels(definitions_of(R"(
#define KERNEL(name, ...) \
  template <typename T, __VA_ARGS__> \
  __global__ void name(T* data)
namespace a {
KERNEL(first, bool kEven, int kSize) {
  data[0] = 1;
}
}
)")),
            "a::first 6-6-8 by KERNEL");
  const Definitions pasted = definitions_of(R"(
#define CONVERT(From, To) \
  __global__ void convert##From##To##_kernel(int n) { work<From, To>(n); }
CONVERT(Half, Float);
CONVERT(Float, Half)
__global__ void plain() {}
)");
  EXPECT_EQ(kernels(pasted),
            "convertHalfFloat_kernel 4-4-4 by CONVERT; convertFloatHalf_kernel 5-5-5 by CONVERT; "
            "plain 6-6-6");
  EXPECT_EQ(pasted.functions[0].parameters, "int n");
}

TEST(ScanCppDefinitions, MacrosOfOtherFiles) {
  const Definitions header = definitions_of(
      "#define GLOBAL __global__ static\n#define DEFINE(n) GLOBAL void n(int x) {}\n");
  const KnownNames known = known_names({&header});
  const std::string user = "template <int N>\nGLOBAL void\n  k(int x) {\n}\nDEFINE(made)\n";
  const TokenList source = lex(user);
  const Definitions alone = find_definitions(source, {});
  EXPECT_EQ(kernels(alone), "");
  EXPECT_TRUE(needs_known_macros(source, alone, known));
  EXPECT_EQ(kernels(find_definitions(source, known)), "k 1-3-4; made 5-5-5 by DEFINE");
  EXPECT_FALSE(needs_known_macros(lex("void f() {}"), {}, known));
}

TEST(ScanCppDefinitions, MacrosWithoutSemicolonHideNothing) {
  EXPECT_EQ(kernels(definitions_of(
                "NAMESPACE_BEGIN\n\nnamespace a {\nDEFINE_MEMBER(x)\nDEFINE_MEMBER(y)\n"
                "template <int N>\n__global__ void k() {}\n}\nNAMESPACE_END\n")),
            "a::k 6-7-7");
}

TEST(ScanCppDefinitions, FunctionsOfAllKinds) {
  const Definitions found = definitions_of(R"(
struct Launcher : public Base<int>, Other {
 public:
  explicit Launcher(dim3 grid, int n = 3) noexcept : grid_(grid), n_{n} {}
  ~Launcher() {}
  template <typename T>
  auto operator()(T&& kernel) const -> void { go(kernel); }
  bool operator==(const Launcher& other) const { return true; }
  CUTLASS_DEVICE int twice(int x) { return 2 * x; }
  dim3 grid_ = {1, 1, 1};
};
template <typename T>
typename T::Value Outer<T>::Inner::get(int i) const { return i; }
int values[] = {1, 2};
auto lambda = [](int x) { return x; };
enum class Kind { kA, kB };
)");
  std::string names;
  for (const Function& function : found.functions) {
    names += function.scope + "." + function.name +
             (function.kind == FunctionKind::kDevice ? "*" : "") + " ";
  }
  EXPECT_EQ(names,
            "Launcher.Launcher Launcher.~Launcher Launcher.operator() Launcher.operator== "
            "Launcher.twice* Outer::Inner.get ");
  ASSERT_EQ(found.classes.size(), 1u);
  EXPECT_EQ(found.classes[0].name, "Launcher");
  EXPECT_EQ(found.classes[0].bases, (std::vector<std::string>{"Base<int>", "Other"}));
  EXPECT_EQ(found.classes[0].line_last, 11u);
}

// namespace THING_EXPORT thing {: the macro is no part of the name.
TEST(ScanCppDefinitions, NamespacesWithAttributes) {
  const Definitions found = definitions_of(
      "namespace THING_EXPORT thing { namespace detail { void f() {} } }\n"
      "namespace thing::inner { void g() {} }\n"
      "namespace thing::inline v1 { void h() {} }\n"
      "namespace [[deprecated]] old { void i() {} }\n");
  std::string names;
  for (const Function& function : found.functions)
    names += function.scope + "." + function.name + " ";
  EXPECT_EQ(names, "thing::detail.f thing::inner.g thing::v1.h old.i ");
}

TEST(ScanCppDefinitions, MacrosAndIncludes) {
  const Definitions found = definitions_of(
      "#include <a/b.h>\n#  include \"c.cuh\"\n#define ONE 1 // why\n"
      "#define SUM(a, /* b */ b) \\\n  ((a) + \\\n   (b))\n#define EMPTY\n");
  EXPECT_EQ(found.includes, (std::vector<std::string>{"a/b.h", "c.cuh"}));
  ASSERT_EQ(found.macros.size(), 3u);
  EXPECT_EQ(found.macros[0].body, "1");
  EXPECT_FALSE(found.macros[0].parameters);
  EXPECT_EQ(found.macros[1].parameters, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(found.macros[1].line, 4u);
  EXPECT_EQ(found.macros[2].body, "");
}

TEST(ScanCppDefinitions, JinjaTemplates) {
  const std::string text =
      "{% if causal %}\nextern \"C\" __global__\nvoid {{ name }}_nl({{ params }} p){\n"
      "{% if a %} f({{ x }}); {% endif %}\n}\n{% endif %}\n";
  EXPECT_EQ(kernels(find_definitions(lex_jinja(text), {})), "{{ name }}_nl 2-3-5");
}

// Each of these takes a reader that looks for partners again and again minutes.
}  // namespace
}  // namespace fathom::cpp
