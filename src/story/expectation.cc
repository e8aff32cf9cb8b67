#include "story/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/count_text.h"
#include "base/text_parts.h"
#include "story/access_model.h"
#include "story/assumptions.h"
#include "story/compute_rate.h"
#include "story/expected_stalls.h"
#include "story/expected_waits.h"

namespace fathom {
namespace {

class Expecter {
  struct Amount {
    std::optional<double> low, high;  // both or none
  };

 public:
  Expecter(const KernelFacts& kernel, const LaunchOfKernel& launch, const Parameters& parameters,
           const Platform* platform)
      : kernel_(kernel),
        launch_(launch),
        parameters_(parameters),
        platform_(platform),
        values_(out_.launch, parameters, launch.own) {}

  Expectation run() {
    out_.model = choose_model(kernel_, out_.no_model);
    if (launch_.launcher != nullptr) {
      out_.launch = expect_launch(*launch_.launcher, parameters_);
    } else if (gives_launch()) {
      out_.launch = expect_launch(KernelLauncher(), parameters_);
      out_.launch->launcher = nullptr;
    }
    if (out_.model) {
      use_type_in_code();
      traffic(*out_.model);
      if (platform_ != nullptr) counters();
    }
    expect_stalls(kernel_, out_);
    return std::move(out_);
  }

 private:
  bool gives_launch() const {
    return std::any_of(parameters_.given().begin(), parameters_.given().end(),
                       [](const auto& one) { return one.first == "gridDim.x"; });
  }

  // A type that stands in the code goes before the one that was asked for.
  void use_type_in_code() {
    const auto code = type_in_code(kernel_);
    if (!code) {
      use_measured_type();
      return;
    }
    const auto asked = parameters_.evaluate_formula("dtype_bytes");
    values_.set_element_bytes(code->bytes);
    if (!asked || *asked == code->bytes) return;
    for (const auto& [name, text] : parameters_.given()) {
      if (!holds(name, "type") || name.starts_with("index")) continue;
      out_.remarks.push_back(
          fmt::format("{0}={1} is ignored: line {4} fixes the type to {2} ({3}).", name, text,
                      code->type, counted(code->bytes, "byte"), code->at.line));
    }
  }

  // The types among the template arguments of a launch that ran, where they have one size.
  void use_measured_type() {
    if (launch_.own == nullptr) return;
    std::optional<double> bytes;
    for (const auto& [name, value] : *launch_.own) {
      if (!name.starts_with("sizeof(")) continue;
      if (bytes && *bytes != value) return;
      bytes = value;
    }
    if (bytes) values_.set_element_bytes(*bytes);
  }

  std::optional<double> formula(const std::string& text) {
    if (text.empty()) return std::nullopt;
    for (std::string& name : values_.missing(text)) {
      if (!contains(out_.missing, name)) out_.missing.push_back(std::move(name));
    }
    return values_.evaluate(text);
  }

