#include "app/record_sampling.h"

#include <charconv>

#include "app/record_extras.h"

namespace fathom {
namespace {

// "20us", "1ms" in nanoseconds.
std::optional<int64_t> interval_ns(const std::string& text) {
  constexpr int64_t kUsual = 200'000, kLeast = 2'000, kMost = 1'000'000'000;
  if (text == kNoValue) return kUsual;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (error != std::errc() || number <= 0 || number > kMost) return std::nullopt;
  const int64_t ns = unit == "us" ? number * 1'000 : unit == "ms" ? number * 1'000'000 : 0;
  return ns >= kLeast && ns <= kMost ? std::optional(ns) : std::nullopt;
}

// "65536" → 16; 0: the default. Nothing for what the hardware has not.
std::optional<uint32_t> cycles_exponent(const std::string& cycles) {
  if (cycles == kNoValue) return 0;
  for (uint32_t exponent = 5; exponent <= 31; ++exponent) {
    if (cycles == std::to_string(uint64_t{1} << exponent)) return exponent;
  }
  return std::nullopt;
}

}  // namespace

void add_sampling_options(CLI::App& command, SamplingOptions& options) {
  command
      .add_flag("--pm-sampling", options.pm,
                "Ask the GPU every 200us, or as often as given, how busy its SMs, tensor cores, "
                "DRAM, PCIe and NVLink are. No kernel waits or runs again")
      ->check([](const std::string& text) {
        return interval_ns(text) ? std::string()
                                 : "expected a time from 2us to 1000ms, such as 500us";
      })
      ->option_text("[=TIME]");
  command
      .add_flag("--pc-sampling", options.pc,
                "Sample which instructions warps are at and why they wait, every so many cycles, "
                "a power of two (default: 65536). Source lines need -lineinfo")
      ->check([](const std::string& cycles) {
        return cycles_exponent(cycles) ? std::string()
                                       : "expected a power of two from 32 to 2147483648";
      })
      ->option_text("[=CYCLES]");
  command.add_flag(
      "--no-clocks", options.no_clocks,
      "Do not record clocks, power and temperature of the GPUs (by NVML, every 100 ms)");
}

std::optional<std::string> sampling_mistake(const SamplingOptions& options, bool is_part_of_run) {
  // Seen with CUDA 13.0: to end sampling while a kernel is launched can block both for ever.
  if (is_part_of_run && options.pc)
    return "--pc-sampling samples the whole run; it cannot be used with --trigger or --window";
  if (options.pm && options.pc)
    return "--pm-sampling and --pc-sampling use the same hardware; record them in two runs";
  return std::nullopt;
}

void put_sampling(const SamplingOptions& options, RecordRequest& request) {
  if (options.pm) request.sampling_ns = interval_ns(*options.pm);
  if (options.pc) request.pc_sampling = cycles_exponent(*options.pc);
  request.clocks = !options.no_clocks;
}

}  // namespace fathom
