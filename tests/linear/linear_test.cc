// The law of cost: twice the input takes at most twice the work, whatever it holds (about.md).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "checks.h"
#include "linear_cases.h"
#include "test_files.h"

namespace fathom::test {

namespace fs = std::filesystem;

std::string repeated(std::string_view text, size_t n) {
  std::string all;
  all.reserve(text.size() * n);
  for (size_t i = 0; i < n; ++i) all += text;
  return all;
}

namespace {

struct Work {
  double steps = 0;   // functions entered, labels passed
  double moved = 0;   // bytes copied, compared, searched
  double memory = 0;  // bytes held at once
  double report = 0;  // bytes written
};

double size_below(const fs::path& directory) {
  double size = 0;
  if (!fs::exists(directory)) return size;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) size += static_cast<double>(entry.file_size());
  }
  return size;
}

Work measure(const LinearCase& c, size_t n) {
  const TemporaryDirectory place;
  c.make(place.path(), n);
  const fs::path counts = place.path() / "work.counts";
  const CommandResult result =
      run_command(fmt::format("FATHOM_WORK_FILE='{}' '{}' {}", counts.string(),
                              test::counted_binary(), c.arguments),
                  place.path());
  EXPECT_EQ(result.exit_code, c.exit_code) << result.errors;
  Work work;
  std::istringstream(read_file(counts)) >> work.steps >> work.moved >> work.memory;
  EXPECT_GT(work.steps, 0) << "nothing was counted";
  work.report = size_below(place.path() / "out");
  return work;
}

// n log n, and tables that double at an unlucky size.
constexpr double kAtMost = 2.4;

std::string sizes(const char* what, double half, double whole, double twice) {
  return fmt::format("{} at n/2, n, 2n: {:.0f}, {:.0f}, {:.0f}", what, half, whole, twice);
}

// What the second half of the input added, against what its first half did: 2 where cost is linear
// and 4 where it is quadratic. What grows by less than a hundredth of the whole is no growth. Where
// a limit makes more input cost less, the most that was spent before counts.
void expect_linear(const char* what, double half, double whole, double twice) {
  const double first = std::max(whole - half, 0.01 * whole);
  const double limit = half > whole ? kAtMost * half : whole + kAtMost * first;
  EXPECT_LE(twice, limit) << sizes(what, half, whole, twice);
}

// The most that was held at once may be what the program holds for any input.
void expect_linear_peak(const char* what, double half, double whole, double twice) {
  EXPECT_LE(twice, kAtMost * whole) << sizes(what, half, whole, twice);
}

class Linear : public testing::TestWithParam<LinearCase> {};

// FATHOM_LINEAR_SCALE=10: ten times the sizes, which shows what is small as yet (about.md).
size_t scale() {
  const char* asked = std::getenv("FATHOM_LINEAR_SCALE");
  return asked != nullptr ? std::max(1ul, std::strtoul(asked, nullptr, 10)) : 1;
}

TEST_P(Linear, TwiceTheInputTwiceTheWork) {
  const LinearCase& c = GetParam();
  const size_t n = c.n * scale();
  const Work half = measure(c, n / 2), whole = measure(c, n), twice = measure(c, n * 2);
  expect_linear("steps", half.steps, whole.steps, twice.steps);
  expect_linear("bytes moved", half.moved, whole.moved, twice.moved);
  expect_linear_peak("bytes held", half.memory, whole.memory, twice.memory);
  expect_linear("bytes of report", half.report, whole.report, twice.report);
}

std::string name_of(const testing::TestParamInfo<LinearCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Trace, Linear, testing::ValuesIn(trace_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Recorder, Linear, testing::ValuesIn(recorder_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Analysis, Linear, testing::ValuesIn(analysis_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Nested, Linear, testing::ValuesIn(nested_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Text, Linear, testing::ValuesIn(text_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Phase, Linear, testing::ValuesIn(phase_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Reader, Linear, testing::ValuesIn(reader_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Counter, Linear, testing::ValuesIn(counter_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Rank, Linear, testing::ValuesIn(rank_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Scan, Linear, testing::ValuesIn(scan_cases()), name_of);

}  // namespace
}  // namespace fathom::test
