// Which method of C++ a call through an object means, and the way through it to a kernel.
#include "checks.h"
#include "scan/scan_repository.h"
#include "test_files.h"

namespace fathom {
namespace {

// Two classes have each method: whose it is, the declaration of the object says.
class CppReceiverTest : public ::testing::Test {
 protected:
  void put(const std::string& path, std::string_view content) const {
    test::write_file(temporary_.path() / path, content);
  }
  void scan() {
    Result<CodeFacts> scanned = scan_repository(temporary_.path(), {});
    ASSERT_TRUE(scanned.ok());
    facts_ = scanned.take();
  }
  // "a -> b -> kernel" of the first way to the kernel; empty: it is not reached.
  std::string way_to(std::string_view kernel) const {
    for (const RequestPath& path : facts_.request_paths) {
      if (path.hops.empty() || path.hops.back().function != kernel) continue;
      std::string out;
      for (const RequestHop& hop : path.hops) out += (out.empty() ? "" : " -> ") + hop.function;
      return out;
    }
    return "";
  }
  void put_classes(const std::string& main) const {
    put("ops.h",
        "#pragma once\n#include <memory>\n#include <vector>\n"
        "struct Op { virtual void apply(float* x) = 0; };\n"
        "struct Scale : Op { void apply(float* x) override; };\n"
        "struct Log { void apply(float* x); void clear(); void run(float* x); };\n"
        "class Model {\n public:\n  void run(float* x);\n  void each(float* x);\n"
        "  void empty();\n private:\n  Scale first;\n  std::vector<std::unique_ptr<Op>> ops;\n"
        "  std::vector<Log> logs;\n};\n");
    put("ops.cu",
        "#include \"ops.h\"\n"
        "__global__ void scale(float* x) { x[threadIdx.x] *= 2; }\n"
        "__global__ void note(float* x) { x[threadIdx.x] += 1; }\n"
        "void Scale::apply(float* x) { scale<<<1, 32>>>(x); }\n"
        "void Log::apply(float* x) { note<<<1, 32>>>(x); }\n"
        "void Log::clear() { note<<<1, 32>>>(nullptr); }\n"
        "void Log::run(float* x) { note<<<1, 32>>>(x); }\n"
        "void Model::run(float* x) { first.apply(x); }\n"
        "void Model::each(float* x) { for (auto& op : ops) op->apply(x); }\n"
        "void Model::empty() { logs.clear(); }\n");
    put("main.cpp", "#include \"ops.h\"\n" + main);
  }

  test::TemporaryDirectory temporary_;
  CodeFacts facts_;
};

TEST_F(CppReceiverTest, AVariableOfTheFunctionAndAFieldOfTheClass) {
  put_classes("int main() { Model model; model.run(nullptr); }\n");
  scan();
  EXPECT_EQ(way_to("scale"), "main -> Model::run -> Scale::apply -> scale");
  EXPECT_EQ(way_to("note"), "");
}

TEST_F(CppReceiverTest, AParameterAndAMadeObject) {
  put_classes(
      "void work(const std::unique_ptr<Model>& model) { model->run(nullptr); }\n"
      "int main() { auto model = std::make_unique<Model>(); work(model); }\n");
  scan();
  EXPECT_EQ(way_to("scale"), "main -> work -> Model::run -> Scale::apply -> scale");
}

TEST_F(CppReceiverTest, ElementsOfAListAndWhatOverrides) {
  put_classes("int main() { Model model; model.each(nullptr); }\n");
  scan();
  EXPECT_EQ(way_to("scale"), "main -> Model::each -> Scale::apply -> scale");
  EXPECT_EQ(way_to("note"), "");
}

TEST_F(CppReceiverTest, AClassBehindAliasesAndWhatItInherits) {
  put_classes(
      "namespace detail { struct Wide : public Model { Wide(); }; }\n"
      "using Base = detail::Wide;\nstruct Chosen : Base {};\ntypedef Chosen Engine;\n"
      "using Text = const char*;\nusing Loop = Loop;\n"
      "int main() { Engine engine; engine.run(nullptr); Text text; text.apply(); Loop loop; "
      "loop.apply(nullptr); }\n");
  scan();
  EXPECT_EQ(way_to("scale"), "main -> Model::run -> Scale::apply -> scale");
  EXPECT_EQ(way_to("note"), "");
}

TEST_F(CppReceiverTest, TheConstructorOfWhatAnAliasStandsFor) {
  put_classes("using Watch = Log;\nint main() { Watch watch(nullptr); }\n");
  put("log.cu",
      "#include \"ops.h\"\n__global__ void begin(float* x) { x[threadIdx.x] = 1; }\n"
      "Log::Log(float* x) { begin<<<1, 32>>>(x); }\n");
  scan();
  EXPECT_EQ(way_to("begin"), "main -> Log::Log -> begin");
}

// Two programs have a class of one name: each means its own.
TEST_F(CppReceiverTest, TheClassThatTheFileSees) {
  for (const std::string which : {"one", "two"}) {
    put(which + "/run.h", "#pragma once\nclass Run { public: Run(); };\n");
    put(which + "/run.cu", "#include \"run.h\"\n__global__ void k_" + which +
                               "(float* x) { x[threadIdx.x] = 1; }\nRun::Run() { k_" + which +
                               "<<<1, 32>>>(nullptr); }\n");
    put(which + "/main.cpp", "#include \"run.h\"\nint main() { Run run; }\n");
  }
  scan();
  EXPECT_EQ(way_to("k_one"), "main -> Run::Run -> k_one");
  EXPECT_EQ(way_to("k_two"), "main -> Run::Run -> k_two");
  for (const RequestPath& path : facts_.request_paths) EXPECT_EQ(path.kernels_reached, 1u);
}

// The method of the list has the name of another class's.
TEST_F(CppReceiverTest, AListIsNoneOfItsElements) {
  put_classes("int main() { Model model; model.empty(); }\n");
  scan();
  EXPECT_EQ(way_to("note"), "");
}

TEST_F(CppReceiverTest, WhatACallReturnsIsNotKnown) {
  put_classes("Log& log();\nint main() { log().apply(nullptr); }\n");
  scan();
  EXPECT_EQ(way_to("note"), "");
  EXPECT_EQ(way_to("scale"), "");
}

TEST_F(CppReceiverTest, AConstructorRunsWhereTheVariableIsDeclared) {
  put("run.h", "#pragma once\nclass Run { public: Run(); };\nclass Rest { public: Rest(); };\n");
  put("run.cu",
      "#include \"run.h\"\n__global__ void step(float* x) { x[threadIdx.x] = 1; }\n"
      "__global__ void rest(float* x) { x[threadIdx.x] = 0; }\n"
      "Run::Run() { step<<<1, 32>>>(nullptr); }\nRest::Rest() { rest<<<1, 32>>>(nullptr); }\n");
  put("main.cpp", "#include \"run.h\"\nint main() { Run run; Rest* none; }\n");
  scan();
  EXPECT_EQ(way_to("step"), "main -> Run::Run -> step");
  EXPECT_EQ(way_to("rest"), "");
}

}  // namespace
}  // namespace fathom
