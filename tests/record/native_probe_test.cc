#include "probe/native_probe.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "checks.h"
#include "probe/call_file.h"
#include "session/native_calls.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

TEST(NativeProbe, IsToldFromAPythonModule) {
  for (const char* probe : {"c:symbol", "libfoo.so:f", "libfoo.so.1:f", "./server:handle",
                            "/usr/lib/libz.so.1:deflate", "c:ns::f"}) {
    EXPECT_TRUE(probe::is_native_probe(probe)) << probe;
  }
  for (const char* probe : {"module:f", "solver.so_lver:f", "a.b:C.d", "libso:f", "c", "cc:f"})
    EXPECT_FALSE(probe::is_native_probe(probe)) << probe;
}

TEST(NativeProbe, NamesHaveNoParametersAndNoReturnType) {
  const auto name = [](const char* text) { return probe::function_name(text, false); };
  EXPECT_EQ(name("ns::Class::method(int, char const*) const"), "ns::Class::method");
  EXPECT_EQ(name("unsigned long ns::f<int, std::less<int> >(char)"), "ns::f");
  EXPECT_EQ(probe::function_name("int ns::f<3>(char)", true), "ns::f<3>");
  EXPECT_EQ(name("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
  EXPECT_EQ(name("ns::A::operator()(int) const"), "ns::A::operator()");
  EXPECT_EQ(name("std::operator<<(std::ostream&, int)"), "std::operator<<");
  EXPECT_EQ(name("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(name("f[abi:cxx11](int)"), "f");
  EXPECT_EQ(name("plain_c"), "plain_c");
}

TEST(NativeProbe, MatchesMangledAndDemangledNames) {
  const auto matches = [](const char* probe, const char* symbol) {
    return probe::matches_symbol(probe::native_probe(probe), symbol);
  };
  EXPECT_TRUE(matches("c:deflate", "deflate"));
  EXPECT_FALSE(matches("c:deflate", "deflateInit_"));
  EXPECT_TRUE(matches("c:shapes::Shape::grow", "_ZN6shapes5Shape4growEi"));
  EXPECT_TRUE(matches("c:shapes::Shape::grow", "_ZN6shapes5Shape4growEd"));
  EXPECT_TRUE(matches("c:_ZN6shapes5Shape4growEd", "_ZN6shapes5Shape4growEd"));
  EXPECT_FALSE(matches("c:Shape::grow", "_ZN6shapes5Shape4growEi"));
  EXPECT_FALSE(matches("c:shapes::Shape", "_ZTVN6shapes5ShapeE"));
  EXPECT_TRUE(matches("c:shapes::twice", "_ZN6shapes5twiceIiEET_S1_"));
  EXPECT_TRUE(matches("c:shapes::twice<int>", "_ZN6shapes5twiceIiEET_S1_"));
  EXPECT_FALSE(matches("c:shapes::twice<int>", "_ZN6shapes5twiceIdEET_S1_"));
  EXPECT_TRUE(matches("c:std::string::append", "_ZNSs6appendEPKc") ||
              matches("c:std::basic_string::append", "_ZNSs6appendEPKc"));
}

TEST(NativeProbe, ALibraryIsNamedWithoutItsVersion) {
  const auto matches = [](const char* probe, const char* path) {
    return probe::matches_object(probe::native_probe(probe), path);
  };
  EXPECT_TRUE(matches("libz.so:f", "/usr/lib/libz.so.1.2"));
  EXPECT_TRUE(matches("libz.so.1:f", "/usr/lib/libz.so.1.2"));
  EXPECT_FALSE(matches("libz.so.2:f", "/usr/lib/libz.so.1.2"));
  EXPECT_FALSE(matches("libz.so:f", "/usr/lib/libzip.so"));
  EXPECT_TRUE(matches("./server:f", "/opt/server"));
  EXPECT_FALSE(matches("./server:f", "/opt/server.py"));
  EXPECT_TRUE(matches("c:f", "/anything"));
}

// What a killed program, or another one, may have left.
TEST(NativeCalls, FilesOfAnyContentAreRead) {
  const test::TemporaryDirectory directory;
  std::string bytes(probe::kCallRecordsAt + 2 * sizeof(probe::CallRecord), '\0');
  probe::CallFileHead head = {};
  std::copy_n(probe::kCallFileMagic, 8, head.magic);
  head.slots = 0xffffffff;
  head.records = UINT64_MAX;
  head.lost = 7;
  std::memcpy(bytes.data(), &head, sizeof head);
  probe::CallSlot slot = {9, 0xffffffff, 0xffffffff, {}};
  std::memcpy(bytes.data() + sizeof head, &slot, sizeof slot);
  const probe::CallRecord records[2] = {{5, 6, 0, 42, 43, 0}, {5, 6, 100000, 42, 43, 0}};
  std::memcpy(bytes.data() + probe::kCallRecordsAt, records, sizeof records);
  test::write_file(directory.path() / "native-1-2.calls", bytes);
  test::write_file(directory.path() / "native-1-3.calls", bytes.substr(0, 5000));
  test::write_file(directory.path() / "native-1-4.calls", "");
  const std::vector<NativeCallFile> files = find_native_calls(directory.path());
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].processes, std::set<int64_t>{42});
  EXPECT_FALSE(files[0].is_cut);
  EXPECT_TRUE(files[1].is_cut && files[2].is_cut);
  const NativeProbes probes{{"c:f"}, "library"};
  EXPECT_EQ(native_probe_notes(probes, files).size(), 3u);  // not found; too many functions; lost
}

TEST(NativeCalls, APathThatCannotBePreloadedIsNot) {
  std::vector<std::string> environment = {"LD_PRELOAD=a.so", "HOME=/"};
  const NativeProbes spaced{{"c:f"}, "/opt/my tools/libfathom_probe.so"};
  add_native_environment(spaced, "/tmp/d", environment);
  EXPECT_EQ(environment, (std::vector<std::string>{"LD_PRELOAD=a.so", "HOME=/"}));
  ASSERT_EQ(native_probe_notes(spaced, {}).size(), 1u);
  EXPECT_NE(native_probe_notes(spaced, {})[0].find("has a space or a colon"), std::string::npos);
  add_native_environment({{"c:f"}, "/opt/lib.so"}, "/tmp/d", environment);
  EXPECT_EQ(environment,
            (std::vector<std::string>{"HOME=/", "LD_PRELOAD=/opt/lib.so:a.so", "FATHOM_PROBES=c:f",
                                      "FATHOM_PROBE_DIR=/tmp/d"}));
}

class ProbedProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(test::fathom_binary()).parent_path();
    if (!fs::exists(folder_ / "libfathom_probe.so")) GTEST_SKIP() << "made for x86-64 only";
  }
  test::CommandResult run(const std::string& command) {
    return test::run_command("PATH=" + folder_.string() + ":$PATH; P=" + folder_.string() +
                                 "/probed; export LATER=$P/libfathom_probed_later.so; " + command,
                             directory_.path());
  }
  fs::path folder_;
  test::TemporaryDirectory directory_;
};

