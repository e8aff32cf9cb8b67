#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "base/threads.h"

namespace fathom {

// Clock and temperature of the first GPU, through NVML. Without a driver nothing is known.
class GpuState {
 public:
  GpuState();
  ~GpuState();
  GpuState(const GpuState&) = delete;
  GpuState& operator=(const GpuState&) = delete;

  struct Reading {
    std::optional<double> clock_mhz, temperature;
  };
  // The highest values from here to stop(), looked at every few milliseconds.
  void start();
  Reading stop();

 private:
  void look();
  struct Calls;
  std::unique_ptr<Calls> calls_;  // null: no NVML
  Threads watcher_;               // none where the machine refuses one
  std::atomic<bool> ends_ = false;
  Reading highest_;
};

}  // namespace fathom
