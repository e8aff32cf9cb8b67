#include "measure/other_gpu.h"

#include <fmt/format.h>

#include <optional>

#include "base/ascii.h"
#include "platform/platform.h"

namespace fathom {
namespace {

std::string model_name(std::string_view name) {
  std::string model = small_letters(name);
  for (const std::string_view maker : {"nvidia ", "amd ", "instinct ", "geforce "}) {
    if (const size_t at = model.find(maker); at != std::string::npos) model.erase(at, maker.size());
  }
  return model;
}

// "H100" and "H100 80GB HBM3" are one model, "RTX 4080" and "RTX 4080 SUPER" two.
bool is_longer_form(std::string_view longer, std::string_view shorter) {
  if (shorter.empty() || !longer.starts_with(shorter)) return false;
  const std::string_view rest = longer.substr(shorter.size());
  for (const std::string_view other : {"super", " ti", "laptop", "max-q", "pcie", "nvl", "mig"}) {
    if (rest.find(other) != std::string_view::npos) return false;
  }
  // Behind a number another digit or letter makes another one.
  return rest.empty() || std::string_view(" _-(").find(rest.front()) != std::string_view::npos;
}

bool is_same_gpu(const GpuProperties& gpu, std::string_view name) {
  const std::string a = model_name(gpu.name), b = model_name(name);
  if (is_longer_form(a, b) || is_longer_form(b, a)) return true;
  const Platform* const first =
      Platforms::built_in().detect({gpu.name, gpu.memory_bytes, gpu.multiprocessors});
  return first != nullptr && first == Platforms::built_in().detect({name, {}, {}});
}

enum class Vendor : uint8_t { kUnknown, kNvidia, kAmd };

Vendor vendor_of(std::string_view names) {
  const std::string small = small_letters(names);
  const auto has = [&small](std::string_view word) {
    return small.find(word) != std::string::npos;
  };
  if (has("amd") || has("radeon") || has("instinct") || has("gfx")) return Vendor::kAmd;
  if (has("nvidia") || has("tesla") || has("geforce") || has("rtx")) return Vendor::kNvidia;
  return Vendor::kUnknown;
}

}  // namespace

std::string other_gpu(const TraceMetadata& trace, const CounterOrigin& counters) {
  bool has_names = false, has_capability = false, fits_capability = false;
  std::string names;
  std::optional<int64_t> other_size;
  for (const GpuProperties& gpu : trace.gpus) {
    // A slice of a GPU, or a smaller one of the same name.
    const bool has_size = !gpu.multiprocessors || !counters.multiprocessors ||
                          *gpu.multiprocessors == *counters.multiprocessors;
    if (!gpu.name.empty()) {
      has_names = true;
      if (!counters.gpu.empty() && is_same_gpu(gpu, counters.gpu)) {
        if (has_size) return {};
        other_size = gpu.multiprocessors;
      }
      if (names.find(gpu.name) == std::string::npos)
        names += (names.empty() ? "" : ", ") + gpu.name;
    }
    if (!gpu.compute_major || !gpu.compute_minor) continue;
    has_capability = true;
    fits_capability =
        fits_capability ||
        counters.capability == fmt::format("{}.{}", *gpu.compute_major, *gpu.compute_minor);
  }
  if (other_size) {
    return fmt::format("its counters are of {} with {} multiprocessors, the trace's has {}",
                       counters.gpu, *counters.multiprocessors, *other_size);
  }
  if (has_names && !counters.gpu.empty())
    return fmt::format("its counters are of {}, the trace is of {}", counters.gpu, names);
  if (counters.capability.empty()) return {};
  const Vendor vendor = counters.capability.starts_with("gfx") ? Vendor::kAmd : Vendor::kNvidia;
  const Vendor of_trace = vendor_of(names);
  if (of_trace != Vendor::kUnknown && of_trace != vendor)
    return fmt::format("its counters are of {}, the trace is of {}", counters.capability, names);
  // What a trace calls capability of an AMD GPU is not its gfx name.
  if (vendor == Vendor::kNvidia && has_capability && !fits_capability) {
    return fmt::format("its counters are of a GPU of compute capability {}, the trace is of {}",
                       counters.capability, names.empty() ? "another" : names);
  }
  return {};
}

}  // namespace fathom
