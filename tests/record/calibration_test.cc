#include <filesystem>

#include "checks.h"
#include "record/program_without_gpu.h"
#include "report/calibration_text.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

std::vector<Nanos> milliseconds(std::vector<int64_t> times) {
  std::vector<Nanos> out;
  for (const int64_t time : times) out.push_back(Nanos{time * 1'000'000});
  return out;
}

TEST(CalibrationText, AddedTimeIsTheMedianOfThePairs) {
  Calibration calibration;
  calibration.plain = milliseconds({1000, 1010, 1002, 1004, 1006});
  calibration.recorded = milliseconds({1050, 1051, 1052, 1099, 1055});
  calibration.launches = {20'000, 20'000, 20'000, 20'000, 20'000};
  const CalibrationSummary summary = summarize_calibration(calibration);
  EXPECT_EQ(summary.added.count, 50'000'000);
  EXPECT_NEAR(*summary.us_per_launch(), 2.5, 1e-9);
  EXPECT_FALSE(summary.is_inside_noise);
  EXPECT_EQ(calibration_text(calibration, "./a b"),
            "fathom: 5 pairs of runs of ./a b\n"
            "        plain       1.004 s   (1.000 s to 1.010 s)\n"
            "        recorded    1.052 s   (1.050 s to 1.099 s)\n"
            "        added       50.0 ms   4.98 %, 2.50 µs per launch, 20,000 launches\n"
            "        It includes the start of CUPTI, once for each process with GPU work.\n");
}

TEST(CalibrationText, ADifferenceInsideTheNoiseIsSaid) {
  Calibration calibration;
  calibration.plain = milliseconds({100, 140, 110});
  calibration.recorded = milliseconds({112, 141, 120});
  const CalibrationSummary summary = summarize_calibration(calibration);
  EXPECT_EQ(summary.added.count, 10'000'000);
  EXPECT_TRUE(summary.is_inside_noise);
  EXPECT_FALSE(summary.us_per_launch().has_value());
  EXPECT_NE(
      calibration_text(calibration, "a").find("inside the noise: plain runs vary by ± 20.0 ms"),
      std::string::npos);
  calibration.recorded = milliseconds({90, 130, 100});  // faster is noise too
  EXPECT_TRUE(summarize_calibration(calibration).is_inside_noise);
}

class CalibratedProgram : public ProgramWithoutGpu {};

TEST_F(CalibratedProgram, RunsInPairsAndKeepsNothing) {
  const test::CommandResult result =
      run("fathom record --calibrate=2 --json -- $P/fathom_fake_gpu 20 1; echo $?; ls");
  EXPECT_NE(result.output.find("\"pairs\": 2,"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("\"launches\": 20,"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("\"added_us_per_launch\""), std::string::npos);
  EXPECT_EQ(result.output.find("done"), std::string::npos);  // the program's own output
  EXPECT_TRUE(result.output.ends_with("}\n0\ncuda\n")) << result.output;
}

TEST_F(CalibratedProgram, AProgramThatFailsIsNotMeasured) {
  const test::CommandResult result = run("fathom record --calibrate -- sh -c 'exit 7' 2>&1");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.output, "fathom: the program exited with code 7; not calibrated\n");
  EXPECT_EQ(run("fathom record --calibrate -- ./nothing 2>/dev/null").exit_code, 127);
}

}  // namespace
}  // namespace fathom
