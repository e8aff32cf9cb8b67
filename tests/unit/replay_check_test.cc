#include "checks.h"
#include "test_files.h"

namespace fathom {
namespace {

using test::run_command;

// A package whose replay.py prints results as if it had run on a GPU.
constexpr const char* kMakePackages = R"py(
import json, os, zipfile
def package(op, file, cases):
    rows = [{"case": i + 1, "recorded_total_us": c["us"], "recorded_us": c["us"], "same_kernels": True, **c["row"]}
            for i, c in enumerate(cases)]
    metadata = {"cases": [{"kernels": c["kernels"], "kernel_time_us": {"sum": c["us"]}} for c in cases]}
    with zipfile.ZipFile(os.path.join("packed/one", file), "w") as z:
        z.writestr("replay.py", "print(" + repr(json.dumps({"cases": rows})) + ")")
        z.writestr("metadata.json", json.dumps(metadata))
    return {"op": op, "file": file, "gpu_time_us": sum(c["us"] for c in cases)
}
os.makedirs("packed/one")
near, far = {"replayed_us": 1.0, "ratio": 1.1}, {"replayed_us": 1.0, "ratio": 0.7}
packages = [
    package("aten::copy_", "a.zip", [{"us": 3000, "kernels": ["Memcpy HtoD (Pinned -> Device)"], "row": far},
                                     {"us": 1000, "kernels": ["Memcpy DtoH (Device -> Pinned)"], "row": near},
                                     {"us": 500, "kernels": ["Memcpy DtoD (Device -> Device)"], "row": near}]),
    package("aten::mm", "b.zip", [{"us": 2000, "kernels": ["gemm"], "row": near},
                                  {"us": 1000, "kernels": ["gemm"], "row": far},
                                  {"us": 500, "kernels": ["gemm"], "row": {"error": "cannot"}}])]
json.dump({"gpu_time_us": 9000, "packages": packages, "not_packed": []}, open("packed/one/pack.json", "w"))
)py";

TEST(ReplayCheck, HostCopiesAreCountedApart) {
  if (run_command("command -v python3", "/").exit_code != 0) GTEST_SKIP() << "no python3 here";
  const test::TemporaryDirectory directory;
  test::write_file(directory.path() / "make.py", kMakePackages);
  const std::string check = (test::source_dir() / "tools/replay_check").string();
  const test::CommandResult result =
      run_command("python3 make.py && '" + check + "' run packed", directory.path());
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  // 9 ms less 4 of host copies are kernels; 4 of the 5 are packed, 3.5 replayed, 2.5 near.
  constexpr const char* kNumbers = "5.00    80.0%     70.0%        50.0%      62.5%       1";
  EXPECT_NE(result.output.find(kNumbers), std::string::npos) << result.output;
  constexpr const char* kCopies = "4.00        25.0%";
  EXPECT_NE(result.output.find(kCopies), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("(host copy)"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace fathom
