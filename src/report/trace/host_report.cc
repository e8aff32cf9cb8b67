#include "report/trace/host_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/count_text.h"
#include "base/utf8.h"
#include "report/markdown.h"

namespace fathom {
namespace {

constexpr size_t kShownOnScreen = 10, kShownInReport = 50;
constexpr size_t kRangeNumbers = 9 + 11 + 11 + 11 + 9;

std::string short_number(double value) { return fmt::format("{:.4g}", value); }

std::string more_text(size_t all, size_t shown, std::string_view what) {
  return all <= shown ? std::string() : fmt::format("{} more {}", all - shown, what);
}

}  // namespace

std::string spark_line(const Summary::HostCounter& counter) {
  static constexpr const char* kHeights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double least = 0, most = 0;
  bool any = false;
  for (const std::optional<double>& mean : counter.means) {
    if (!mean) continue;
    least = any ? std::min(least, *mean) : *mean;
    most = any ? std::max(most, *mean) : *mean;
    any = true;
  }
  std::string line;
  for (const std::optional<double>& mean : counter.means) {
    // Halves, so that the largest numbers have a difference.
    const double span = most / 2 - least / 2;
    const double height = mean && span > 0 ? (*mean / 2 - least / 2) / span * 8 : 0;
    line += mean ? kHeights[static_cast<size_t>(std::clamp(height, 0.0, 7.0))] : " ";
  }
  return line;
}

void show_host(Screen& screen, const Summary::Host& host, size_t width) {
  const size_t name_width = std::clamp<size_t>(width - std::min(width, kRangeNumbers + 2), 20, 50);
  if (!host.ranges.empty()) {
    const auto row = [&](std::string_view name, std::string_view count, std::string_view total,
                         std::string_view median, std::string_view most, std::string_view share) {
      return fmt::format("{} {:>8} {:>10} {:>10} {:>10} {:>8}", fit_left(name, name_width), count,
                         total, median, most, share);
    };
    screen.line(
        screen.bold(row("Top ranges", "count", "total ms", "median ms", "max ms", "share")));
    const size_t shown = std::min(host.ranges.size(), kShownOnScreen);
    for (size_t i = 0; i < shown; ++i) {
      const Summary::HostRange& range = host.ranges[i];
      screen.line(row(
          "  " + screen_safe(range.name), with_thousands(range.count),
          fmt::format("{:.2f}", range.total_millis), fmt::format("{:.3f}", range.median_millis),
          fmt::format("{:.3f}", range.max_millis), fmt::format("{:.1f} %", range.share_percent)));
    }
    if (const std::string more = more_text(host.ranges.size(), shown, "(host_ranges.csv)");
        !more.empty())
      screen.line(screen.dim("  " + more));
  }
  if (host.counters.empty()) return;
  screen.line(
      screen.bold(fmt::format("{} {:>8} {:>10} {:>10} {:>10}  over time",
                              fit_left("Counters", name_width), "values", "min", "mean", "max")));
  const size_t shown = std::min(host.counters.size(), kShownOnScreen);
  for (size_t i = 0; i < shown; ++i) {
    const Summary::HostCounter& c = host.counters[i];
    screen.line(fmt::format("{} {:>8} {:>10} {:>10} {:>10}  {}",
                            fit_left("  " + screen_safe(c.name), name_width),
                            with_thousands(c.count), short_number(c.min), short_number(c.mean),
                            short_number(c.max), spark_line(c)));
  }
  if (const std::string more = more_text(host.counters.size() + static_cast<size_t>(host.left_out),
                                         shown, "(counters_over_time.csv)");
      !more.empty())
    screen.line(screen.dim("  " + more));
}

std::string md_host(const Summary::Host& host) {
  std::string text;
  if (!host.ranges.empty()) {
    text +=
        "## Ranges\n\n| range | count | total | median | max | % of the recording |\n"
        "| :-- | --: | --: | --: | --: | --: |\n";
    const size_t shown = std::min(host.ranges.size(), kShownInReport);
    for (size_t i = 0; i < shown; ++i) {
      const Summary::HostRange& range = host.ranges[i];
      text += fmt::format("| {} | {} | {:.3f} ms | {:.3f} ms | {:.3f} ms | {:.1f} % |\n",
                          md_code_cell(cut_to_bytes(range.name, 80)), with_thousands(range.count),
                          range.total_millis, range.median_millis, range.max_millis,
                          range.share_percent);
    }
    if (const std::string more = more_text(host.ranges.size(), shown, "ranges"); !more.empty())
      text += fmt::format("\n{}: see perf_report_csvs/host_ranges.csv.\n", more);
    text += "\nNested ranges count in each range around them.\n\n";
  }
  if (host.counters.empty()) return text;
  text +=
      "## Counters over time\n\n| counter | values | first | last | min | mean | max | over time "
      "|\n| :-- | --: | --: | --: | --: | --: | --: | :-- |\n";
  const size_t shown = std::min(host.counters.size(), kShownInReport);
  for (size_t i = 0; i < shown; ++i) {
    const Summary::HostCounter& c = host.counters[i];
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n",
                        md_code_cell(cut_to_bytes(c.name, 80)), with_thousands(c.count),
                        short_number(c.first), short_number(c.last), short_number(c.min),
                        short_number(c.mean), short_number(c.max), spark_line(c));
  }
  if (const std::string more =
          more_text(host.counters.size() + static_cast<size_t>(host.left_out), shown, "counters");
      !more.empty())
    text += fmt::format("\n{}: see perf_report_csvs/counter_values.csv.\n", more);
  return text + "\nValues in equal parts of the time: perf_report_csvs/counters_over_time.csv.\n\n";
}

}  // namespace fathom
