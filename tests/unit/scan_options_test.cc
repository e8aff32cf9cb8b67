// What C and C++ code reads from its command line and environment, and the values around a launch.
#include <gtest/gtest.h>

#include "scan/cpp/cpp_options.h"
#include "scan/cpp/local_values.h"

namespace fathom::cpp {
namespace {

std::vector<Option> options_of(std::string_view text) { return find_options(lex(text)); }

TEST(CppOptions, FlagsOfLibraries) {
  const auto options = options_of(
      "DEFINE_int32(batch, 8, \"Rows \" \"in a batch\");\n"
      "ABSL_FLAG(std::string, mode, \"fast\", \"How\");\n"
      "app.add_option(\"-n,--count\", count, \"How many\");\n"
      "app.add_flag(\"--quiet\", quiet);\n");
  ASSERT_EQ(options.size(), 4u);
  EXPECT_EQ(options[0].names, std::vector<std::string>{"--batch"});
  EXPECT_EQ(options[0].type, "int32");
  EXPECT_EQ(options[0].default_value, "8");
  EXPECT_EQ(options[0].help, "Rows in a batch");
  EXPECT_EQ(options[1].names, std::vector<std::string>{"--mode"});
  EXPECT_EQ(options[1].default_value, "fast");
  EXPECT_EQ(options[1].line, 2u);
  EXPECT_EQ(options[2].names, (std::vector<std::string>{"--count", "-n"}));
  EXPECT_EQ(options[2].default_value, std::nullopt);
  EXPECT_EQ(options[3].type, "flag");
}

TEST(CppOptions, Environment) {
  const auto options = options_of(
      "std::getenv(\"APP_LEVEL\"); env_or(\"APP_WIDTH\", 4); GetEnvInt(\"lower case\", 1);\n"
      "envelope(\"NOT_THIS\"); environment(\"NOR_THIS\"); getenv(name);\n");
  ASSERT_EQ(options.size(), 2u);
  EXPECT_EQ(options[0].names[0], "APP_LEVEL");
  EXPECT_EQ(options[0].default_value, std::nullopt);
  EXPECT_EQ(options[1].names[0], "APP_WIDTH");
  EXPECT_EQ(options[1].default_value, "4");
  EXPECT_EQ(options[1].source, Option::Source::kEnvironmentWrapper);
}

TEST(CppOptions, ComparedArguments) {
  const auto options = options_of(
      "if (strcmp(argv[i], \"--batch\") == 0) {} if (!strcmp(\"-q\", argv[1])) {}\n"
      "if (strcmp(name, \"--no\") == 0) {} if (strcmp(argv[i], \"word\") == 0) {}\n"
      "if (argv[i][1] == 'b' && argv[i][2] == 's') {} else if (argv[i][1] == 'x') {}\n");
  std::vector<std::string> names;
  for (const Option& option : options) names.push_back(option.names[0]);
  EXPECT_EQ(names, (std::vector<std::string>{"--batch", "-q", "-bs", "-x"}));
}

TEST(LocalValues, WhatABodyAssigns) {
  const CodeTree body = read_code(
      "{ int n = a + f(b, c); dim3 grid(n, 2); const int m{4}; config.gridDim = dim3(8);\n"
      "call(x); if (a == b) {} auto g = [](int y) { return y; }; return h(z); }",
      1);
  std::vector<std::string> found;
  for (const LocalValue& value : local_values(body)) {
    found.push_back(value.name + " = " + value.text);
  }
  EXPECT_EQ(found, (std::vector<std::string>{"n = a + f(b, c)", "grid = dim3(n, 2)", "m = 4",
                                             "config.gridDim = dim3(8)"}));
}

TEST(LocalValues, ConstantsOfAFile) {
  const TokenList source =
      lex("#define THREADS 128\n#define MAX(a, b) a > b\nconstexpr int kRows = THREADS / 32;\n"
          "static const int kMore = 2;\nint changes = 3;\n");
  std::vector<std::string> found;
  for (const LocalValue& value : file_constants(source)) {
    found.push_back(value.name + " = " + value.text);
  }
  EXPECT_EQ(found,
            (std::vector<std::string>{"THREADS = 128", "kRows = THREADS / 32", "kMore = 2"}));
}

}  // namespace
}  // namespace fathom::cpp
