#include "checks.h"
#include "scan/facts/kernel_identity.h"

namespace fathom {
namespace {

KernelFacts kernel(std::string scope, std::string name, std::string template_parameters = "",
                   KernelKind kind = KernelKind::kCuda) {
  KernelFacts facts;
  facts.scope = std::move(scope);
  facts.name = std::move(name);
  facts.template_parameters = std::move(template_parameters);
  facts.kind = kind;
  facts.line_name = 7;
  return facts;
}

CodeFacts repository(std::vector<KernelFacts> kernels) {
  CodeFacts facts;
  facts.files = {{.path = "a.cu", .skipped = ""}, {.path = "b.cu", .skipped = ""}};
  facts.kernels = std::move(kernels);
  return facts;
}

using Matches = std::vector<size_t>;

TEST(ProfilerName, IsCutIntoItsParts) {
  const ProfilerName name = parse_profiler_name(
      "void tiny::(anonymous namespace)::gather_rows<long, (int)128>(char*, char const*, long "
      "const*, int, int)");
  EXPECT_EQ(name.scope, "tiny");
  EXPECT_EQ(name.name, "gather_rows");
  EXPECT_EQ(name.template_arguments, "long, (int)128");
}

TEST(ProfilerName, ReturnTypesAndArgumentsWithBracketsDoNotConfuse) {
  const ProfilerName name = parse_profiler_name(
      "std::enable_if<!(false), void>::type internal::gemv::kernel<int, F(int)>(cublas::P<T, "
      "(bool)1>)");
  EXPECT_EQ(name.scope, "internal::gemv");
  EXPECT_EQ(name.name, "kernel");
  const ProfilerName plain = parse_profiler_name("ampere_sgemm_128x64_tn");
  EXPECT_EQ(plain.scope, "");
  EXPECT_EQ(plain.name, "ampere_sgemm_128x64_tn");
}

TEST(ProfilerName, MangledNamesAreDemangled) {
  EXPECT_EQ(parse_profiler_name("_Z11silu_kernelP13__nv_bfloat16PKS_i").name, "silu_kernel");
  EXPECT_EQ(parse_profiler_name("_Znot really mangled").name, "mangled");
}

TEST(KernelIdentity, NamespaceAndNameMustAgree) {
  const CodeFacts facts =
      repository({kernel("tiny", "gather", "typename T"), kernel("other", "gather", "typename T")});
  const KernelIdentity identity(facts);
  EXPECT_EQ(identity.find("void tiny::gather<int>(int*)"), Matches{0});
  EXPECT_EQ(identity.find("void other::gather<int>(int*)"), Matches{1});
  EXPECT_EQ(identity.find("void third::gather<int>(int*)"), Matches{});
  EXPECT_EQ(identity.find("void tiny::gather_all<int>(int*)"), Matches{});
}

TEST(KernelIdentity, WhatTheNameDoesNotTellApartIsAmbiguous) {
  const CodeFacts facts = repository({kernel("", "copy"), kernel("", "copy")});
  EXPECT_EQ(KernelIdentity(facts).find("copy(float*, float const*)"), (Matches{0, 1}));
}

TEST(KernelIdentity, ATemplateIsNotThePlainKernelOfItsName) {
  const CodeFacts facts = repository({kernel("", "copy"), kernel("", "copy", "typename T")});
  EXPECT_EQ(KernelIdentity(facts).find("void copy<int>(int*)"), Matches{1});
  EXPECT_EQ(KernelIdentity(facts).find("copy(int*)"), Matches{0});
}

TEST(KernelIdentity, DeadKernelsComeOnlyWhereNoOtherFits) {
  KernelFacts dead = kernel("", "copy");
  dead.dead = true;
  const CodeFacts both = repository({dead, kernel("", "copy")});
  EXPECT_EQ(KernelIdentity(both).find("copy(int*)"), Matches{1});
  const CodeFacts only = repository({dead});
  EXPECT_EQ(KernelIdentity(only).find("copy(int*)"), Matches{0});
}

TEST(KernelIdentity, CutlassWrapsAClass) {
  const CodeFacts facts =
      repository({kernel("flash", "FlashAttnFwdSm90", "class M", KernelKind::kDeviceKernel)});
  const KernelIdentity identity(facts);
  EXPECT_EQ(
      identity.find(
          "void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::Main<2, cute::tuple<int>>, "
          "flash::Epilogue<int>>>(flash::FlashAttnFwdSm90<int>::Params)"),
      Matches{0});
  EXPECT_EQ(
      identity.find("void cutlass::device_kernel<other::Gemm<int>>(other::Gemm<int>::Params)"),
      Matches{});
}

TEST(KernelIdentity, TritonNamesMayCarryWhatTheyWereSpecialisedOn) {
  const CodeFacts facts = repository({kernel("module", "softmax_kernel", "", KernelKind::kTriton)});
  const KernelIdentity identity(facts);
  EXPECT_EQ(identity.find("softmax_kernel"), Matches{0});
  EXPECT_EQ(identity.find("softmax_kernel_0d1d2de"), Matches{0});
  EXPECT_EQ(identity.find("log_softmax_kernel"), Matches{});
}

}  // namespace
}  // namespace fathom
