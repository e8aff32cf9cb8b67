#include <filesystem>

#include "checks.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

class RecordProgram : public ::testing::Test {
 protected:
  test::CommandResult run(const std::string& command) {
    const std::string folder = fs::path(test::fathom_binary()).parent_path().string();
    return test::run_command("PATH=" + folder + ":$PATH; " + command, directory_.path());
  }
  void write(const std::string& name, const std::string& text) {
    test::write_file(directory_.path() / name, text);
  }
  bool has_python() { return run("python3 -c 1").exit_code == 0; }

  test::TemporaryDirectory directory_;
};

constexpr const char* kModule = R"(
class Engine:
    size = 3
    def step(self, batch, scale=2):
        return batch * scale
    @staticmethod
    def check(value):
        if value < 0:
            raise ValueError("negative")
        return value
async def later(value):
    return value
)";

TEST_F(RecordProgram, CallsOfProbesAndNumbersOfTheOutput) {
  if (!has_python()) GTEST_SKIP() << "no python3";
  write("engine.py", kModule);
  write("main.py", R"(
import asyncio, engine
for i in range(4):
    engine.Engine().step([1] * i)
    print("hit rate: 0.%d" % i)
try:
    engine.Engine.check(-1)
except ValueError:
    print("caught")
asyncio.run(engine.later(5))
)");
  const test::CommandResult result =
      run("fathom record --json=- -q --out run.capture --log-pattern 'hit rate: {float}'"
          " --probe 'engine:Engine.step(len(batch), scale, self.size, len(result), nothing.there)'"
          " --probe 'engine:Engine.check(value)' --probe engine:later -- python3 main.py");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_NE(result.output.find("hit rate: 0.3\ncaught\n"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("\"ranges\": 6"), std::string::npos) << result.output;
  const test::CommandResult converted =
      run("fathom convert -q run.capture run.json && grep -c 'Engine.step len(batch)' run.json;"
          " grep -c 'engine:later' run.json; grep -o '\"hit rate\"' run.json | wc -l");
  EXPECT_EQ(converted.output, "4\n1\n4\n");
}

TEST_F(RecordProgram, AProbeThatFindsNothingIsSaid) {
  if (!has_python()) GTEST_SKIP() << "no python3";
  write("engine.py", kModule);
  const test::CommandResult result =
      run("fathom record --probe engine:missing --probe nowhere:f -- python3 -c 'import engine; "
          "print(engine.Engine().step([1]))' 2>&1");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.output.find("[1, 1]"), std::string::npos);
  EXPECT_NE(result.output.find("--probe engine:missing: nothing was recorded"), std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find("--probe nowhere:f: nothing was recorded"), std::string::npos);
}

TEST_F(RecordProgram, WhyAProbeIsNotPlacedIsSaid) {
  if (!has_python()) GTEST_SKIP() << "no python3";
  write("engine.py",
        "class Engine:\n    size = property(lambda self: 3)\nasync def stream():\n    yield 1\n");
  const test::CommandResult result =
      run("fathom record --probe engine:nosuch --probe engine:Engine.size --probe engine:stream"
          " --probe os:getpid --probe builtins:len --probe __main__:f -- python3 -c 'import engine,"
          " inspect, os; os.getpid(); print(inspect.isasyncgenfunction(engine.stream))' 2>&1");
  const auto says = [&](const std::string& text) {
    EXPECT_NE(result.output.find(text + "\n"), std::string::npos) << text << "\n" << result.output;
  };
  says("True");
  says("--probe engine:nosuch: nothing was recorded; engine has no nosuch");
  says(
      "--probe engine:Engine.size: nothing was recorded; it is a property or another value, not a "
      "function");
  says("--probe engine:stream: nothing was recorded; async generators cannot be probed");
  says("--probe os:getpid: nothing was recorded; os is loaded before probes can be placed");
  says(
      "--probe builtins:len: nothing was recorded; builtins is loaded before probes can be "
      "placed");
  says(
      "--probe __main__:f: nothing was recorded; functions of the file that is run (__main__) "
      "cannot be probed; move it to a module that is imported");
  EXPECT_EQ(result.output.find("place_probe"), std::string::npos);
  EXPECT_EQ(result.output.find("no Python process"), std::string::npos);
}

TEST_F(RecordProgram, AGeneratorStaysOne) {
  if (!has_python()) GTEST_SKIP() << "no python3";
  write("engine.py", R"(
import time, types
def steps(count):
    got = 0
    for i in range(count):
        time.sleep(0.05)
        got += (yield i) or 0
    return got
@types.coroutine
def waits():
    yield 5
    return 6
)");
  write("main.py", R"(
import engine, inspect
print(inspect.isgeneratorfunction(engine.steps))
g = engine.steps(3)
print(next(g), g.send(4), g.send(5))
try:
    g.send(6)
except StopIteration as end:
    print(end.value)
engine.steps(3)
left = engine.steps(9)
next(left)
left.close()
async def outer():
    return await engine.waits()
c = outer()
print(c.send(None))
c.close()
)");
  const test::CommandResult result =
      run("fathom record -q --out run.capture --probe 'engine:steps(count, result)'"
          " --probe engine:waits -- python3 main.py");
  EXPECT_EQ(result.output, "True\n0 1 2\n15\n5\n");
  // One to its end, one that was closed; that which never began is none.
  const test::CommandResult converted = run(
      "fathom convert -q run.capture run.json; grep -o 'engine:steps\"' run.json | wc -l;"
      " grep -o 'engine:steps result' run.json | wc -l; grep -o 'engine:waits\"' run.json | wc -l;"
      " grep 'engine:steps\"' run.json | grep -o '\"dur\": *[0-9]*' | tr -dc '0-9\n' | sort -n |"
      " awk 'END { print ($1 > 150000) }'");
  EXPECT_EQ(converted.output, "2\n1\n1\n1\n");
}

