#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/table.h"
#include "sheets/gpu_selection.h"

// What the GPU's clocks, power and temperature were while kernels ran, from numbers that the
// recorder took every 100 ms (capture/gpu_numbers.h). A number stands for the time up to halfway to
// its neighbours, and for 100 ms at most.
namespace fathom {

// Reasons why clocks are not at their highest; the order is that of NVML's bits.
constexpr std::array<std::string_view, 9> kClockReasonNames = {
    "idle",          "application clocks",  "SW power cap",        "HW slowdown",
    "sync boost",    "SW thermal slowdown", "HW thermal slowdown", "HW power brake",
    "display clocks"};

// Means over the time of some kernels that numbers are known for.
struct ClockMeans {
  int64_t kernels = 0;
  Nanos time;                                        // of the kernels
  std::array<double, 4> sums = {}, known = {};       // SM clock, memory clock, power, temperature
  std::array<double, 9> reasons = {};                // time of each reason, ns
  double reasons_known = 0;                          // ns
  double power_capped = 0, too_hot = 0, slowed = 0;  // ns: power; thermal; any reason that slows

  std::optional<double> mean(size_t number) const;
  // Of the time that reasons are known for; none where they are not.
  std::optional<double> share(double time) const;
  // Of the kernels' time.
  double known_share() const;
};

struct KernelClocks {
  struct Kernel {
    StringId name;
    ClockMeans means;
  };
  std::vector<Kernel> kernels;  // the longest first
  ClockMeans all;
};

// The numbers of a recording, read once.
class ClockNumbers {
 public:
  explicit ClockNumbers(const EventStore& store);
  ~ClockNumbers();

  bool empty() const;
  // While some GPU work ran.
  ClockMeans during(std::span<const EventId> work) const;
  // The highest SM clock that was sampled of a GPU, MHz.
  std::optional<double> highest_clock(int64_t gpu) const;

 private:
  struct Numbers;
  void add(EventId work, ClockMeans& means) const;
  friend std::optional<KernelClocks> measure_clocks(const SheetInput& input);

  const EventStore& store_;
  std::unique_ptr<const Numbers> numbers_;
};

// Of the scope's kernels; none where the trace has no such numbers.
std::optional<KernelClocks> measure_clocks(const SheetInput& input);

Table kernel_clocks_sheet(const SheetInput& input, const KernelClocks& clocks);

}  // namespace fathom
