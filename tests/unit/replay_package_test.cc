#include <fmt/format.h>

#include <algorithm>

#include "checks.h"
#include "replay/package.h"
#include "session/replay.h"
#include "test_files.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::cpu_op;
using test::kernel;
using test::launch_call;
using test::run_command;
using Reason = ReplayRefusal::Reason;

constexpr const char* kReplayedMatrices =
    R"("Input Dims":[[2,3],[3,4]],"Input type":["float","float"],)"
    R"("Input Strides":[[3,1],[1,3]],"Concrete Inputs":["",""])";

// One op after the other, each with a kernel of so many microseconds.
class Calls {
 public:
  Calls& add(const std::string& op, const std::string& args, int64_t duration,
             const std::string& kernel_name = "gemm") {
    const int64_t at = 100 * ++count_;
    // The name and the kernel's are the inside of JSON strings.
    events_.push_back(cpu_op(op, at, 50, args));
    events_.push_back(launch_call(at + 10, 5, count_));
    events_.push_back(kernel(kernel_name, at + 20, duration, count_));
    return *this;
  }
  Trace open() const { return test::open_events(events_); }
  ReplayOps ops() const {
    const Trace trace = open();
    const Scope everything;
    return find_replay_ops(SheetInput(trace.store, trace.tree, everything));
  }
  const std::vector<std::string>& events() const { return events_; }

 private:
  std::vector<std::string> events_;
  int64_t count_ = 0;
};

std::string literals(const ReplayOps& all, size_t max_cases = 20) {
  return replay_literals(all.ops.front(), {"trace.json", "Test GPU"}, max_cases);
}

bool has_python() { return run_command("command -v python3", "/").exit_code == 0; }

TEST(ReplayOps, CallsWithTheSameArgumentsAreOneCase) {
  const ReplayOps all =
      Calls()
          .add("aten::mm", kReplayedMatrices, 10)
          .add("aten::mm", R"("Input Dims":[[5,5],[5,5]],"Input type":["float","float"])", 7)
          .add("aten::mm", kReplayedMatrices, 20)
          .ops();
  ASSERT_EQ(all.ops.size(), 1u);
  const ReplayOp& op = all.ops.front();
  EXPECT_EQ(op.calls, 3u);
  EXPECT_EQ(all.whole, test::micros(37));
  ASSERT_EQ(op.cases.size(), 2u);
  EXPECT_EQ(op.cases[0].time.count, 2u) << "most time first";
  EXPECT_EQ(op.cases[0].time.max, test::micros(20));
  EXPECT_EQ(op.cases[1].arguments[0].tensors[0].strides, (std::vector<int64_t>{5, 1}))
      << "contiguous where the trace has no strides";
  EXPECT_EQ(op.cases[0].kernels, std::vector<std::string>{"gemm"});
}

TEST(ReplayOps, CopiesToTheGpuAndFromItAreTwoCases) {
  constexpr const char* kCopy =
      R"("Input Dims":[[8],[8],[]],"Input type":["float","float","Scalar"],)"
      R"("Input Strides":[[1],[1],[]],"Concrete Inputs":["","","True"])";
  const ReplayOps all = Calls()
                            .add("aten::copy_", kCopy, 10, "Memcpy DtoH (Device -> Pinned)")
                            .add("aten::copy_", kCopy, 5, "Memcpy HtoD (Pageable -> Device)")
                            .ops();
  ASSERT_EQ(all.ops.front().cases.size(), 2u);
  const auto& from_gpu = all.ops.front().cases[0].arguments;
  const auto& to_gpu = all.ops.front().cases[1].arguments;
  EXPECT_EQ(from_gpu[0].tensors[0].place, ReplayTensor::Place::kPinned);
  EXPECT_EQ(from_gpu[1].tensors[0].place, ReplayTensor::Place::kDevice);
  EXPECT_EQ(to_gpu[0].tensors[0].place, ReplayTensor::Place::kDevice);
  EXPECT_EQ(to_gpu[1].tensors[0].place, ReplayTensor::Place::kPageable);
  EXPECT_EQ(to_gpu[2].value, "True");
}

