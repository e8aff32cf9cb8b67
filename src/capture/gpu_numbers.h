#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Numbers over time that the recorder takes of each GPU in use (NVML): "GPU 0 SM clock (MHz)". A
// name is made and read here only.
namespace fathom::capture {

enum class GpuNumber { kSmClock, kMemoryClock, kPower, kTemperature, kClockReasons };

constexpr std::string_view kGpuNumberNames[] = {"SM clock (MHz)", "memory clock (MHz)", "power (W)",
                                                "temperature (°C)", "clock event reasons (bits)"};

// Bits of clock event reasons; NVML_CLOCKS_EVENT_REASON_*.
constexpr uint64_t kGpuIdle = 0x1, kApplicationClocks = 0x2, kSwPowerCap = 0x4, kHwSlowdown = 0x8,
                   kSyncBoost = 0x10, kSwThermal = 0x20, kHwThermal = 0x40, kHwPowerBrake = 0x80,
                   kDisplayClocks = 0x100;

inline std::string gpu_number_name(uint32_t gpu, GpuNumber number) {
  return "GPU " + std::to_string(gpu) + " " +
         std::string(kGpuNumberNames[static_cast<size_t>(number)]);
}

struct GpuNumberOf {
  uint32_t gpu;
  GpuNumber number;
};

inline std::optional<GpuNumberOf> gpu_number_of(std::string_view name) {
  constexpr std::string_view kGpu = "GPU ";
  if (!name.starts_with(kGpu)) return std::nullopt;
  name.remove_prefix(kGpu.size());
  uint32_t gpu = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), gpu);
  if (error != std::errc()) return std::nullopt;
  name.remove_prefix(static_cast<size_t>(end - name.data()));
  if (!name.starts_with(' ')) return std::nullopt;
  name.remove_prefix(1);
  for (size_t i = 0; i < std::size(kGpuNumberNames); ++i) {
    if (name == kGpuNumberNames[i]) return GpuNumberOf{gpu, static_cast<GpuNumber>(i)};
  }
  return std::nullopt;
}

}  // namespace fathom::capture