  void traffic(const ChosenModel& model) {
    out_.open_ends = model.open_ends;
    flops_ = formula(model.flops);
    const auto whole_read = formula(model.bytes_read), whole_written = formula(model.bytes_written);
    if (model.by_accesses) {
      read_ = accessed(AccessKind::kRead);
      written_ = accessed(AccessKind::kWrite);
    } else {
      read_ = {whole_read, whole_read};
      written_ = {whole_written, whole_written};
    }
    // Of types that are not known it is not known either whether an operator computes: none that
    // was counted is not none.
    const bool known_types = std::ranges::all_of(
        kernel_.accesses, [](const ArrayAccess& one) { return one.element_bytes.has_value(); });
    const bool none = model.by_accesses && model.flops == "0" && !known_types;
    const bool counted = !model.flops.empty() && !none;
    const auto shown = counted ? flops_ : std::nullopt;
    add(out_.traffic, model.by_accesses ? "floating-point operations" : "FLOPs", "",
        counted ? model.flops : "not counted", shown, shown);
    out_.traffic.back().quantity = Quantity::kFlops;
    add(out_.traffic, "bytes read", "B", model.bytes_read, read_.low, closed(read_.high));
    out_.traffic.back().quantity = Quantity::kBytesRead;
    add(out_.traffic, "bytes written", "B", model.bytes_written, written_.low,
        closed(written_.high));
    out_.traffic.back().quantity = Quantity::kBytesWritten;
    if (read_.low && written_.low) {
      bytes_ = {*read_.low + *written_.low, *read_.high + *written_.high};
      if (shown && *bytes_.low > 0 && out_.open_ends.empty()) {
        add(out_.traffic, "arithmetic intensity", "FLOP/B", "FLOPs / (bytes read + bytes written)",
            *flops_ / *bytes_.high, *flops_ / *bytes_.low);
      }
    }
    if (out_.traffic.size() == 3) {
      add(out_.traffic, "arithmetic intensity", "FLOP/B", "FLOPs / (bytes read + bytes written)",
          std::nullopt, std::nullopt);
    }
    work_ = load_store_work(kernel_, values_);
    if (!work_) say_what_work_needs();
    if (work_ && work_->bytes > 0)
      add(out_.traffic, "bytes requested by threads", "B",
          "accesses × width, including re-reads and shared memory",
          out_.model->by_accesses ? work_->bytes_low : work_->bytes, closed(work_->bytes));
  }

  // An upper end, where all of it is counted.
  std::optional<double> closed(std::optional<double> high) const {
    return out_.open_ends.empty() ? high : std::nullopt;
  }

  // Whether a test decides what a loop does: the operations that are counted are at most those.
  bool tested() const {
    return out_.model->by_accesses && std::any_of(kernel_.accesses.begin(), kernel_.accesses.end(),
                                                  [](const ArrayAccess& access) {
                                                    return access.conditional && access.loop != 0;
                                                  });
  }

  Amount accessed(AccessKind kind) {
    const auto bytes = accessed_bytes(kernel_, kind, values_);
    if (!bytes) return {};
    for (const std::string& flag : bytes->flags) {
      if (!contains(out_.flags, flag)) out_.flags.push_back(flag);
    }
    return {bytes->low, bytes->high};
  }

  void say_what_work_needs() {
    std::vector<std::string> names;
    for (const ArrayAccess& access : kernel_.accesses) {
      for (std::string& name : values_.missing(access.times)) {
        const bool known = contains(names, name) || contains(out_.missing, name);
        if (!known) names.push_back(std::move(name));
      }
    }
    if (names.empty()) return;
    out_.remarks.push_back(
        fmt::format("Load/store time and bank conflicts are unknown without --param {}.",
                    fmt::join(names, ", ")));
  }

  static void add(std::vector<Estimate>& list, std::string name, std::string unit,
                  std::string formula, std::optional<double> low, std::optional<double> high) {
    list.push_back({std::move(name), std::move(unit), std::move(formula), low, high});
  }

  // What each part of the GPU takes for its share of the work, at the least and as the code is
  // written.
  struct Bound {
    Bottleneck side = Bottleneck::kUnknown;
    double low = 0, high = 0;
  };

  std::vector<Bound> bounds(double bandwidth) {
    const double share = assumption("bandwidth_share");
    const double compute = flops_ && *flops_ > 0 ? *flops_ / rate_.achievable : 0;
    const bool whole = !tested();
    std::vector<Bound> out = {{Bottleneck::kMemory, *bytes_.low / bandwidth,
                               *bytes_.high * (work_ ? work_->scattered : 1) / bandwidth / share},
                              {Bottleneck::kCompute, whole ? compute : 0, compute / share}};
    const auto steps = wavefront_rate();
    if (!steps || !work_) return out;
    const bool shared = work_->shared_wavefronts > work_->wavefronts_high / 2;
    // The compiler reads an element once that the code names twice.
    const double merged = out_.model->by_accesses && !shared ? share : 1;
    out.push_back({shared ? Bottleneck::kSharedMemory : Bottleneck::kL1,
                   work_->wavefronts_low / *steps * merged,
                   work_->wavefronts_high / *steps / (shared ? 1 : share)});
    return out;
  }