TEST(ReplayOps, ListsTakeTheirTypeFromTheKernel) {
  constexpr const char* kLists =
      R"("Input Dims":[[[2,3],[2,4]],[],[]],"Input type":["TensorList","TensorList","Scalar"],)"
      R"("Input Strides":[[[3,1],[4,1]],[],[]],"Concrete Inputs":["","","1"])";
  const ReplayOps all = Calls().add("aten::cat", kLists, 10, "Cat<OpaqueType<2u>>").ops();
  const ReplayCase& one = all.ops.front().cases.at(0);
  ASSERT_EQ(one.arguments[0].tensors.size(), 2u);
  EXPECT_EQ(one.arguments[0].tensors[1].dtype, "bfloat16");
  EXPECT_TRUE(one.list_type_known);
  EXPECT_EQ(one.arguments[1].kind, ReplayArgument::Kind::kTensors) << "an empty list";
  EXPECT_FALSE(
      Calls().add("aten::cat", kLists, 10, "cat").ops().ops.front().cases.at(0).list_type_known);
}

// aten::index with a kernel, and what it calls on the way: the view that gives the indices' sizes.
ReplayOps index_ops(const std::string& view, const std::string& also = "aten::reshape") {
  constexpr const char* kSelf = R"("Input Dims":[[2048,4,8],[]],"Input type":["c10::BFloat16",""],)"
                                R"("Input Strides":[[32,8,1],[]],"Concrete Inputs":["",""])";
  const std::string restride =
      R"("Input Dims":[[2048,4,8],[],[],[]],"Input type":["c10::BFloat16","ScalarList","ScalarList",""],)"
      R"("Concrete Inputs":["",)" +
      view + R"(,""])";
  const Trace trace = test::open_events(
      {cpu_op("aten::index", 100, 50, kSelf), cpu_op("aten::as_strided", 105, 2, restride),
       cpu_op(also, 108, 1), launch_call(110, 5, 1), kernel("index", 120, 10, 1)});
  const Scope everything;
  return find_replay_ops(SheetInput(trace.store, trace.tree, everything));
}

TEST(ReplayOps, IndicesFollowFromTheViewThatTheyAreUsedWith) {
  const auto indices = [](const std::string& view) {
    const ReplayOps all = index_ops(view);
    const ReplayCase& one = all.ops.at(0).cases.at(0);
    EXPECT_EQ(one.lists_found, one.arguments.at(1).kind == ReplayArgument::Kind::kTensors);
    std::vector<std::vector<int64_t>> sizes;
    for (const ReplayTensor& tensor : one.arguments[1].tensors) {
      EXPECT_EQ(tensor.dtype, "int64");
      sizes.push_back(tensor.dims);
    }
    return sizes;
  };
  using Sizes = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(indices(R"("[502, 4, 8]","[0, 8, 1]")"), (Sizes{{502}}));
  EXPECT_EQ(indices(R"("[502, 8]","[0, 1]")"), (Sizes{{502}, {502}}));
  EXPECT_EQ(indices(R"("[3, 5]","[0, 0]")"), (Sizes{{3, 5}, {3, 5}, {3, 5}}));
  EXPECT_EQ(indices(R"("[2048, 502, 8]","[32, 0, 1]")"), Sizes{}) << "x[:, i]: None is not said";
  EXPECT_EQ(indices(R"("[502, 9]","[0, 1]")"), Sizes{}) << "of another tensor";
  EXPECT_EQ(indices(R"("[502, 8]","[0]")"), Sizes{});
  EXPECT_FALSE(index_ops(R"("[502, 8]","[0, 1]")", "aten::nonzero").ops[0].cases[0].lists_found)
      << "a mask";
}

TEST(ReplayPackage, SaysThatIndicesAreAssumed) {
  const auto readme = [](const std::string& view) {
    return make_replay_package(index_ops(view).ops.at(0), {"t", ""}, 20).files[2].content;
  };
  EXPECT_NE(readme(R"("[502, 8]","[0, 1]")").find("uniformly random, inside"), std::string::npos);
  EXPECT_EQ(readme(R"("[502, 9]","[0, 1]")").find("uniformly random, inside"), std::string::npos);
}

