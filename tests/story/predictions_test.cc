// What fathom scan expects of our own kernels, against what a GPU measured of them.
#include <map>

#include "base/tsv.h"
#include "checks.h"
#include "scan/scan_repository.h"
#include "story/expectation.h"
#include "test_files.h"

namespace fathom {
namespace {

struct Row {
  std::string repository, parameters, kernel, bound_by;
  double measured = 0;  // seconds
};

std::vector<Row> measured_rows() {
  const std::string text = test::read_file(test::source_dir() / "tests/story/measured.tsv");
  std::vector<Row> out;
  for (const auto& row : read_tsv(text, 6)) {
    out.push_back({std::string(row[0]), std::string(row[1]), std::string(row[2]),
                   std::string(row[4]), std::stod(std::string(row[3])) * 1e-6});
  }
  return out;
}

const CodeFacts& scanned(const std::string& folder) {
  static std::map<std::string, CodeFacts> known;
  const auto found = known.find(folder);
  if (found != known.end()) return found->second;
  Result<CodeFacts> facts = scan_repository(test::source_dir() / folder, {});
  EXPECT_TRUE(facts.ok());
  return known.emplace(folder, facts.take()).first->second;
}

// How wide a range may be, by what bounds the kernel. A wider one would be no prediction; where
// latency bounds, the time is known to a fixed cost only.
double widest(const std::string& bound_by) {
  if (bound_by == "latency") return 13;  // rounds that hit L2, to rounds that miss all caches
  return bound_by == "shared memory" ? 4 : 2;
}

TEST(Predictions, MostTimesAreInTheRangeAndNoneIsFarOutside) {
  const Platform& h200 = *Platforms::built_in().find("h200").value();
  const std::vector<Row> rows = measured_rows();
  ASSERT_GT(rows.size(), 20u);
  size_t inside = 0;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.repository + " " + row.kernel + " " + row.parameters);
    std::vector<std::string> given;
    for (const std::string_view one : split(row.parameters, ' ')) given.emplace_back(one);
    const Result<Parameters> parameters = Parameters::parse(given);
    ASSERT_TRUE(parameters.ok());
    const CodeFacts& facts = scanned(row.repository);
    const KernelFacts* kernel = nullptr;
    for (const KernelFacts& one : facts.kernels) {
      if (one.name == row.kernel) kernel = &one;
    }
    ASSERT_NE(kernel, nullptr);
    const Expectation expected = expect_of(*kernel, parameters.value(), &h200);
    const Estimate* time = nullptr;
    for (const Estimate& one : expected.counters) {
      if (one.name == "time") time = &one;
    }
    ASSERT_NE(time, nullptr);
    EXPECT_EQ(bottleneck_name(expected.side), row.bound_by);
    EXPECT_LE(*time->high, widest(row.bound_by) * *time->low);
    constexpr double kOutside = 1.7;
    EXPECT_LE(row.measured, kOutside * *time->high) << *time->low << " to " << *time->high;
    EXPECT_GE(row.measured, *time->low / kOutside) << *time->low << " to " << *time->high;
    inside += row.measured >= *time->low && row.measured <= *time->high;
  }
  EXPECT_GE(3 * inside, 2 * rows.size()) << inside << " of " << rows.size();
}

}  // namespace
}  // namespace fathom
