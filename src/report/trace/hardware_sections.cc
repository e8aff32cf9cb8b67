#include "report/trace/hardware_sections.h"

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/utf8.h"
#include "report/markdown.h"

namespace fathom {
namespace {

constexpr double kNotablePercent = 5;

bool is_notable(std::optional<double> percent) { return percent && *percent >= kNotablePercent; }

}  // namespace

bool is_throttled(const Summary::Clocks& clocks) { return is_notable(clocks.slowed_percent); }

std::string clocks_text(const Summary::Clocks& clocks) {
  std::string text;
  const auto add = [&text](std::string_view separator, const std::string& part) {
    if (!text.empty()) text += separator;
    text += part;
  };
  if (clocks.sm_clock_mhz) add(", ", fmt::format("SM clock {:.0f} MHz", *clocks.sm_clock_mhz));
  if (clocks.power_watts) add(", ", fmt::format("{:.0f} W", *clocks.power_watts));
  if (clocks.temperature) add(", ", fmt::format("{:.0f} °C", *clocks.temperature));
  if (!text.empty()) text += " on average while kernels ran";
  if (is_notable(clocks.power_cap_percent))
    add("; ", fmt::format("power cap in {:.1f} % of kernel time", *clocks.power_cap_percent));
  if (is_notable(clocks.thermal_percent))
    add("; ", fmt::format("thermal slowdown in {:.1f} % of kernel time", *clocks.thermal_percent));
  if (is_throttled(clocks) && !is_notable(clocks.power_cap_percent) &&
      !is_notable(clocks.thermal_percent)) {
    add("; ", fmt::format("clocks reduced in {:.1f} % of kernel time", *clocks.slowed_percent));
  }
  return text;
}

std::string stalls_text(const Summary::Stalls& stalls) {
  std::string text = counted(static_cast<uint64_t>(stalls.samples), "sample");
  if (stalls.period_cycles) {
    text += fmt::format(", one every {} cycles of each SM",
                        with_thousands(static_cast<int64_t>(*stalls.period_cycles)));
  }
  const double lines = stalls.samples == 0 ? 0
                                           : 100 * static_cast<double>(stalls.samples_with_line) /
                                                 static_cast<double>(stalls.samples);
  text += fmt::format(", {:.1f} % with a source line", lines);
  if (stalls.dropped > 0)
    text += fmt::format("; the hardware dropped {}", with_thousands(stalls.dropped));
  return text;
}

std::string md_stalls(const Summary::Stalls& stalls) {
  std::string text = fmt::format(
      "## Where kernels stall\n\nPC samples of the whole recording: {}.\n", stalls_text(stalls));
  if (stalls.samples_with_line < stalls.samples)
    text += "Compile with `-lineinfo` to see source lines instead of PC offsets.\n";
  if (stalls.places.empty()) return text + "\nNo stalled sample.\n\n";
  text +=
      "\n| kernel | place | stalled samples, of the kernel's | reasons |\n| :-- | :-- | --: | :-- "
      "|\n";
  for (const Summary::Stalls::Place& place : stalls.places) {
    text +=
        fmt::format("| {} | {} | {:.1f} % | {} |\n", md_code_cell(cut_to_bytes(place.kernel, 80)),
                    md_code_cell(place.place), place.percent, md_cell(place.reasons));
  }
  return text + "\nAll instructions: perf_report_csvs/stall_samples.csv.\n\n";
}

}  // namespace fathom