// Two gradients, then the optimizer over all parameters, whose kernel has so many blocks.
ReplayOps optimizer_ops(int64_t blocks, const std::string& amsgrad) {
  const auto gradient = [](int64_t at, const std::string& dims, const std::string& strides) {
    return cpu_op("torch::autograd::AccumulateGrad", at, 5,
                  R"("Input Dims":[)" + dims + R"(],"Input type":["float"],"Input Strides":[)" +
                      strides + R"(],"Concrete Inputs":[""])",
                  "2");
  };
  const std::string lists =
      R"("Input Dims":[[],[],[],[],[],[],[],[],[],[],[],[],[],[],[]],"Input type":["TensorList",)"
      R"("TensorList","TensorList","TensorList","TensorList","TensorList","Scalar","Scalar",)"
      R"("Scalar","Scalar","Scalar","Scalar","Scalar","",""],"Concrete Inputs":["","","","","","",)"
      R"("0.0001","0.9","0.999","0.01","1e-08",")" +
      amsgrad + R"(","False","",""])";
  const Trace trace =
      test::open_events({gradient(10, "[1000,100]", "[100,1]"), gradient(20, "[64,3]", "[1,64]"),
                         cpu_op("aten::_fused_adamw_", 100, 50, lists), launch_call(110, 5, 1),
                         test::event_text("kernel", "multi_tensor_apply_kernel<float>", 120, 10,
                                          R"("correlation":1,"stream":7,"device":0,"grid":[)" +
                                              std::to_string(blocks) + R"(,1,1],"block":[512,1,1])",
                                          "0", "7")});
  const Scope everything;
  return find_replay_ops(SheetInput(trace.store, trace.tree, everything));
}

TEST(ReplayOps, AnOptimizersListsAreThoseOfTheGradients) {
  const ReplayOps all = optimizer_ops(3, "False");
  const auto& arguments = all.ops.at(0).cases.at(0).arguments;
  ASSERT_EQ(arguments.size(), 15u);
  for (size_t place = 0; place < 4; ++place) {
    ASSERT_EQ(arguments[place].tensors.size(), 2u) << place;
    EXPECT_EQ(arguments[place].tensors[0].dims, (std::vector<int64_t>{64, 3})) << "last gradient";
    EXPECT_EQ(arguments[place].tensors[0].strides, (std::vector<int64_t>{1, 64}));
    EXPECT_EQ(arguments[place].tensors[1].dtype, "float32");
  }
  EXPECT_EQ(arguments[4].kind, ReplayArgument::Kind::kTensors);
  EXPECT_TRUE(arguments[4].tensors.empty()) << "only amsgrad keeps the largest";
  ASSERT_EQ(arguments[5].tensors.size(), 2u);
  EXPECT_TRUE(arguments[5].tensors[0].dims.empty()) << "a step";
  EXPECT_EQ(arguments[6].value, "0.0001");
  EXPECT_EQ(optimizer_ops(3, "True").ops[0].cases.at(0).arguments[4].tensors.size(), 2u);
  // 100000 and 192 elements are two blocks and one. Another number: these are not its tensors.
  EXPECT_EQ(optimizer_ops(4, "False").ops[0].refusals.at(0).reason, Reason::kListLeftOut);
}

// The kernels of the examples' optimizers cut their lists as these lists would be cut.
TEST(ReplayOps, OptimizersOfTheExamples) {
  for (const auto& [name, parameters] : {std::pair{"train", 39u}, {"vision", 62u}}) {
    Result<Trace> trace =
        open_trace((test::source_dir() / "examples" / name).string() + "-h200.json.gz");
    ASSERT_TRUE(trace.ok());
    const Scope everything;
    const ReplayOps all =
        find_replay_ops(SheetInput(trace.value().store, trace.value().tree, everything));
    const auto op = std::ranges::find(all.ops, "aten::_fused_adamw_", &ReplayOp::name);
    ASSERT_NE(op, all.ops.end());
    ASSERT_EQ(op->cases.size(), 1u) << name;
    EXPECT_EQ(op->cases[0].arguments[0].tensors.size(), parameters) << name;
  }
}

