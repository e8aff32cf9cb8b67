#include "sheets/kernel_clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "capture/gpu_numbers.h"

namespace fathom {
namespace {

constexpr Nanos kReach{100'000'000};
constexpr uint64_t kPowerReasons = capture::kSwPowerCap | capture::kHwPowerBrake;
constexpr uint64_t kThermalReasons = capture::kSwThermal | capture::kHwThermal;
constexpr uint64_t kSlowReasons = kPowerReasons | kThermalReasons | capture::kHwSlowdown;

}  // namespace

// A step function of time that is unknown in places, integrated from its start: what lies between
// two times is a difference, however many steps that are.
class StepIntegral {
 public:
  // In the order of time.
  void add(Nanos begin, Nanos end, double value) {
    if (end <= begin) return;
    const double length = static_cast<double>((end - begin).count);
    steps_.push_back({begin, end, value, value_, known_});
    value_ += value * length;
    known_ += length;
  }

  struct Area {
    double value = 0, known = 0;
  };
  Area between(Nanos begin, Nanos end) const {
    const Area a = up_to(begin), b = up_to(end);
    return {b.value - a.value, b.known - a.known};
  }

 private:
  Area up_to(Nanos time) const {
    const auto after = std::ranges::upper_bound(steps_, time, {}, &Step::begin);
    if (after == steps_.begin()) return {};
    const Step& step = *(after - 1);
    const double length = static_cast<double>((std::min(time, step.end) - step.begin).count);
    return {step.value_before + step.value * length, step.known_before + length};
  }

