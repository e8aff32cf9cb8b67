#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/chunk_writer.h"
#include "capture/gpu_numbers.h"
#include "record/nvml_api.h"

namespace fathom::record {

// Clocks, power, temperature and why clocks are low, over time, of the GPUs that the program uses.
// In the writing thread alone.
class GpuMonitor {
 public:
  using Load = NvmlApi (*)();
  explicit GpuMonitor(Load load = load_nvml) : load_(load) {}

  static constexpr uint64_t kEvery = 100'000'000;  // ns

  // Writes numbers if the last ones are old enough. `devices`: a bit for each GPU, by CUDA's
  // number, that is known to be in use; those with a primary context are in use too.
  void look(uint64_t now, uint64_t devices, capture::ChunkWriter& out);

 private:
  static constexpr int kMostDevices = 64;
  struct Gpu {
    nvml::Device handle = nullptr;
    bool in_use = false;
    bool has_instant_power = true;
    capture::TextId names[std::size(capture::kGpuNumberNames)] = {};
  };
  bool begin();
  void open(int device, Gpu& gpu);
  void take(int device, Gpu& gpu, uint64_t now, capture::ChunkWriter& out);
  std::optional<double> power(Gpu& gpu);

  const Load load_;
  NvmlApi api_;
  enum class State { kNew, kWorks, kAbsent } state_ = State::kNew;
  uint64_t last_ = 0;
  std::vector<Gpu> gpus_;  // by CUDA's number
  std::vector<capture::Number> numbers_;
};

}  // namespace fathom::record
