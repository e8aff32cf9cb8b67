#include "story/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "scan/expression.h"
#include "story/assumptions.h"

namespace fathom {
namespace {

constexpr double kWarp = 32;
// NVIDIA's limit of a compute unit since Volta, but for the small Turing, Ampere and Ada chips.
constexpr double kMaxWarps = 64, kMaxBlocks = 32;

bool has(const KernelFacts& kernel, std::string_view what) {
  return std::any_of(kernel.evidence.begin(), kernel.evidence.end(),
                     [&](const CodeEvidence& evidence) {
                       return evidence.what == what && evidence.certainty != Certainty::kUnsure;
                     });
}

bool uses_tensor_cores(const KernelFacts& kernel) {
  // Registers are moved between warpgroups for wgmma alone.
  constexpr std::array<std::string_view, 7> ids = {"wgmma", "mma_sync", "wmma",      "tcgen05",
                                                   "mfma",  "tile_dot", "setmaxnreg"};
  return std::any_of(ids.begin(), ids.end(), [&](std::string_view id) { return has(kernel, id); });
}

// "dim3(x, y)" and "(x, y,)" → x and y; anything else is one dimension.
std::vector<std::string> dimensions_of(std::string_view text) {
  if (text.starts_with("dim3")) text.remove_prefix(4);
  while (text.starts_with(' ')) text.remove_prefix(1);
  const bool wrapped = (text.starts_with('(') && text.ends_with(')')) ||
                       (text.starts_with('{') && text.ends_with('}'));
  if (!wrapped) return {std::string(text)};
  std::vector<std::string> out;
  std::string part;
  int depth = 0;
  for (const char c : text.substr(1, text.size() - 2)) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth < 0) return {std::string(text)};  // "(a) / (b)" is one expression
    if (c == ',' && depth == 0) {
      out.push_back(std::move(part));
      part.clear();
    } else {
      part += c;
    }
  }
  out.push_back(std::move(part));
  std::erase_if(out,
                [](const std::string& p) { return p.find_first_not_of(' ') == std::string::npos; });
  return out;
}

// The formula with the number of arrays in it.
std::string with_tensors(std::string_view formula, int tensors) {
  std::string spelled(formula);
  for (size_t at; (at = spelled.find("tensors")) != std::string::npos;) {
    spelled.replace(at, 7, std::to_string(tensors));
  }
  return spelled;
}

class Expecter {
 public:
  Expecter(const KernelFacts& kernel, const Parameters& parameters, const Platform* platform)
      : kernel_(kernel), parameters_(parameters), platform_(platform) {}

  Expectation run() {
    out_.model = choose_model(kernel_);
    if (!kernel_.launchers.empty()) launch(kernel_.launchers.front());
    if (out_.model) traffic(*out_.model);
    if (platform_ != nullptr && out_.model) counters();
    stalls();
    return std::move(out_);
  }

 private:
  void launch(const KernelLauncher& launcher) {
    ExpectedLaunch expected;
    expected.launcher = &launcher;
    expected.grid = dimensions(launcher.grid, launcher.values);
    expected.block = dimensions(launcher.block, launcher.values);
    expected.blocks = product(expected.grid);
    expected.threads = product(expected.block);
    expected.shared_bytes = parameters_.evaluate_in(launcher.shared_memory, launcher.values);
    out_.launch = std::move(expected);
  }

  std::vector<ExpectedLaunch::Dimension> dimensions(const std::string& text,
                                                    const std::vector<NamedValue>& values) {
    std::vector<ExpectedLaunch::Dimension> out;
    if (text.empty()) return out;
    for (std::string& part : dimensions_of(text)) {
      const auto value = parameters_.evaluate_in(part, values);
      // "grid" may be a name whose value is a dim3 of several.
      const auto named = std::find_if(values.begin(), values.end(),
                                      [&](const NamedValue& v) { return v.name == part; });
      if (!value && named != values.end() && named->text != text)
        return dimensions(named->text, values);
      out.push_back({std::move(part), value});
    }
    return out;
  }