  // 128-byte steps of all load-store units in a second.
  std::optional<double> wavefront_rate() const {
    if (!platform_->compute_units || !platform_->boost_clock || platform_->vendor != "NVIDIA")
      return std::nullopt;
    return static_cast<double>(*platform_->compute_units) * *platform_->boost_clock;
  }

  void counters() {
    const auto bandwidth = limit_of(platform_->memory_bandwidth);
    // Without a count of operations the memory side stands alone.
    if (!bandwidth || !bytes_.low || (!flops_ && !out_.model->flops.empty())) return;
    rate_ = compute_rate(kernel_, *platform_, values_.element_bytes());
    const std::vector<Bound> all = bounds(bandwidth->rate);
    const ExpectedWaits waits = expect_waits(
        {kernel_, *out_.model, out_.launch, values_, *platform_, read_.high.value_or(0)},
        out_.open_ends);
    if (!work_) open_uncounted();
    double low = std::max(assumption("empty_kernel"), waits.low), high = 0;
    const Bound* most = nullptr;
    for (const Bound& bound : all) {
      low = std::max(low, bound.low);
      if (most == nullptr || bound.high > high) most = &bound;
      high = std::max(high, bound.high);
    }
    const double fixed = assumption("empty_kernel") + assumption("launch_tail");
    out_.side = waits.high + assumption("empty_kernel") > high ? Bottleneck::kLatency : most->side;
    high += fixed + waits.high;
    if (out_.open_ends.empty() && high > low * assumption("widest_range"))
      out_.open_ends.push_back({OpenEnd::Kind::kTooWide});
    const bool open = !out_.open_ends.empty();
    add(out_.counters, "time", "s",
        "lower bound: the largest time below, or an empty kernel; upper bound: empty kernel + tail "
        "+ the largest time (memory and arithmetic / 0.6) + serial waits",
        low, closed(high));
    out_.counters.back().quantity = Quantity::kTime;
    bound_rows(all);
    if (waits.rounds > 1) {
      add(out_.counters, "serial waits", "s",
          "rounds of a thread's loops × latency × waves of blocks", waits.low, closed(waits.high));
    }
    if (!open) {
      const double peak = platform_->memory_bandwidth.peak.value_or(bandwidth->rate);
      percent("dram__throughput.avg.pct_of_peak_sustained_elapsed",
              "(bytes read + written) / time / peak bandwidth", *bytes_.low / peak,
              *bytes_.high / peak, low, high, Quantity::kDramPercent);
      const double busy = rate_.tensor && flops_ ? *flops_ / rate_.peak : 0;
      percent("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
              rate_.tensor ? "FLOPs / time / peak rate" : "0: no tensor core instruction found",
              busy, busy, low, high, Quantity::kTensorPercent);
      l1(low, high);
    }
    occupancy();
  }

  // An access that is made nobody knows how often may take longer than all that is counted.
  void open_uncounted() {
    if (!out_.model->by_accesses) return;
    for (const ArrayAccess& access : kernel_.accesses) {
      if (values_.evaluate(access.times)) continue;
      out_.open_ends.push_back({OpenEnd::Kind::kUnresolvedAccess, access.index, access.at});
      return;
    }
  }

  void bound_rows(const std::vector<Bound>& all) {
    for (const Bound& bound : all) {
      if (bound.side == Bottleneck::kMemory) {
        const double share = assumption("bandwidth_share");
        add(out_.counters, "memory time", "s", "(bytes read + written) / bandwidth", bound.low,
            closed(bound.high * share));
      } else if (bound.side == Bottleneck::kCompute) {
        add(out_.counters, "arithmetic time", "s", "FLOPs / " + rate_.said, bound.low, bound.low);
      } else {
        add(out_.counters, "load/store time of the SMs", "s",
            conflicts_said() +
                "128-byte wavefronts / (SMs × clock); lower bound: narrow reads of an "
                "unrolled loop merged",
            bound.low, bound.high);
      }
    }
  }

