#include "story/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/count_text.h"
#include "base/tsv.h"
#include "scan/facts/pattern_ids.h"
#include "story/access_model.h"
#include "story/assumptions.h"
#include "story/compute_rate.h"

namespace fathom {
namespace {

constexpr double kWarp = 32;
// NVIDIA's limit of a compute unit since Volta, but for the small Turing, Ampere and Ada chips.
constexpr double kMaxWarps = 64, kMaxBlocks = 32;

bool has(const KernelFacts& kernel, std::string_view what) { return shows(kernel, what); }

class Expecter {
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
    if (launch_.launcher != nullptr) out_.launch = expect_launch(*launch_.launcher, parameters_);
    if (out_.model) {
      use_type_in_code();
      traffic(*out_.model);
      if (platform_ != nullptr) counters();
    }
    stalls();
    return std::move(out_);
  }

 private:
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
      if (name.find("type") == std::string::npos || name.starts_with("index")) continue;
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
      if (std::find(out_.missing.begin(), out_.missing.end(), name) == out_.missing.end())
        out_.missing.push_back(std::move(name));
    }
    return values_.evaluate(text);
  }

  void traffic(const ChosenModel& model) {
    flops_ = formula(model.flops);
    read_ = formula(model.bytes_read);
    written_ = formula(model.bytes_written);
    if (model.by_accesses) {
      limit_to_accesses(AccessKind::kRead, read_);
      limit_to_accesses(AccessKind::kWrite, written_);
    }
    const bool counted = !model.flops.empty();
    add(out_.traffic, model.by_accesses ? "floating-point operations" : "FLOPs", "",
        counted ? model.flops : "not counted", flops_, flops_);
    out_.traffic.back().quantity = Quantity::kFlops;
    add(out_.traffic, "bytes read", "B", model.bytes_read, read_, read_);
    out_.traffic.back().quantity = Quantity::kBytesRead;
    add(out_.traffic, "bytes written", "B", model.bytes_written, written_, written_);
    out_.traffic.back().quantity = Quantity::kBytesWritten;
    if (read_ && written_) bytes_ = *read_ + *written_;
    if (flops_ && bytes_ && *bytes_ > 0) intensity_ = *flops_ / *bytes_;
    add(out_.traffic, "arithmetic intensity", "FLOP/B", "FLOPs / (bytes read + bytes written)",
        intensity_, intensity_);
    work_ = load_store_work(kernel_, values_);
    if (!work_) say_what_work_needs();
    if (work_ && work_->bytes > 0)
      add(out_.traffic, "bytes requested by threads", "B",
          "accesses × width, including re-reads and shared memory", work_->bytes, work_->bytes);
  }

  // Arrays that are indexed by a value that wraps around: no more elements than accesses.
  void limit_to_accesses(AccessKind kind, std::optional<double>& bytes) {
    if (!bytes) return;
    for (const ArrayTraffic& traffic : kernel_.traffic) {
      if (traffic.kind != kind && traffic.kind != AccessKind::kAtomic) continue;
      const auto elements = values_.evaluate(traffic.elements),
                 times = values_.evaluate(traffic.times);
      if (!elements || !times || *times >= *elements) continue;
      const double size =
          traffic.element_bytes ? *traffic.element_bytes : values_.element_bytes().value_or(0);
      *bytes = std::max(0.0, *bytes - (*elements - *times) * size);
      out_.remarks.push_back(fmt::format(
          "{} is accessed {:.0f} times, fewer than the elements in reach.", traffic.array, *times));
    }
  }

  void say_what_work_needs() {
    std::vector<std::string> names;
    for (const ArrayAccess& access : kernel_.accesses) {
      for (std::string& name : values_.missing(access.times)) {
        const bool known =
            std::find(names.begin(), names.end(), name) != names.end() ||
            std::find(out_.missing.begin(), out_.missing.end(), name) != out_.missing.end();
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
    const double memory = *bytes_ / bandwidth;
    const double compute = flops_ && *flops_ > 0 ? *flops_ / rate_.achievable : 0;
    std::vector<Bound> out = {{Bottleneck::kMemory, memory, memory / share},
                              {Bottleneck::kCompute, compute, compute / share}};
    const auto steps = wavefront_rate();
    if (!steps || !work_) return out;
    const bool shared = work_->shared_wavefronts > work_->wavefronts_high / 2;
    out.push_back({shared ? Bottleneck::kSharedMemory : Bottleneck::kL1,
                   work_->wavefronts_low / *steps, work_->wavefronts_high / *steps});
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
    if (!bandwidth || !bytes_ || (!flops_ && !out_.model->flops.empty())) return;
    rate_ = compute_rate(kernel_, *platform_, values_.element_bytes());
    const std::vector<Bound> all = bounds(bandwidth->rate);
    const double latency = latency_time();
    double low = assumption("empty_kernel"), high = 0;
    const Bound* most = nullptr;
    for (const Bound& bound : all) {
      low = std::max(low, bound.low);
      if (most == nullptr || bound.high > high) most = &bound;
      high = std::max(high, bound.high);
    }
    const double fixed = assumption("empty_kernel") + assumption("launch_tail");
    out_.side = latency + assumption("empty_kernel") > high ? Bottleneck::kLatency : most->side;
    high += fixed + latency;
    add(out_.counters, "time", "s",
        "lower bound: the largest time below, or an empty kernel; upper bound: empty kernel + tail "
        "+ the largest time (memory and arithmetic / 0.6) + serial waits",
        low, high);
    out_.counters.back().quantity = Quantity::kTime;
    bound_rows(all);
    percent("dram__throughput.avg.pct_of_peak_sustained_elapsed",
            "(bytes read + written) / time / peak bandwidth",
            *bytes_ / platform_->memory_bandwidth.peak.value_or(bandwidth->rate), low, high,
            Quantity::kDramPercent);
    percent("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
            rate_.tensor ? "FLOPs / time / peak rate" : "0: no tensor core instruction found",
            rate_.tensor && flops_ ? *flops_ / rate_.peak : 0, low, high, Quantity::kTensorPercent);
    l1(low, high);
    occupancy();
  }

  void bound_rows(const std::vector<Bound>& all) {
    for (const Bound& bound : all) {
      if (bound.side == Bottleneck::kMemory) {
        add(out_.counters, "memory time", "s", "(bytes read + written) / bandwidth", bound.low,
            bound.low);
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
  void percent(std::string name, std::string formula, double seconds_at_peak, double low,
               double high, Quantity quantity) {
    add(out_.counters, std::move(name), "%", std::move(formula),
        std::min(100.0, 100 * seconds_at_peak / high),
        std::min(100.0, 100 * seconds_at_peak / low));
    out_.counters.back().quantity = quantity;
  }

  void l1(double low, double high) {
    const auto steps = wavefront_rate();
    if (!steps) return;
    // The way from L2 is half as wide as the way to the threads.
    const double filled = *bytes_ / assumption("cuda_l1_fill_bytes") / *steps;
    const double asked = (work_ ? work_->bytes : *bytes_) / assumption("cuda_l1_bytes") / *steps;
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
    const double warps = std::ceil(*out_.launch->threads / kWarp);
    const double per_unit = std::min(kMaxBlocks, std::floor(kMaxWarps / warps));
    const double upper = launch_.theoretical_occupancy.value_or(100 * per_unit * warps / kMaxWarps);
    const auto units = static_cast<double>(*platform_->compute_units);
    double present = upper;
    if (out_.launch->blocks) {
      const double resident = std::min(per_unit, std::ceil(*out_.launch->blocks / units));
      present = std::min(upper, 100 * resident * warps / kMaxWarps);
    }
    add(out_.counters, "sm__warps_active.avg.pct_of_peak_sustained_active", "%",
        "at most blocks per SM × warps per block / 64; registers (known after compiling) may lower "
        "it",
        std::min(present, 100 * warps / kMaxWarps), present);
    out_.counters.back().quantity = Quantity::kOccupancy;
  }

  // Loads that wait for one another: the model's own, the rounds of each thread's loop, and the
  // waves of blocks after the first.
  double latency_time() {
    double rounds = out_.model->reads;
    if (out_.launch && out_.launch->blocks && out_.launch->threads && read_) {
      const double threads = *out_.launch->blocks * *out_.launch->threads;
      rounds +=
          std::max(0.0, *read_ / threads / access_bytes() / assumption("loads_in_flight") - 1);
      if (platform_->compute_units) {
        const double at_once =
            static_cast<double>(*platform_->compute_units) *
            std::min(kMaxBlocks, std::floor(kMaxWarps * kWarp / *out_.launch->threads));
        rounds += std::max(0.0, std::ceil(*out_.launch->blocks / std::max(1.0, at_once)) - 1);
      }
    }
    return rounds * assumption("memory_latency");
  }

  // The widest access that the code is sure to make, else one element.
  double access_bytes() const {
    double bytes = values_.element_bytes().value_or(4);
    for (const CodeEvidence& evidence : kernel_.evidence) {
      if (evidence.what == pattern_id::kVectorAccess && evidence.bytes &&
          evidence.certainty != Certainty::kUnsure)
        bytes = std::max(bytes, static_cast<double>(*evidence.bytes));
    }
    return bytes;
  }

  void stalls() {
    const auto add_stall = [&](std::string_view reason, std::string_view why) {
      out_.stalls.push_back(fmt::format("{} ({})", reason, why));
      for (std::string_view one : split(reason, ',')) {
        if (one.starts_with(' ')) one.remove_prefix(1);
        out_.stall_reasons.push_back(one);
      }
    };
    const bool async = has(kernel_, pattern_id::kCpAsync) || has(kernel_, pattern_id::kTmaLoad);
    if (out_.side == Bottleneck::kSharedMemory)
      add_stall("short_scoreboard, mio_throttle", "shared-memory bound");
    if (has(kernel_, pattern_id::kWgmma)) add_stall("gmma", "warpgroups wait for MMA results");
    if (!async && reads_global()) add_stall("long_scoreboard", "waits for global loads");
    if (has(kernel_, pattern_id::kMbarrier) || has(kernel_, pattern_id::kNamedBarrier) ||
        has(kernel_, pattern_id::kBlockBarrier)) {
      add_stall("barrier", "barriers in the code");
    }
    if (out_.side != Bottleneck::kSharedMemory &&
        (has(kernel_, pattern_id::kWarpShuffle) || has(kernel_, pattern_id::kTileReduce) ||
         has(kernel_, pattern_id::kLdmatrix) || has(kernel_, pattern_id::kSharedStatic) ||
         has(kernel_, pattern_id::kSharedDynamic))) {
      add_stall("short_scoreboard, mio_throttle", "shuffles or shared memory");
    }
    if (has(kernel_, pattern_id::kAtomics)) add_stall("lg_throttle", "atomic operations");
    if (out_.side == Bottleneck::kCompute || !reads_global())
      add_stall("wait, math_pipe_throttle", "arithmetic");
    if (!reads_global() && writes_global()) add_stall("lg_throttle", "stores");
  }

  bool accesses_global(AccessKind kind) const {
    return std::ranges::any_of(kernel_.accesses, [kind](const ArrayAccess& access) {
      return !access.shared && access.kind == kind;
    });
  }
  // Where the walk saw nothing, loads are expected.
  bool reads_global() const {
    return kernel_.accesses.empty() || accesses_global(AccessKind::kRead) ||
           accesses_global(AccessKind::kAtomic);
  }
  bool writes_global() const { return accesses_global(AccessKind::kWrite); }

  const KernelFacts& kernel_;
  const LaunchOfKernel launch_;
  const Parameters& parameters_;
  const Platform* platform_;
  Expectation out_;
  KernelValues values_;
  ComputeRate rate_;
  std::optional<double> flops_, read_, written_, bytes_, intensity_;
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