TEST(ReplayPackage, CopiesOfParametersAreMarked) {
  const auto copy_of = [](const std::string& dims) {
    const std::string gradient =
        R"("Input Dims":[[64,32]],"Input type":["float"],"Concrete Inputs":[""])";
    const std::string copy = R"("Input Dims":[)" + dims + "," + dims +
                             R"(,[]],"Input type":["c10::BFloat16","float","Scalar"],)"
                             R"("Concrete Inputs":["","","False"])";
    const Trace trace = test::open_events(
        {cpu_op("torch::autograd::AccumulateGrad", 10, 5, gradient),
         cpu_op("aten::copy_", 100, 50, copy), launch_call(110, 5, 1), kernel("k", 120, 10, 1)});
    const Scope everything;
    return literals(find_replay_ops(SheetInput(trace.store, trace.tree, everything)));
  };
  EXPECT_NE(copy_of("[64,32]").find(R"("parameter": True)"), std::string::npos);
  EXPECT_EQ(copy_of("[32,64]").find(R"("parameter": True)"), std::string::npos);
}

TEST(ReplayOps, WhatCannotBeMadeAgainIsRefusedWithItsTime) {
  const auto reason = [](const std::string& op, const std::string& args) {
    const ReplayOps all = Calls().add(op, args, 10).ops();
    EXPECT_TRUE(all.ops.front().cases.empty()) << op << args;
    EXPECT_EQ(all.ops.front().refusals.at(0).time, test::micros(10));
    return all.ops.front().refusals.at(0).reason;
  };
  EXPECT_EQ(reason("aten::mm", ""), Reason::kNoShapes);
  EXPECT_EQ(reason("SomeBackward0", kReplayedMatrices), Reason::kNoOperator);
  EXPECT_EQ(
      reason("aten::_foreach_add_", R"("Input Dims":[[],[]],"Input type":["TensorList","Scalar"])"),
      Reason::kListLeftOut);
  EXPECT_EQ(reason("aten::neg", R"("Input Dims":[[2]],"Input type":["NoSuchType"])"),
            Reason::kBadShape);
  EXPECT_EQ(
      reason("aten::neg", R"("Input Dims":[[2]],"Input type":["float"],"Input Strides":[[-1]])"),
      Reason::kBadShape);
  EXPECT_EQ(reason("aten::neg", R"("Input Dims":[[4611686018427387904,8]],"Input type":["float"])"),
            Reason::kBadShape);
}

// An autograd node is no operator; the one below it that did the work is.
TEST(ReplayOps, ANodeStandsForTheOperatorBelow) {
  Result<Trace> trace = open_trace((test::source_dir() / "examples/train-h200.json.gz").string());
  ASSERT_TRUE(trace.ok());
  const Scope everything;
  const ReplayOps all =
      find_replay_ops(SheetInput(trace.value().store, trace.value().tree, everything));
  const auto node =
      std::ranges::find(all.ops, "ScaledDotProductCudnnAttentionBackward0", &ReplayOp::name);
  ASSERT_NE(node, all.ops.end());
  ASSERT_EQ(node->cases.size(), 1u);
  EXPECT_EQ(node->cases[0].call, "aten::_scaled_dot_product_cudnn_attention_backward");
  EXPECT_EQ(node->cases[0].arguments.size(), 16u) << "the operator's, not the node's one";
  EXPECT_EQ(node->cases[0].time.count, 12u);
}

TEST(ReplayPackage, LeavesOutTheCasesWithLeastTime) {
  Calls calls;
  for (int size = 1; size <= 5; ++size) {
    calls.add("aten::neg",
              R"("Input Dims":[[)" + std::to_string(size) + R"(]],"Input type":["float"])",
              10 * size);
  }
  const ReplayOps all = calls.ops();
  const ReplayPackage package = make_replay_package(all.ops.front(), {"t", ""}, 3);
  EXPECT_EQ(package.cases, 3u);
  EXPECT_EQ(package.left_out, 2u);
  EXPECT_EQ(package.left_out_time, test::micros(30));
  EXPECT_NE(literals(all, 3).find(R"(LEFT_OUT = {"cases": 2, "share": 0.2})"), std::string::npos);
  EXPECT_EQ(literals(all, 3).find(R"("dims": [1])"), std::string::npos);
  EXPECT_NE(literals(all, 5).find(R"("dims": [1])"), std::string::npos);
  EXPECT_NE(package.files[2].content.find("2 more with 20.0 %"), std::string::npos);
}

// What a trace could try in every place where its text reaches a file of the package.
const std::string kHostile[] = {
    R"(\"\"\"; import os; os.system('touch owned'); x = \"\"\")",
    R"('; __import__('os').system('touch owned') #)",
    R"(\n# END: generated from the trace\nimport os; os.system('touch owned')\n)",
    R"(\\)",
    R"(\\\"]; raise SystemExit(7) #)",
    R"(\u0000\u0007\u2028\u202e\ud83d\ude00{{OP}}@CASES@)",
    R"({0}{} %s %d \\N{BULLET} \\x41)",
};