// Arguments in registers and on the stack, results of all kinds, errno, exceptions and jumps.
TEST_F(ProbedProgram, DoesWhatItDoesWithoutProbes) {
  const test::CommandResult plain = run("$P/fathom_probed $LATER; echo $?");
  const std::string probes =
      " --probe libfathom_probed_shapes.so:probed_many --probe c:probed_wide --probe c:probed_sum"
      " --probe c:probed_long --probe c:probed_fails --probe c:probed_calls"
      " --probe c:shapes::Shape::grow --probe c:shapes::Shape::area"
      " --probe c:shapes::Shape::refuse --probe c:shapes::twice"
      " --probe libfathom_probed_later.so:probed_later"
      " --probe 'c:(anonymous namespace)::of_the_program' --probe ./fathom_probed:main ";
  const test::CommandResult probed =
      run("fathom record -q --out run.capture" + probes + "-- $P/fathom_probed $LATER; echo $?");
  EXPECT_NE(plain.output.find("caught 7\njumped\n"), std::string::npos) << plain.output;
  EXPECT_EQ(probed.output, plain.output);
  const test::CommandResult ranges =
      run("fathom convert -q run.capture run.json; for n in :probed_many :shapes::Shape::grow"
          " :shapes::Shape::area :shapes::Shape::refuse ':shapes::twice<int>' :probed_later"
          " :probed_calls of_the_program; do grep -o \"$n\\\"\" run.json | wc -l; done; ls");
  // 1 + 5 from the library that came later + 4 threads of 5,000; the forked process has its own.
  EXPECT_EQ(ranges.output, "20006\n2\n1\n2\n1\n5\n1\n11\nrun-2.capture\nrun.capture\nrun.json\n");
}

