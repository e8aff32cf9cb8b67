// What must hold for a launch to be reached: if, else, case, and macros that choose.
#include "checks.h"
#include "scan/cpp/launch_conditions.h"

namespace fathom::cpp {
namespace {

// Of the lines that hold a launch.
std::vector<std::vector<std::string>> conditions_in(std::string_view text) {
  const TokenList source = lex(text);
  std::vector<Launch> launches;
  for (size_t i = 0; i < source.size(); ++i) {
    if (!source.is(i, "<<<")) continue;
    launches.emplace_back();
    launches.back().line_first = source.tokens[i].line;
  }
  return launch_conditions(source, launches);
}

using Conditions = std::vector<std::vector<std::string>>;

TEST(LaunchConditions, BranchesAndCases) {
  EXPECT_EQ(conditions_in("void run(int arch, Type t) {\n"
                          "  if (arch >= 90) {\n"
                          "    a<<<1, 1>>>();\n"
                          "  } else {\n"
                          "    b<<<1, 1>>>();\n"
                          "  }\n"
                          "  switch (t) {\n"
                          "    case Type::kHalf:\n"
                          "      c<<<1, 1>>>();\n"
                          "      break;\n"
                          "    default:\n"
                          "      d<<<1, 1>>>();\n"
                          "  }\n"
                          "  if (n > 4) e<<<1, 1>>>();\n"
                          "}"),
            (Conditions{{"arch >= 90"},
                        {"not (arch >= 90)"},
                        {"t == Type::kHalf"},
                        {"t: none of the cases"},
                        {"n > 4"}}));
}

TEST(LaunchConditions, NestedAndByMacros) {
  EXPECT_EQ(
      conditions_in("void run() {\n"
                    "  DISPATCH_HEAD_DIM(head_dim, HEAD_DIM, {\n"
                    "    if constexpr (HEAD_DIM > 64) {\n"
                    "      a<HEAD_DIM><<<1, 1>>>();\n"
                    "    }\n"
                    "  });\n"
                    "  BOOL_SWITCH(is_causal, kCausal, [&] {\n"
                    "    b<kCausal><<<1, 1>>>();\n"
                    "  });\n"
                    "}"),
      (Conditions{{"DISPATCH_HEAD_DIM(head_dim)", "HEAD_DIM > 64"}, {"BOOL_SWITCH(is_causal)"}}));
}

// A macro around the launch itself chooses nothing, however long the launch is.
TEST(LaunchConditions, AMacroAroundTheLaunchIsNoChoice) {
  std::string arguments = "x";
  for (int i = 0; i < 30; ++i) arguments += ", x";
  EXPECT_EQ(conditions_in("void run() {\n  STATIC_KERNEL((a<<<1, 1>>>(" + arguments +
                          ")), s);\n  STATIC_KERNEL((b<<<1, 1, 0>>>(-" + arguments + ")), s);\n" +
                          "  STATIC_KERNEL(c<<<1, 1>>>(x), s);\n}"),
            (Conditions{{}, {}, {}}));
}

// Loops, checks of a call and what stands beside it are no choice.
TEST(LaunchConditions, NoChoice) {
  EXPECT_EQ(conditions_in("void run(int n) {\n"
                          "  if (n == 0) { return; }\n"
                          "  for (int i = 0; i < n; ++i) {\n"
                          "    a<<<1, 1>>>();\n"
                          "  }\n"
                          "  CHECK_CUDA(cudaGetLastError());\n"
                          "  b<<<1, 1>>>();\n"
                          "}\n"
                          "void other() { if (x) { } c<<<1, 1>>>(); }"),
            (Conditions{{}, {}, {}}));
  EXPECT_EQ(conditions_in("}}}} a<<<1, 1>>>(); ((((").size(), 1u);
}

// Types that are named before what is asked for belong to the macro.
TEST(LaunchConditions, TypesBeforeWhatIsAskedFor) {
  EXPECT_EQ(conditions_in("void run(Tensor x) {\n"
                          "  DISPATCH_ALL_AND2(at::ScalarType::Half, at::kBFloat16,\n"
                          "                    x.scalar_type(), \"run\", [&] {\n"
                          "    a<<<1, 1>>>();\n"
                          "  });\n"
                          "}"),
            (Conditions{{"DISPATCH_ALL_AND2(at::ScalarType::Half, at::kBFloat16, "
                         "x.scalar_type())"}}));
}

}  // namespace
}  // namespace fathom::cpp