  std::string conflicts_said() const {
    if (work_->conflict == nullptr) return "";
    return fmt::format("up to {}-way bank conflicts (line {}); ", work_->most_conflicts,
                       work_->conflict->at.line);
  }

  // A share of the time that something takes at its peak, for the two ends of the expected time.
  void percent(std::string name, std::string formula, double least_at_peak, double most_at_peak,
               double low, double high, Quantity quantity) {
    add(out_.counters, std::move(name), "%", std::move(formula),
        std::min(100.0, 100 * least_at_peak / high), std::min(100.0, 100 * most_at_peak / low));
    out_.counters.back().quantity = quantity;
  }

  void l1(double low, double high) {
    const auto steps = wavefront_rate();
    if (!steps) return;
    // The way from L2 is half as wide as the way to the threads.
    const double filled = *bytes_.low / assumption("cuda_l1_fill_bytes") / *steps;
    const double asked =
        (work_ ? work_->bytes_low : *bytes_.low) / assumption("cuda_l1_bytes") / *steps;
    const double least = std::max(filled, asked);
    // A row of the table knows nothing of shared memory: only a lower bound.
    const bool counts_all = work_ && out_.model->by_accesses;
    const double most = counts_all ? std::max(least, work_->wavefronts_high / *steps) : low;
    add(out_.counters,
        "l1tex__throughput.avg.pct_of_peak_sustained_elapsed, and sm__throughput at least that",
        "%",
        work_
            ? "the larger of 128-byte wavefronts / (SMs × clock) and (bytes read + written) / (SMs "
              "× 64 B × clock), / time"
            : "at least (bytes read + written) / (SMs × 64 B × clock) / time",
        std::min(100.0, 100 * least / high), std::min(100.0, 100 * most / low));
    out_.counters.back().quantity = Quantity::kL1Percent;
  }

  void occupancy() {
    if (!out_.launch || !out_.launch->threads || !platform_->compute_units ||
        platform_->vendor != "NVIDIA")
      return;
    const double warps = std::ceil(*out_.launch->threads / kWarpThreads);
    const double per_unit = std::min(kUnitBlocks, std::floor(kUnitWarps / warps));
    const double upper =
        launch_.theoretical_occupancy.value_or(100 * per_unit * warps / kUnitWarps);
    const auto units = static_cast<double>(*platform_->compute_units);
    double present = upper;
    if (out_.launch->blocks) {
      const double resident = std::min(per_unit, std::ceil(*out_.launch->blocks / units));
      present = std::min(upper, 100 * resident * warps / kUnitWarps);
    }
    add(out_.counters, "sm__warps_active.avg.pct_of_peak_sustained_active", "%",
        "at most blocks per SM × warps per block / 64; registers (known after compiling) may lower "
        "it",
        std::min(present, 100 * warps / kUnitWarps), present);
    out_.counters.back().quantity = Quantity::kOccupancy;
  }

  const KernelFacts& kernel_;
  const LaunchOfKernel launch_;
  const Parameters& parameters_;
  const Platform* platform_;
  Expectation out_;
  KernelValues values_;
  ComputeRate rate_;
  std::optional<double> flops_;
  Amount read_, written_, bytes_;
  std::optional<LoadStoreWork> work_;
};

}  // namespace

std::string_view bottleneck_name(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::kUnknown:
      return "";
    case Bottleneck::kMemory:
      return "memory";
    case Bottleneck::kCompute:
      return "compute";
    case Bottleneck::kSharedMemory:
      return "shared memory";
    case Bottleneck::kL1:
      return "L1";
    case Bottleneck::kLatency:
      return "latency";
  }
  return "";
}

Expectation expect_of(const KernelFacts& kernel, const Parameters& parameters,
                      const Platform* platform) {
  LaunchOfKernel first;
  if (!kernel.launchers.empty()) first.launcher = &kernel.launchers.front();
  return Expecter(kernel, first, parameters, platform).run();
}

Expectation expect_of(const KernelFacts& kernel, const LaunchOfKernel& launch,
                      const Parameters& parameters, const Platform* platform) {
  return Expecter(kernel, launch, parameters, platform).run();
}

}  // namespace fathom