// The second process's capture takes a free name: what has it already may be the user's own.
TEST_F(ProbedProgram, CapturesOfOtherProcessesReplaceNoFile) {
  const std::string record = "fathom record -q --probe c:probed_many ";
  const test::CommandResult own =
      run("echo mine >run-2.capture; " + record +
          "--out run.capture -- $P/fathom_probed >/dev/null; cat run-2.capture; ls");
  EXPECT_EQ(own.output, "mine\nrun-2.capture\nrun-3.capture\nrun.capture\n");
  // An earlier recording under a name that Fathom chose.
  const test::CommandResult earlier =
      run("mkdir d && cd d && cp ../run.capture fathom_probed-2.capture; " + record +
          "-- $P/fathom_probed >/dev/null; ls; cmp ../run.capture fathom_probed-2.capture");
  EXPECT_EQ(earlier.output,
            "fathom_probed-2.capture\nfathom_probed-3.capture\nfathom_probed.capture\n");
  EXPECT_EQ(earlier.exit_code, 0);
}

TEST_F(ProbedProgram, NumbersOfArgumentsAndResults) {
  run("fathom record -q --out run.capture --probe 'c:probed_many(arg1, arg6, result)'"
      " --probe 'c:(anonymous namespace)::of_the_program(arg1, result)'"
      " --probe 'c:probed_fails(int(result))' -- $P/fathom_probed");
  const test::CommandResult numbers =
      run("fathom convert -q run.capture run.json; for n in 'probed_many arg6' 'probed_many result'"
          " 'of_the_program arg1' 'probed_fails int(result)'; do grep -F \"$n\" run.json | wc -l;"
          " done; grep -F 'probed_many result' run.json | grep -c 'value\": *385[^0-9]'; grep -F "
          "'int(result)'"
          " run.json | grep -c 'value\": *-1[^0-9]'");
  // 385 = 55 × 7: once by itself, once in each of four threads.
  EXPECT_EQ(numbers.output, "20001\n20001\n11\n1\n5\n1\n");
}

TEST_F(ProbedProgram, WhatWasNotRecordedIsSaid) {
  const test::CommandResult result =
      run("fathom record --probe c:no_such_function --probe libz.so:probed_many"
          " --probe libfathom_probed_shapes.so:probed_depth -- $P/fathom_probed 2>&1 >/dev/null");
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_NE(result.output.find("--probe c:no_such_function: nothing was recorded; no call"),
            std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find("--probe libz.so:probed_many: nothing"), std::string::npos);
  EXPECT_EQ(result.output.find("probed_depth: nothing"), std::string::npos);
}

TEST_F(ProbedProgram, ACallThatDoesNotReturnIsNotCalledUncalled) {
  const test::CommandResult result =
      run("fathom record --probe c:probed_calls -- $P/fathom_probed leave 2>&1");
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_NE(result.output.find("--probe c:probed_calls: no finished call of it was recorded: "),
            std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find("or did not return (exit, exec, longjmp, "), std::string::npos);
}

