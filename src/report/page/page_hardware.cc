#include "report/page/page_hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json_writer.h"
#include "report/page/page_tables.h"
#include "sheets/stall_sheets.h"

namespace fathom {
namespace {

constexpr size_t kMostKernels = 200, kMostSampled = 40, kMostPlaces = 10, kMostReasons = 24;

std::string dims_text(const std::optional<Dim3>& dims) {
  return dims ? fmt::format("{}×{}×{}", dims->x, dims->y, dims->z) : std::string();
}

void write_kernel(JsonWriter& json, const KernelContext& kernel) {
  json.begin_object().key("name").value(page_text(kernel.name));
  json.key("grid").value(dims_text(kernel.launch.grid));
  json.key("block").value(dims_text(kernel.launch.block));
  json.key("count").value(kernel.count);
  json.key("time_ms").raw(exact_decimal(kernel.time.count, 6));
  json.key("file").value(page_text(kernel.file)).key("join").value(quality_text(kernel.quality));
  json.key("trusted").value(kernel.is_trusted);
  if (!kernel.source.empty()) json.key("source").value(page_text(kernel.source));
  for (const char* name : {"intensity", "flop_rate", "dram_rate", "dram_throughput",
                           "sm_throughput", "tensor", "occupancy"}) {
    const std::optional<double> value = kernel.value(name);
    if (value && std::isfinite(*value)) json.key(name).value(*value);
  }
  json.key("stalls").begin_array();
  for (size_t i = 0; i < std::min(kernel.stalls.size(), kMostReasons); ++i) {
    const auto& [reason, percent] = kernel.stalls[i];
    if (!std::isfinite(percent) || percent <= 0) continue;
    json.begin_array().value(page_text(reason, 80)).value(percent).end_array();
  }
  json.end_array().end_object();
}

void write_reasons(JsonWriter& json, std::string_view key,
                   std::vector<std::pair<std::string_view, uint64_t>> reasons) {
  std::ranges::sort(reasons, [](const auto& x, const auto& y) {
    return std::tie(y.second, x.first) < std::tie(x.second, y.first);
  });
  if (reasons.size() > kMostReasons) reasons.resize(kMostReasons);
  json.key(key).begin_array();
  for (const auto& [reason, samples] : reasons) {
    json.begin_array().value(page_text(reason, 80));
    json.value(static_cast<int64_t>(samples)).end_array();
  }
  json.end_array();
}

void write_sampled(JsonWriter& json, const StalledKernel& kernel) {
  json.begin_object().key("name").value(page_text(kernel.name));
  json.key("time_ms").raw(exact_decimal(kernel.time.count, 6));
  json.key("samples").value(static_cast<int64_t>(kernel.samples));
  json.key("stalled").value(static_cast<int64_t>(kernel.stalled));
  std::map<std::string_view, uint64_t> sums;
  for (const StalledPlace& place : kernel.places)
    for (const StalledPlace::Reason& reason : place.reasons) sums[reason.name] += reason.samples;
  write_reasons(json, "reasons", {sums.begin(), sums.end()});
  json.key("places").begin_array();
  for (size_t i = 0; i < std::min(kernel.places.size(), kMostPlaces); ++i) {
    const StalledPlace& place = kernel.places[i];
    json.begin_object().key("place").value(page_text(place.text()));
    json.key("samples").value(static_cast<int64_t>(place.samples));
    std::vector<std::pair<std::string_view, uint64_t>> reasons;
    for (const StalledPlace::Reason& reason : place.reasons)
      reasons.emplace_back(reason.name, reason.samples);
    write_reasons(json, "reasons", std::move(reasons));
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::string page_hardware(const SheetInput& input, const std::vector<KernelContext>& kernels) {
  std::vector<StalledKernel> sampled;
  if (const StallSamples* samples = input.kernels.samples())
    sampled = stalled_kernels(input, *samples);
  JsonWriter json(false);
  json.begin_object().key("kernels").begin_array();
  size_t counted = 0;
  for (const KernelContext& kernel : kernels) {
    if (kernel.file.empty() || ++counted > kMostKernels) continue;
    write_kernel(json, kernel);
  }
  json.end_array().key("sampled").begin_array();
  for (size_t i = 0; i < std::min(sampled.size(), kMostSampled); ++i)
    write_sampled(json, sampled[i]);
  json.end_array().end_object();
  return counted == 0 && sampled.empty() ? std::string() : json.take();
}

}  // namespace fathom