TEST(ReplayPackage, HostileTextStaysText) {
  if (!has_python()) GTEST_SKIP() << "no python3 here";
  const test::TemporaryDirectory directory;
  int number = 0;
  for (const std::string& text : kHostile) {
    const std::string args = R"("Input Dims":[[2],[],[]],"Input type":["float","Scalar",")" + text +
                             R"("],"Input Strides":[[1],[],[]],"Concrete Inputs":["",")" + text +
                             R"(",")" + text + R"("])";
    // As an argument and a kernel's name; as the op's name it is refused, below.
    const ReplayOps all = Calls().add("aten::neg", args, 10, text).ops();
    ReplayOp op = all.ops.front();
    ASSERT_EQ(op.cases.size(), 1u) << text;
    op.name = op.cases[0].kernels[0];
    const ReplaySource source{op.name, op.name};
    const ReplayPackage package = make_replay_package(op, source, 20);
    const std::filesystem::path place = directory.path() / std::to_string(++number);
    for (const PackageFile& file : package.files) test::write_file(place / file.name, file.content);
    test::write_file(place / "literals.py", replay_literals(op, source, 20));
    const test::CommandResult help = run_command("python3 replay.py --help", place);
    EXPECT_EQ(help.exit_code, 0) << help.errors;
    EXPECT_EQ(help.output.find('\x07'), std::string::npos) << "a control character";
    EXPECT_FALSE(std::filesystem::exists(place / "owned")) << text;
  }
  // Compiled, then only read: every statement of the generated part assigns a literal, and the
  // texts in it are those of metadata.json.
  test::write_file(directory.path() / "check.py", R"(
import ast, json, os, py_compile, sys
home = os.getcwd()
for place in range(1, int(sys.argv[1]) + 1):
    os.chdir(os.path.join(home, str(place)))
    print(os.getcwd())
    py_compile.compile("replay.py", doraise=True)
    found = {}
    for statement in ast.parse(open("literals.py").read()).body:
        assert isinstance(statement, ast.Assign), ast.dump(statement)
        found[statement.targets[0].id] = ast.literal_eval(statement.value)
    assert sorted(found) == ["CASES", "GPU", "LEFT_OUT", "OP", "TRACE"], found
    whole = open("replay.py").read()
    assert whole.count(open("literals.py").read()) == 1
    metadata = json.load(open("metadata.json"))
    assert found["OP"] == metadata["op"] == found["TRACE"] == metadata["trace"]
    case = found["CASES"][0]
    assert case["kernels"] == metadata["cases"][0]["kernels"], case
    assert case["args"][1]["value"] == metadata["cases"][0]["concrete_inputs"][1], case
    assert "END: generated" not in whole.split("# END: generated from the trace\n", 1)[1]
)");
  const test::CommandResult checked =
      run_command(fmt::format("python3 check.py {}", number), directory.path());
  EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.errors;
  EXPECT_EQ(std::ranges::count(checked.output, '\n'), number);
  for (int place = 1; place <= number; ++place)
    EXPECT_FALSE(std::filesystem::exists(directory.path() / std::to_string(place) / "owned"));
}

TEST(ReplayPackage, AnOpWithAHostileNameIsRefused) {
  for (const std::string& text : kHostile) {
    const ReplayOps all = Calls().add("aten::" + text, kReplayedMatrices, 10).ops();
    EXPECT_TRUE(all.ops.front().cases.empty()) << text;
  }
}

