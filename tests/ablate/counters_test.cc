// What is read of a variant's capture; the captures are of the ladders on an H200.
#include "checks.h"
#include "plan/ablate/study.h"
#include "plan/ablate/study_report.h"
#include "session/code/ablate_counters.h"
#include "test_files.h"

namespace fathom::ablate {
namespace {

Counted ladder(const std::string& name, const std::string& kernel = "") {
  Suite suite;
  suite.counters.kernel = kernel;
  return read_counted(test::source_dir() / "examples/captures/ladders" / name, suite);
}

TEST(AblateCounters, OfTheKernelWithTheMostTimeThatFits) {
  const Counted v3 = ladder("attention-v3.capture", "_kernel");
  ASSERT_TRUE(v3.ok) << v3.reason;
  EXPECT_NE(v3.kernel.find("no_conflicts_kernel"), std::string::npos) << v3.kernel;
  EXPECT_EQ(v3.gpu, "NVIDIA H200");
  EXPECT_GT(v3.kernel_seconds, 1e-5);
  EXPECT_GT(v3.values.at("occupancy"), 5);
  EXPECT_TRUE(v3.values.contains("bank_conflicts"));
  const Counted none = ladder("attention-v3.capture", "no_such_kernel");
  EXPECT_TRUE(none.done);
  EXPECT_FALSE(none.ok);
  EXPECT_EQ(none.reason, "no kernel fits 'no_such_kernel'");
}

TEST(AblateCounters, DamagedAndMissingCapturesAreReasons) {
  const test::TemporaryDirectory place;
  EXPECT_FALSE(read_counted(place.path() / "none.capture", {}).ok);
  test::write_file(place.path() / "bad.capture", std::string(1000, 'x'));
  const Counted bad = read_counted(place.path() / "bad.capture", {});
  EXPECT_TRUE(bad.done);
  EXPECT_FALSE(bad.ok);
  EXPECT_FALSE(bad.reason.empty());
}

// v4 of the ladder uses tensor cores, v3 removes bank conflicts: both are confirmed at v2.
TEST(AblateCounters, NextNamesWhatTheLadderDidAfterV2) {
  Result<Suite> suite = parse_suite(
      "title = \"x\"\n[run]\ncommand = [\"a\"]\n[[variant]]\nname = \"v2\"\n", "s.toml");
  ASSERT_TRUE(suite.ok());
  Measurements measurements;
  VariantMeasurements& m = measurements.variants["v2"];
  m.build.done = m.build.ok = true;
  m.cases.resize(1);
  m.counters = ladder("attention-v2.capture", "_kernel");
  for (int i = 0; i < 6; ++i) m.cases[0].samples.push_back({1e-3, {}, 0, i, {}, {}});
  const Study study = make_study(suite.value(), measurements, nullptr);
  ASSERT_GE(study.next.size(), 2u) << next_text(study);
  EXPECT_EQ(study.next[0].tested.hypothesis->id, "tensor_idle") << next_text(study);
  EXPECT_EQ(study.next[1].tested.hypothesis->id, "bank_conflicts") << next_text(study);
}

}  // namespace
}  // namespace fathom::ablate
