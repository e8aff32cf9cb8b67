#include "session/ncu_run.h"

#include <algorithm>
#include <filesystem>

#include "checks.h"
#include "record/made_capture.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

TEST(NcuRun, LaterLaunchesOfEachShapeAreChosen) {
  const test::TemporaryDirectory directory;
  test::write_file(directory.path() / "a.capture", made_capture(20));
  const Result<NcuSelection> selection = select_for_ncu(directory.path() / "a.capture");
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection.value().names, (std::vector<std::string>{"even(float*)", "odd<3>(int)"}));
  EXPECT_EQ(selection.value().invocations, (std::vector<int64_t>{2, 3}));
  // What is launched once is measured cold.
  test::write_file(directory.path() / "b.capture", made_capture(1));
  EXPECT_EQ(select_for_ncu(directory.path() / "b.capture").value().invocations,
            std::vector<int64_t>{1});
}

TEST(NcuRun, NamesAreEscapedAndSectionsFollowTheSet) {
  const std::vector<std::string> words =
      ncu_arguments({{"k$_0.kd", "_Z1fv"}, {2, 3}}, "stalls", "/tmp/log");
  const auto has = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
  EXPECT_TRUE(has("::regex:^(k\\$_0\\.kd|_Z1fv)$:^(2|3)$"));
  EXPECT_TRUE(has("WarpStateStats"));
  EXPECT_FALSE(has("MemoryWorkloadAnalysis_Tables"));
  EXPECT_FALSE(has("full"));
  const std::vector<std::string> full = ncu_arguments({{"f"}, {1}}, "full", "/tmp/log");
  EXPECT_NE(std::ranges::find(full, "full"), full.end());
}

// A script that stands for ncu: it runs the program and writes what FAKE_NCU names.
constexpr const char* kFakeNcu = R"(#!/bin/sh
while :; do
  case $1 in
    --csv) shift ;;
    --log-file) log=$2; shift 2 ;;
    --kernel-id) echo "$2" >kernel-id; shift 2 ;;
    --*) shift 2 ;;
    *) break ;;
  esac
done
[ -z "$CUDA_INJECTION64_PATH" ] || echo "another tool is set"
"$@"
{
  echo '==PROF== Connected to process 4711'
  case $FAKE_NCU in
    refused) echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission' ;;
    nothing) echo '==WARNING== No kernels were profiled.' ;;
    broken) echo '==ERROR== The application returned an error code (1).' ;;
    *) cat "$(dirname "$0")/table.csv" ;;
  esac
} >"$log"
)";
constexpr const char* kTable =
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum","device__attribute_clock_rate"
"","","","","","","","","","","","","%","ns",""
"0","4711","fake","host","_Z6attendPf","1","7","(128, 1, 1)","(64, 1, 1)","0","9.0","","42.5","100000","1980"
"1","4711","fake","host","gemm_64x64","1","7","(128, 1, 1)","(64, 1, 1)","0","9.0","","17.25","101,000","1980"
)csv";

class NcuProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(test::fathom_binary()).parent_path();
    fs::create_directories(directory_.path() / "cuda/lib64");
    fs::create_symlink(folder_ / "probed/libfathom_fake_cupti.so",
                       directory_.path() / "cuda/lib64/libcupti.so.13");
  }
  void add_ncu() {
    const fs::path program = directory_.path() / "bin/ncu";
    fs::create_directories(program.parent_path());
    test::write_file(program, kFakeNcu);
    test::write_file(directory_.path() / "bin/table.csv", kTable);
    fs::permissions(program, fs::perms::owner_all);
  }
  test::CommandResult run(const std::string& command) {
    return test::run_command("PATH=$PWD/bin:" + folder_.string() +
                                 ":/usr/bin:/bin; P=" + folder_.string() +
                                 "/probed; export CUDA_HOME=$PWD/cuda; " + command,
                             directory_.path());
  }
  fs::path folder_;
  test::TemporaryDirectory directory_;
};

TEST_F(NcuProgram, ItsCountersAreInTheCapture) {
  add_ncu();
  const test::CommandResult result =
      run("fathom record -q --ncu --out run.capture -- $P/fathom_fake_gpu 30 1 && cat kernel-id");
  EXPECT_EQ(result.output, "done\ndone\n::regex:^(_Z6attendPf|gemm_64x64)$:^(2|3)$\n");
  const test::CommandResult report =
      run("fathom analyze run.capture --no-report | grep Counter; fathom analyze run.capture -q"
          " --out report; grep -c 42.5 report/perf_report_csvs/counters.csv;"
          " grep -c device__ report/perf_report_csvs/counters.csv");
  EXPECT_EQ(report.output,
            "Counter run.capture: Nsight Compute, capture; 2 of 2 launches joined with the trace\n"
            "1\n0\n")
      << report.errors;
}

TEST_F(NcuProgram, WithoutCountersTheTraceIsDelivered) {
  const std::string record =
      "fathom record --ncu --out run.capture -- $P/fathom_fake_gpu 30 1 2>&1;"
      " ls run.capture";
  const auto says = [&](const std::string& command, const char* text) {
    const test::CommandResult result = run(command + record);
    EXPECT_NE(result.output.find(text), std::string::npos) << result.output;
    EXPECT_TRUE(result.output.ends_with("\nrun.capture\n")) << result.output;
  };
  if (run("command -v ncu || ls /usr/local/cuda/bin/ncu").exit_code != 0) {
    says("", "no counters: ncu was not found");
    // In time to stop the program, and once.
    const std::string output = run(record).output;
    EXPECT_LT(output.find("ncu was not found"), output.find("done\n")) << output;
    EXPECT_EQ(output.find("ncu was not found"), output.rfind("ncu was not found")) << output;
  }
  add_ncu();
  says("export FAKE_NCU=refused; ", "NVreg_RestrictProfilingToAdminUsers=0");
  says("export FAKE_NCU=nothing; ", "no counters: ncu profiled no kernel");
  says("export FAKE_NCU=broken; ", "ncu: The application returned an error code (1).");
}

}  // namespace
}  // namespace fathom
