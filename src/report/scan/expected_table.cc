#include "report/scan/expected_table.h"

#include <fmt/format.h>

#include "report/scan/kernel_behaviour.h"

namespace fathom {
namespace {

constexpr const char* kUnknown = "unknown";

std::string launch_text(const Expectation& expected) {
  if (!expected.launch || (!expected.launch->blocks && !expected.launch->threads)) return kUnknown;
  const auto count = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.0f}", *value) : std::string("?");
  };
  return fmt::format("{} × {}", count(expected.launch->blocks), count(expected.launch->threads));
}

// What is read and what is written, where both are known.
std::string bytes_text(const Expectation& expected) {
  Estimate all{"bytes", "B", "", 0, 0};
  size_t parts = 0;
  for (const Estimate& estimate : expected.traffic) {
    if (estimate.quantity != Quantity::kBytesRead && estimate.quantity != Quantity::kBytesWritten)
      continue;
    if (!estimate.low) return kUnknown;
    *all.low += *estimate.low;
    if (!estimate.high) all.high.reset();
    if (all.high) *all.high += *estimate.high;
    ++parts;
  }
  return parts == 2 ? estimate_range(all) : kUnknown;
}

std::string time_text(const Expectation& expected) {
  for (const Estimate& estimate : expected.counters) {
    if (estimate.quantity == Quantity::kTime) return estimate_range(estimate);
  }
  return kUnknown;
}

}  // namespace

std::vector<ExpectedRow> expected_rows(const CodeFacts& facts, const Stories& stories) {
  std::vector<ExpectedRow> rows;
  for (uint32_t i = 0; i < facts.kernels.size(); ++i) {
    const KernelStory& told = stories.kernels[i];
    if (facts.kernels[i].dead || told.story.detail == StoryDetail::kNotTold) continue;
    const Expectation& expected = told.expected;
    ExpectedRow row{i, launch_text(expected), bytes_text(expected), time_text(expected),
                    expected.side == Bottleneck::kUnknown
                        ? kUnknown
                        : std::string(bottleneck_name(expected.side))};
    row.known = row.bytes != kUnknown || row.time != kUnknown;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace fathom