  struct Step {
    Nanos begin, end;
    double value, value_before, known_before;
  };
  std::vector<Step> steps_;
  double value_ = 0, known_ = 0;
};

struct GpuIntegrals {
  double highest_clock = 0;
  std::array<StepIntegral, 4> numbers;
  std::array<StepIntegral, 9> reasons;
  StepIntegral power, thermal, slowed;
};

namespace {

using Samples = std::vector<std::pair<Nanos, double>>;

// Each sample up to halfway to its neighbours.
template <typename Value>
StepIntegral integral_of(const Samples& samples, Value value) {
  StepIntegral integral;
  Nanos last_end{INT64_MIN};
  for (size_t i = 0; i < samples.size(); ++i) {
    const Nanos time = samples[i].first;
    const Nanos begin =
        i == 0 ? time - kReach
               : std::max(time - kReach, time - Nanos{(time - samples[i - 1].first).count / 2});
    const Nanos end =
        i + 1 == samples.size()
            ? time + kReach
            : std::min(time + kReach, time + Nanos{(samples[i + 1].first - time).count / 2});
    integral.add(std::max(begin, last_end), end, value(samples[i].second));
    last_end = std::max(end, last_end);
  }
  return integral;
}

uint64_t bits_of(double value) {
  constexpr double kMost = 9e15;
  return value >= 0 && value < kMost ? static_cast<uint64_t>(value) : 0;
}

std::map<int64_t, GpuIntegrals> integrate_numbers(const EventStore& store) {
  std::unordered_map<StringId, std::optional<capture::GpuNumberOf>> names;
  std::map<int64_t, std::array<Samples, 5>> samples;
  for (const CounterValue& v : store.counters()) {
    const StringId name = store.name_id(v.event);
    const auto [known, is_new] = names.try_emplace(name);
    if (is_new) known->second = capture::gpu_number_of(store.text(name));
    if (!known->second || !std::isfinite(v.value)) continue;
    const Nanos time = store.start(v.event);
    if (time.count < 0 || time.count > INT64_MAX / 2) continue;
    samples[known->second->gpu][static_cast<size_t>(known->second->number)].emplace_back(time,
                                                                                         v.value);
  }
  std::map<int64_t, GpuIntegrals> integrals;
  for (auto& [gpu, lists] : samples) {
    GpuIntegrals& of_gpu = integrals[gpu];
    for (Samples& list : lists) std::ranges::stable_sort(list, {}, &Samples::value_type::first);
    for (const auto& [time, clock] : lists[static_cast<size_t>(capture::GpuNumber::kSmClock)])
      of_gpu.highest_clock = std::max(of_gpu.highest_clock, clock);
    for (size_t i = 0; i < of_gpu.numbers.size(); ++i)
      of_gpu.numbers[i] = integral_of(lists[i], [](double value) { return value; });
    const Samples& reasons = lists[static_cast<size_t>(capture::GpuNumber::kClockReasons)];
    const auto of_bits = [&reasons](uint64_t bits) {
      return integral_of(reasons,
                         [bits](double v) { return (bits_of(v) & bits) != 0 ? 1.0 : 0.0; });
    };
    for (size_t bit = 0; bit < of_gpu.reasons.size(); ++bit)
      of_gpu.reasons[bit] = of_bits(uint64_t{1} << bit);
    of_gpu.power = of_bits(kPowerReasons);
    of_gpu.thermal = of_bits(kThermalReasons);
    of_gpu.slowed = of_bits(kSlowReasons);
  }
  return integrals;
}

void add_run(const GpuIntegrals& gpu, Nanos begin, Nanos end, ClockMeans& means) {
  for (size_t i = 0; i < gpu.numbers.size(); ++i) {
    const StepIntegral::Area area = gpu.numbers[i].between(begin, end);
    means.sums[i] += area.value;
    means.known[i] += area.known;
  }
  for (size_t bit = 0; bit < gpu.reasons.size(); ++bit)
    means.reasons[bit] += gpu.reasons[bit].between(begin, end).value;
  const StepIntegral::Area power = gpu.power.between(begin, end);
  means.reasons_known += power.known;
  means.power_capped += power.value;
  means.too_hot += gpu.thermal.between(begin, end).value;
  means.slowed += gpu.slowed.between(begin, end).value;
}

// "SW power cap 63 %, idle 2 %"
std::string reasons_text(const ClockMeans& means) {
  std::string text;
  for (size_t bit = 0; bit < means.reasons.size(); ++bit) {
    const double share = means.share(means.reasons[bit]).value_or(0);
    if (share < 0.005) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {:.0f} %", kClockReasonNames[bit], 100 * share);
  }
  return text;
}

}  // namespace

std::optional<double> ClockMeans::mean(size_t number) const {
  if (known[number] <= 0) return std::nullopt;
  return sums[number] / known[number];
}

std::optional<double> ClockMeans::share(double part) const {
  if (reasons_known <= 0) return std::nullopt;
  return std::clamp(part / reasons_known, 0.0, 1.0);
}

double ClockMeans::known_share() const {
  const double most = std::max(reasons_known, *std::ranges::max_element(known));
  return time.count > 0 ? std::clamp(most / static_cast<double>(time.count), 0.0, 1.0) : 0;
}

struct ClockNumbers::Numbers {
  std::map<int64_t, GpuIntegrals> gpus;
};

ClockNumbers::ClockNumbers(const EventStore& store)
    : store_(store), numbers_(std::make_unique<const Numbers>(Numbers{integrate_numbers(store)})) {}

ClockNumbers::~ClockNumbers() = default;

bool ClockNumbers::empty() const { return numbers_->gpus.empty(); }

void ClockNumbers::add(EventId work, ClockMeans& means) const {
  ++means.kernels;
  means.time += store_.duration(work);
  const auto gpu = numbers_->gpus.find(store_.gpu_work(work).device.value_or(0));
  if (gpu != numbers_->gpus.end())
    add_run(gpu->second, store_.start(work), store_.end(work), means);
}

ClockMeans ClockNumbers::during(std::span<const EventId> work) const {
  ClockMeans means;
  for (const EventId e : work) add(e, means);
  return means;
}

std::optional<double> ClockNumbers::highest_clock(int64_t gpu) const {
  const auto found = numbers_->gpus.find(gpu);
  if (found == numbers_->gpus.end() || found->second.highest_clock <= 0) return std::nullopt;
  return found->second.highest_clock;
}

std::optional<KernelClocks> measure_clocks(const SheetInput& input) {
  const EventStore& store = input.store;
  const ClockNumbers numbers(store);
  if (numbers.empty()) return std::nullopt;
  KernelClocks clocks;
  std::unordered_map<StringId, size_t> index;
  for (const EventId e : all_selected(input)) {
    if (store.kind(e) != EventKind::kKernel) continue;
    const StringId name = store.name_id(e);
    const auto [found, is_new] = index.try_emplace(name, clocks.kernels.size());
    if (is_new) clocks.kernels.push_back({name, {}});
    numbers.add(e, clocks.kernels[found->second].means);
    numbers.add(e, clocks.all);
  }
  std::ranges::stable_sort(clocks.kernels, std::greater{},
                           [](const KernelClocks::Kernel& kernel) { return kernel.means.time; });
  return clocks;
}

Table kernel_clocks_sheet(const SheetInput& input, const KernelClocks& clocks) {
  Table table("kernel_clocks");
  Column& name = table.text_column("Kernel name");
  Column& launches = table.count_column("Launches");
  Column& time = table.time_column("GPU time (ms)", Unit::kMillis);
  Column& known = table.real_column("% of it with numbers", Unit::kPercent);
  Column& sm = table.real_column("SM clock (MHz)", Unit::kNone);
  Column& memory = table.real_column("Memory clock (MHz)", Unit::kNone);
  Column& power = table.real_column("Power (W)", Unit::kNone);
  Column& temperature = table.real_column("Temperature (°C)", Unit::kNone);
  Column& capped = table.real_column("Power cap (% of time)", Unit::kPercent);
  Column& hot = table.real_column("Thermal slowdown (% of time)", Unit::kPercent);
  Column& reasons = table.text_column("Clock event reasons");
  const auto percent = [](std::optional<double> share) {
    return share ? std::optional(100 * *share) : std::nullopt;
  };
  for (const KernelClocks::Kernel& kernel : clocks.kernels) {
    const ClockMeans& means = kernel.means;
    name.add(input.store.text(kernel.name));
    launches.add(means.kernels);
    time.add(means.time);
    known.add(100 * means.known_share());
    sm.add(means.mean(0));
    memory.add(means.mean(1));
    power.add(means.mean(2));
    temperature.add(means.mean(3));
    capped.add(percent(means.share(means.power_capped)));
    hot.add(percent(means.share(means.too_hot)));
    reasons.add(reasons_text(means));
  }
  return table;
}

}  // namespace fathom