// The program's own sitecustomize still runs.
TEST_F(RecordProgram, AnotherSitecustomizeIsNotHidden) {
  if (!has_python()) GTEST_SKIP() << "no python3";
  write("sitecustomize.py", "print('mine')\n");
  write("engine.py", kModule);
  const test::CommandResult result =
      run("PYTHONPATH=. fathom record -q --probe engine:later -- python3 -c 'print(1)'");
  EXPECT_EQ(result.output, "mine\n1\n");
}

TEST_F(RecordProgram, TheProgramEndsAsItWould) {
  EXPECT_EQ(run("fathom record -q -- sh -c 'exit 7'").exit_code, 7);
  EXPECT_EQ(run("fathom record -q -- sh -c 'kill -TERM $$'").exit_code, 128 + 15);
  EXPECT_EQ(run("fathom record -q -- ./nothing-there 2>/dev/null").exit_code, 127);
  write("not-executable", "x");
  EXPECT_EQ(run("fathom record -q -- ./not-executable 2>/dev/null").exit_code, 126);
}

TEST_F(RecordProgram, InputAndOutputPassThrough) {
  EXPECT_EQ(run("printf 'a\\nb' | fathom record -q -- cat").output, "a\nb");
  EXPECT_EQ(run("printf 'a\\nb' | fathom record -q --log-pattern '{int}' -- cat").output, "a\nb");
  EXPECT_EQ(run("fathom record -q -- sh -c 'echo err >&2' 2>&1").output, "err\n");
  EXPECT_EQ(
      run("head -c 3000000 /dev/zero >big; fathom record -q --log-pattern 'x {int}' -- cat big"
          " | cmp - big && echo same")
          .output,
      "same\n");
}

TEST_F(RecordProgram, AFileThatIsNoCaptureIsKept) {
  write("mine.txt", "precious");
  const test::CommandResult result = run("fathom record --out mine.txt -- echo ran 2>&1");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output,
            "fathom: mine.txt exists and is no capture; use another name or --force\n");
  EXPECT_EQ(run("cat mine.txt; ls -A").output, "preciousmine.txt\n");
}

TEST_F(RecordProgram, AnotherToolInTheEnvironmentIsLeftAlone) {
  const test::CommandResult result =
      run("CUDA_INJECTION64_PATH=/opt/tool.so fathom record -- sh -c 'echo $CUDA_INJECTION64_PATH' "
          "2>&1");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.output.find("/opt/tool.so\n"), std::string::npos);
  EXPECT_NE(result.output.find("nothing was recorded: CUDA_INJECTION64_PATH names another tool"),
            std::string::npos)
      << result.output;
}

// As PyTorch's: the parts that the hook touches.
constexpr const char* kTorchProfiler = R"py(
import warnings
class Results:
    def save(self, path):
        with open(path, "w") as file:
            file.write('{"baseTimeNanoseconds": 0, "traceEvents": [{"ph": "X", "cat": "cpu_op",'
                       '"name": "aten::add", "pid": 1, "tid": 1, "ts": 10, "dur": 2, "args": {}}]}')
class profile:
    def __init__(self, use_kineto, record_shapes, experimental_config=None):
        warnings.warn("no GPU is profiled")
    def __enter__(self):
        self._prepare_trace()
    def _prepare_trace(self):
        pass
    def _parse_kineto_results(self, result, timeout_s=None):
        print("slow")
        return [1]
    def __exit__(self, *error):
        self.kineto_results = Results()
        self.events = self._parse_kineto_results(self.kineto_results, timeout_s=1)
        if FAILS:
            raise RuntimeError("no events")
    def export_chrome_trace(self, path):
        self.kineto_results.save(path)
)py";

TEST_F(RecordProgram, OpsOfPyTorchAreExportedWithoutBuildingItsEvents) {
  if (!has_python()) GTEST_SKIP() << "no python3";
  for (const char* folder : {"torch", "torch/autograd", "torch/_C"}) {
    fs::create_directory(directory_.path() / folder);
    write(std::string(folder) + "/__init__.py", "");
  }
  write("torch/_C/_profiler.py", "def _ExperimentalConfig(profile_all_threads):\n    pass\n");
  // torch.profiler takes seconds to start: it imports the compiler.
  write("torch/profiler.py", "print('slow')\n");
  for (const char* fails : {"FAILS = False\n", "FAILS = True\n"}) {
    write("torch/autograd/profiler.py", fails + std::string(kTorchProfiler));
    const test::CommandResult result =
        run("fathom record -q --json=- --force --out run.capture --torch -- python3 -B -c "
            "'import torch; print(1)' 2>&1");
    EXPECT_TRUE(result.output.starts_with("1\n{")) << result.output;
    EXPECT_NE(result.output.find("\"ops\": 1"), std::string::npos) << result.output;
  }
}

// The value of an option may be absent; the program's own options are its own even so.
TEST_F(RecordProgram, ACommandMayFollowAnOptionWithoutItsValue) {
  for (const char* option : {"--counters", "--counters=memory", "--ncu", "--calibrate=1"}) {
    const test::CommandResult result =
        run(std::string("fathom record -q ") + option + " -- sh -c 'exit 4' 2>&1");
    EXPECT_EQ(result.exit_code, 4) << option << " " << result.output;
  }
}

// Nothing of it stays: neither temporary folders nor variables.
TEST_F(RecordProgram, LeavesNothingBehind) {
  run("fathom record -q -- true");
  EXPECT_EQ(run("ls -A").output, "");
}

}  // namespace
}  // namespace fathom
