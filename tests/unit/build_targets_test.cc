#include "scan/manifests/build_targets.h"

#include <fmt/format.h>

#include "checks.h"

namespace fathom {
namespace {

// "name → output: sources" of each target.
std::string shown(const std::vector<BuildTarget>& targets) {
  std::string out;
  for (const BuildTarget& one : targets)
    out += fmt::format("{}:{} → {}: {}\n", one.line, one.name, one.output,
                       fmt::join(one.sources, " "));
  return out;
}

TEST(BuildTargets, ProgramsOfCMake) {
  EXPECT_EQ(shown(cmake_targets("set(KERNELS a.cu b.cu)\n"
                                "add_executable(bench bench.cc ${KERNELS} util.h)\n"
                                "# add_executable(no no.cc)\n"
                                "add_library(lib STATIC lib.cc)\n"
                                "cuda_add_executable(old old.cu)\n"
                                "add_executable(${name} x.cc)\n"
                                "add_executable(here ${CMAKE_CURRENT_SOURCE_DIR}/src/here.cpp)\n")),
            "2:bench → bench: bench.cc a.cu b.cu\n"
            "5:old → old: old.cu\n"
            "7:here → here: src/here.cpp\n");
}

// A function of the project's own makes objects, a custom command links them.
TEST(BuildTargets, ProgramsThatCustomCommandsLink) {
  EXPECT_EQ(shown(cmake_targets("function(objects out)\nendfunction()\n"
                                "objects(made SOURCES k.cu check.cu)\n"
                                "set(check ${CMAKE_BINARY_DIR}/my_check)\n"
                                "add_custom_command(OUTPUT ${check}\n"
                                "  COMMAND nvcc ${made} -o ${check} DEPENDS ${made})\n"
                                "add_custom_command(OUTPUT lib.so\n"
                                "  COMMAND nvcc -shared ${made} -o lib.so)\n")),
            "5: → /my_check: k.cu check.cu\n");
}

TEST(BuildTargets, RulesOfMake) {
  EXPECT_EQ(shown(make_targets("CC = gcc\nBIN := bin\n"
                               "all: train\n"
                               "train: train.cu util.h $(NVCC_CUDNN)\n\tnvcc $< -o $@\n"
                               "$(BIN)/tool: tool.c\n"
                               "lib.so: lib.c\nmain.o: main.c\n"
                               "$(UNKNOWN)/x: x.c\n"
                               ".PHONY: clean\nclean:\n\trm -f train\n",
                               {})),
            "4:train → train: train.cu\n6:bin/tool → bin/tool: tool.c\n");
  EXPECT_EQ(shown(make_targets("%: %.cu\n\tnvcc $< -o $@\n", {"a.cu", "b.cc", "c.cu", "Makefile"})),
            "1:a → a: a.cu\n1:c → c: c.cu\n");
}

TEST(BuildTargets, HostileFilesEnd) {
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "set(A ${A} ${A} x.cc)\nadd_executable(a ${A})\n";
  EXPECT_LE(cmake_targets(many).size(), 500u);
  std::string loop = "A = $(A)$(A)\n";
  for (int i = 0; i < 1000; ++i) loop += "$(A): x.c\n";
  EXPECT_TRUE(make_targets(loop, {}).empty());
  EXPECT_TRUE(cmake_targets("add_executable(").empty());
  EXPECT_TRUE(make_targets(":::\n=\n:=\n%:%\n", {"", "%"}).empty());
}

}  // namespace
}  // namespace fathom