  static std::optional<double> product(const std::vector<ExpectedLaunch::Dimension>& dimensions) {
    if (dimensions.empty()) return std::nullopt;
    double out = 1;
    for (const auto& dimension : dimensions) {
      if (!dimension.value) return std::nullopt;
      out *= *dimension.value;
    }
    return out;
  }

  std::optional<double> formula(std::string_view text, int tensors) {
    const std::string spelled = with_tensors(text, tensors);
    for (const std::string& name : names_in(spelled)) {
      const bool unknown = !parameters_.evaluate_formula(name);
      const bool noted =
          std::find(out_.missing.begin(), out_.missing.end(), name) != out_.missing.end();
      if (unknown && !noted) out_.missing.push_back(name);
    }
    return parameters_.evaluate_formula(spelled);
  }

  void traffic(const ChosenModel& chosen) {
    const KernelModel& model = *chosen.model;
    flops_ = formula(model.flops, chosen.tensors);
    read_ = formula(model.bytes_read, chosen.tensors);
    written_ = formula(model.bytes_written, chosen.tensors);
    const auto spelled = [&](std::string_view text) { return with_tensors(text, chosen.tensors); };
    add(out_.traffic, "FLOPs", "", spelled(model.flops), flops_, flops_);
    add(out_.traffic, "bytes read", "B", spelled(model.bytes_read), read_, read_);
    add(out_.traffic, "bytes written", "B", spelled(model.bytes_written), written_, written_);
    if (read_ && written_) bytes_ = *read_ + *written_;
    if (flops_ && bytes_ && *bytes_ > 0) intensity_ = *flops_ / *bytes_;
    add(out_.traffic, "arithmetic intensity", "FLOP/B", "FLOPs / (bytes read + bytes written)",
        intensity_, intensity_);
  }

  static void add(std::vector<Estimate>& list, std::string name, std::string unit,
                  std::string formula, std::optional<double> low, std::optional<double> high) {
    list.push_back({std::move(name), std::move(unit), std::move(formula), low, high});
  }

  void counters() {
    const auto bandwidth = limit_of(platform_->memory_bandwidth);
    if (!bandwidth || !bytes_ || !flops_) return;
    const double memory_time = *bytes_ / bandwidth->rate;
    const double compute_time = *flops_ > 0 ? *flops_ / compute_rate() : 0;
    const double work = std::max(memory_time, compute_time);
    const double latency = latency_time();
    const double low = std::max(work, assumption("empty_kernel"));
    const double high = assumption("empty_kernel") + assumption("launch_tail") +
                        work / assumption("bandwidth_share") + latency;
    out_.side = latency + assumption("empty_kernel") > work / assumption("bandwidth_share")
                    ? "latency"
                : memory_time >= compute_time ? "memory"
                                              : "compute";
    add(out_.counters, "time", "s",
        "at least max(bytes / bandwidth, FLOPs / rate, empty kernel); at most empty kernel + tail "
        "+ that / 0.6 + "
        "waits for memory one after the other",
        low, high);
    percent("dram__throughput.avg.pct_of_peak_sustained_elapsed",
            "(bytes read + written) / time / peak bandwidth",
            *bytes_ / platform_->memory_bandwidth.peak.value_or(bandwidth->rate), low, high);
    const bool tensor = uses_tensor_cores(kernel_);
    percent("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
            tensor ? "FLOPs / time / peak rate"
                   : "0: no tensor core instruction in the code it reaches",
            tensor ? *flops_ / compute_peak() : 0, low, high);
    l1(low, high);
    occupancy();
  }

  // A share of the time that something takes at its peak, for the two ends of the expected time.
  void percent(std::string name, std::string formula, double seconds_at_peak, double low,
               double high) {
    add(out_.counters, std::move(name), "%", std::move(formula),
        std::min(100.0, 100 * seconds_at_peak / high),
        std::min(100.0, 100 * seconds_at_peak / low));
  }