// Each writes its own file, however it was forked.
TEST_F(ProbedProgram, ForkedProcessesLoseNothingOfEachOther) {
  const test::CommandResult result =
      run("fathom record -q --json=- --out run.capture --probe c:probed_many -- $P/fathom_probed "
          "children 2>&1 >out; grep -c '\"ranges\": 20000' out; grep -c '\"ranges\": 10,' out; "
          "ls *.capture | wc -l; grep -c '\"lost_records\": 0' out");
  EXPECT_EQ(result.output, "30\n1\n31\n31\n");
}

// Writing beyond the limit would end the program.
TEST_F(ProbedProgram, ALimitOnTheSizeOfFilesIsKept) {
  const test::CommandResult result =
      run("(ulimit -f 2000; fathom record --probe c:probed_many -- $P/fathom_probed many; echo $?) "
          "2>&1");
  EXPECT_TRUE(result.output.ends_with("\n0\n")) << result.output;
  // 2,000 blocks of 512 bytes have room for the head and two segments.
  EXPECT_NE(result.output.find("--probe: 183,616 records of calls are lost: "), std::string::npos)
      << result.output;
  EXPECT_NE(
      run("(ulimit -f 100; fathom record --probe c:probed_many -- $P/fathom_probed many) 2>&1")
          .output.find("--probe c:probed_many: no calls were recorded; there is no room"),
      std::string::npos);
}

TEST_F(ProbedProgram, SeveralProbesOfAFunctionAllWork) {
  const test::CommandResult result =
      run("fathom record --out run.capture --probe 'c:probed_many(arg1)'"
          " --probe 'libfathom_probed_shapes.so:probed_many(arg1, result)'"
          " --probe './fathom_probed:(anonymous namespace)::of_the_program(arg1)'"
          " --probe './fathom_probed:(anonymous namespace)::of_the_program(result)'"
          " -- $P/fathom_probed 2>&1");
  EXPECT_EQ(result.output.find("--probe"), std::string::npos) << result.output;
  const test::CommandResult counts =
      run("fathom convert -q run.capture run.json; for n in ':probed_many\"' 'probed_many arg1'"
          " 'probed_many result' 'of_the_program arg1' 'of_the_program result';"
          " do grep -o \"$n\" run.json | wc -l; done");
  EXPECT_EQ(counts.output, "20001\n20001\n20001\n11\n11\n");
}

// The file is shared and mapped: it is whole even so.
TEST_F(ProbedProgram, AKilledProgramLeavesItsCalls) {
  const test::CommandResult result = run(
      "fathom record -q --json=- --probe c:abs --probe c:strdup -- python3 -c \"import ctypes, os;"
      " l = ctypes.CDLL(os.environ['LATER']); [l.probed_later(1) for _ in range(9)];"
      " os.kill(os.getpid(), 9)\"; fathom record -q --json=- --probe c:probed_many -- python3 -c "
      "\"import ctypes, os; l = ctypes.CDLL(os.environ['LATER']);"
      " [l.probed_later(1) for _ in range(9)]; os.kill(os.getpid(), 9)\"");
  if (run("python3 -c 1").exit_code != 0) GTEST_SKIP() << "no python3";
  EXPECT_NE(result.output.find("\"ranges\": 9"), std::string::npos) << result.output;
}

TEST_F(ProbedProgram, AnotherPreloadedLibraryStays) {
  EXPECT_NE(run("LD_PRELOAD=libm.so.6 fathom record -q --probe c:puts -- sh -c 'echo $LD_PRELOAD'")
                .output.find("libfathom_probe.so:libm.so.6\n"),
            std::string::npos);
  EXPECT_EQ(run("fathom record -q -- sh -c 'echo $LD_PRELOAD'").output, "\n");
}

}  // namespace
}  // namespace fathom
