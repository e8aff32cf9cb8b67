#include "session/hardware_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "ingest/capture/chunk_reader.h"
#include "ingest/capture/samples.h"
#include "sheets/kernel_clocks.h"
#include "sheets/stall_sheets.h"

namespace fathom {
namespace {

constexpr size_t kStalledKernels = 5, kStalledPlaces = 3, kStallReasons = 2;
constexpr double kLeastReasonPercent = 1;

double percent_of(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Result<std::optional<StallSamples>> open_capture_samples(const Trace& trace) {
  if (!is_readable_capture(trace)) return std::optional<StallSamples>();
  const std::unique_ptr<ByteSource> source = TRY(open_again(trace));
  return capture::read_samples(*source, trace.path);
}

std::string stall_reasons_text(const StalledPlace& place) {
  std::string reasons;
  for (size_t r = 0; r < std::min(place.reasons.size(), kStallReasons); ++r) {
    const double share = percent_of(place.reasons[r].samples, place.stalled);
    if (r > 0 && share < kLeastReasonPercent) break;
    if (r > 0) reasons += ", ";
    reasons += fmt::format("{} {:.0f} %", place.reasons[r].name, share);
  }
  return reasons;
}

Summary::Stalls summarize_stalls(const SheetInput& input, const StallSamples& samples) {
  Summary::Stalls summary;
  summary.period_cycles = samples.period_cycles;
  summary.dropped = static_cast<int64_t>(samples.dropped);
  const std::vector<StalledKernel> kernels = stalled_kernels(input, samples);
  for (const StalledKernel& kernel : kernels) {
    summary.samples += static_cast<int64_t>(kernel.samples);
    for (const StalledPlace& place : kernel.places)
      if (place.file) summary.samples_with_line += static_cast<int64_t>(place.samples);
  }
  for (size_t i = 0; i < std::min(kernels.size(), kStalledKernels); ++i) {
    const StalledKernel& kernel = kernels[i];
    for (size_t k = 0; k < std::min(kernel.places.size(), kStalledPlaces); ++k) {
      const StalledPlace& place = kernel.places[k];
      if (place.stalled == 0) break;
      summary.places.push_back({std::string(kernel.name), place.text(), stall_reasons_text(place),
                                percent_of(place.stalled, kernel.samples)});
    }
  }
  return summary;
}

std::optional<Summary::Clocks> summarize_clocks(const SheetInput& input) {
  const std::optional<KernelClocks> clocks = measure_clocks(input);
  if (!clocks || clocks->all.known_share() <= 0) return std::nullopt;
  const ClockMeans& all = clocks->all;
  Summary::Clocks summary;
  summary.known_percent = 100 * all.known_share();
  summary.sm_clock_mhz = all.mean(0);
  summary.power_watts = all.mean(2);
  summary.temperature = all.mean(3);
  const auto percent = [&all](double time) -> std::optional<double> {
    const std::optional<double> share = all.share(time);
    return share ? std::optional(100 * *share) : std::nullopt;
  };
  summary.power_cap_percent = percent(all.power_capped);
  summary.thermal_percent = percent(all.too_hot);
  summary.slowed_percent = percent(all.slowed);
  return summary;
}

}  // namespace fathom