  void l1(double low, double high) {
    if (!platform_->compute_units || !platform_->boost_clock || platform_->vendor != "NVIDIA")
      return;
    const double rate = static_cast<double>(*platform_->compute_units) *
                        assumption("cuda_l1_bytes") * *platform_->boost_clock;
    percent("l1tex__throughput.avg.pct_of_peak_sustained_elapsed, and sm__throughput at least that",
            "(bytes read + written) / time / (SMs × 128 B × clock)", *bytes_ / rate, low, high);
  }

  void occupancy() {
    if (!out_.launch || !out_.launch->threads || !platform_->compute_units ||
        platform_->vendor != "NVIDIA")
      return;
    const double warps = std::ceil(*out_.launch->threads / kWarp);
    const double per_unit = std::min(kMaxBlocks, std::floor(kMaxWarps / warps));
    const double upper = 100 * per_unit * warps / kMaxWarps;
    const auto units = static_cast<double>(*platform_->compute_units);
    double present = upper;
    if (out_.launch->blocks) {
      const double resident = std::min(per_unit, std::ceil(*out_.launch->blocks / units));
      present = std::min(upper, 100 * resident * warps / kMaxWarps);
    }
    add(out_.counters, "sm__warps_active.avg.pct_of_peak_sustained_active", "%",
        "at most blocks per SM × warps per block / 64; registers, known only after compiling, may "
        "lower it",
        std::min(present, 100 * warps / kMaxWarps), present);
  }

  // Loads that wait for one another: the model's own, the rounds of each thread's loop, and the
  // waves of blocks after the first.
  double latency_time() {
    double rounds = out_.model->model->reads;
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
    double bytes = parameters_.evaluate_formula("dtype_bytes").value_or(4);
    for (const CodeEvidence& evidence : kernel_.evidence) {
      if (evidence.what != "vector_access" || evidence.certainty == Certainty::kUnsure) continue;
      bytes = std::max(bytes, std::atof(evidence.detail.c_str()));
    }
    return bytes;
  }

  const Rate* rate() const {
    const bool tensor = uses_tensor_cores(kernel_);
    const double bytes = parameters_.evaluate_formula("dtype_bytes").value_or(2);
    const char* spec = !tensor      ? "vector_fp32"
                       : bytes == 1 ? "matrix_fp8"
                       : bytes == 2 ? "matrix_bf16"
                                    : "matrix_tf32";
    return platform_->find(spec);
  }
  double compute_rate() const {
    const Rate* found = rate();
    const auto limit = found == nullptr ? std::nullopt : limit_of(*found);
    return limit ? limit->rate : INFINITY;
  }
  double compute_peak() const {
    const Rate* found = rate();
    return found != nullptr && found->peak ? *found->peak : compute_rate();
  }

  void stalls() {
    const auto add_stall = [&](std::string_view reason, std::string_view why) {
      out_.stalls.push_back(fmt::format("{} ({})", reason, why));
    };
    const bool async = has(kernel_, "cp_async") || has(kernel_, "tma_load");
    if (has(kernel_, "wgmma")) add_stall("gmma", "warpgroups wait for their matrix products");
    if (!async) add_stall("long_scoreboard", "loads from global memory are waited for");
    if (has(kernel_, "mbarrier") || has(kernel_, "named_barrier") ||
        has(kernel_, "block_barrier")) {
      add_stall("barrier", "the code has barriers");
    }
    if (has(kernel_, "warp_shuffle") || has(kernel_, "ldmatrix") || has(kernel_, "shared_static") ||
        has(kernel_, "shared_dynamic")) {
      add_stall("short_scoreboard", "shuffles or shared memory");
    }
    if (has(kernel_, "atomics")) add_stall("lg_throttle", "atomic operations");
  }

  const KernelFacts& kernel_;
  const Parameters& parameters_;
  const Platform* platform_;
  Expectation out_;
  std::optional<double> flops_, read_, written_, bytes_, intensity_;
};

}  // namespace

Expectation expect_of(const KernelFacts& kernel, const Parameters& parameters,
                      const Platform* platform) {
  return Expecter(kernel, parameters, platform).run();
}

}  // namespace fathom