TEST(ReplayPackage, TheTemplateIsAProgramOfItsOwn) {
  if (!has_python()) GTEST_SKIP() << "no python3 here";
  const std::string script = (test::source_dir() / "data/replay/replay.py").string();
  const test::CommandResult result =
      run_command("python3 -c \"import ast; ast.parse(open('" + script + "').read())\"", "/");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST(ReplayPackage, ItsModulesBuildAndTimeCallsWithoutPyTorch) {
  if (!has_python()) GTEST_SKIP() << "no python3 here";
  const test::CommandResult result =
      run_command("python3 tests/replay/replay_modules_test.py data/replay", test::source_dir());
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST(ReplayPackage, EvaluatesNothing) {
  const ReplayPackage package = make_replay_package(
      Calls().add("aten::mm", kReplayedMatrices, 10).ops().ops.front(), {"trace.json", "GPU"}, 20);
  for (const char* word : {"eval(", "exec(", "compile(", "__import__", "pickle"}) {
    EXPECT_EQ(package.files[0].content.find(word), std::string::npos) << word;
  }
}

TEST(ReplayPackage, ArchivesAreWholeAndTheSameEveryTime) {
  const test::TemporaryDirectory directory;
  const Trace trace = Calls().add("aten::mm", kReplayedMatrices, 10).open();
  for (const char* place : {"one", "two"}) {
    const Result<PackResult> packed =
        pack_replays(trace, {{"aten::mm"}, 0, 20}, {directory.path() / place});
    ASSERT_TRUE(packed.ok()) << packed.error().message;
    EXPECT_EQ(packed.value().packed.at(0).file, "aten_mm_replay_package.zip");
  }
  const std::string archive = "aten_mm_replay_package.zip";
  EXPECT_EQ(test::read_file(directory.path() / "one" / archive),
            test::read_file(directory.path() / "two" / archive));
  EXPECT_EQ(run_command("ls one", directory.path()).output, archive + "\n")
      << "no temporary file remains";
  if (!has_python()) GTEST_SKIP() << "no python3 here";
  const test::CommandResult tested =
      run_command("python3 -m zipfile -t one/" + archive + " && python3 -m zipfile -l one/" +
                      archive + " | cut -d' ' -f1",
                  directory.path());
  EXPECT_EQ(tested.exit_code, 0) << tested.errors;
  for (const char* name : {"replay.py", "metadata.json", "README.md", "1980"}) {
    EXPECT_NE(
        run_command("python3 -m zipfile -l one/" + archive, directory.path()).output.find(name),
        std::string::npos)
        << name;
  }
}

TEST(ReplayPackage, NamesThatBecomeTheSameFileAreNumbered) {
  const test::TemporaryDirectory directory;
  const Trace trace =
      Calls().add("a::b_c", kReplayedMatrices, 20).add("a_b::c", kReplayedMatrices, 10).open();
  const Result<PackResult> packed = pack_replays(trace, {{"a*"}, 0, 20}, {directory.path()});
  ASSERT_TRUE(packed.ok());
  ASSERT_EQ(packed.value().packed.size(), 2u);
  EXPECT_EQ(packed.value().packed[0].file, "a_b_c_replay_package.zip");
  EXPECT_EQ(packed.value().packed[1].file, "a_b_c-2_replay_package.zip");
}

TEST(ReplayPackage, OfEveryExampleTrace) {
  if (!has_python()) GTEST_SKIP() << "no python3 here";
  const test::TemporaryDirectory directory;
  for (const std::filesystem::path& path : test::example_traces()) {
    Result<Trace> trace = open_trace(path.string());
    ASSERT_TRUE(trace.ok());
    const std::filesystem::path place = directory.path() / path.filename();
    const Result<PackResult> packed =
        pack_replays(trace.value(), {{}, SIZE_MAX, SIZE_MAX}, {place});
    ASSERT_TRUE(packed.ok()) << packed.error().message;
    Nanos time;
    for (const PackedOp& op : packed.value().packed) time += op.time;
    for (const UnpackedOp& op : packed.value().unpacked) time += op.time;
    EXPECT_EQ(time, packed.value().whole) << "packed and not packed are all there is";
    test::write_file(place / "check.py", R"(
import ast, glob, json, zipfile
for name in glob.glob("*.zip"):
    package = zipfile.ZipFile(name)
    assert package.testzip() is None
    tree = ast.parse(package.read("replay.py"))
    values = {s.targets[0].id: s.value for s in tree.body if isinstance(s, ast.Assign) and hasattr(s.targets[0], "id")}
    cases = ast.literal_eval(values["CASES"])
    assert len(cases) == len(json.loads(package.read("metadata.json"))["cases"]) > 0, name
)");
    const test::CommandResult checked = run_command("python3 check.py", place);
    EXPECT_EQ(checked.exit_code, 0) << path << "\n" << checked.errors;
  }
}

}  // namespace
}  // namespace fathom
