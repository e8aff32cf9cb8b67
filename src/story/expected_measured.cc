#include "story/expected_measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text_parts.h"
#include "story/compared_rows.h"

namespace fathom {
namespace {

// Busier than this, a part of the GPU limits a kernel; below it, latency does.
constexpr double kLatencyBelow = 40;
// Parts that are nearly as busy as the busiest limit it too.
constexpr double kNearlyAsBusy = 0.8;
// A kernel that is expected to be bound by latency keeps no part busier than this.
constexpr double kBusy = 60;

// In the order of compared.tsv.
constexpr std::pair<std::string_view, Quantity> kQuantities[] = {
    {"bytes_read", Quantity::kBytesRead},
    {"bytes_written", Quantity::kBytesWritten},
    {"flops", Quantity::kFlops},
    {"time", Quantity::kTime},
    {"dram_percent", Quantity::kDramPercent},
    {"tensor_percent", Quantity::kTensorPercent},
    {"l1_percent", Quantity::kL1Percent},
    {"occupancy", Quantity::kOccupancy},
};

const Estimate* find_estimate(const Expectation& expected, std::string_view id) {
  for (const auto& [name, quantity] : kQuantities) {
    if (name != id) continue;
    for (const auto* list : {&expected.traffic, &expected.counters}) {
      for (const Estimate& estimate : *list) {
        if (estimate.quantity == quantity) return &estimate;
      }
    }
  }
  return nullptr;
}

// Damaged counters hold any number.
bool is_plausible(const QuantityRow& row, double value) {
  constexpr double kMostPercent = 200;
  if (!std::isfinite(value) || value < 0) return false;
  if (row.unit == "%") return value <= kMostPercent;
  return row.unit != "s" || value > 0;  // no kernel takes no time
}

// What several evaluations of one launch come to: a quantity is known where all of them know it.
class Expected {
 public:
  void add(Expectation one) { all_.push_back(std::move(one)); }
  bool empty() const { return all_.empty(); }
  const Expectation& first() const { return all_.front(); }

  // Between the least and the largest of all; none where one of them does not know it.
  std::optional<std::pair<double, double>> range(std::string_view id) const {
    std::optional<std::pair<double, double>> out;
    for (const Expectation& one : all_) {
      const Estimate* estimate = find_estimate(one, id);
      if (estimate == nullptr || !estimate->known()) return std::nullopt;
      if (!std::isfinite(*estimate->low) || !std::isfinite(*estimate->high)) return std::nullopt;
      if (!out) out = {*estimate->low, *estimate->high};
      out->first = std::min(out->first, *estimate->low);
      out->second = std::max(out->second, *estimate->high);
    }
    return out;
  }

  // Unknown where the evaluations disagree.
  Bottleneck side() const {
    for (const Expectation& one : all_) {
      if (one.side != all_.front().side) return Bottleneck::kUnknown;
    }
    return all_.front().side;
  }

  std::vector<std::string> missing() const {
    std::vector<std::string> out;
    for (const Expectation& one : all_) {
      for (const std::string& name : one.missing) {
        if (!contains(out, name)) out.push_back(name);
      }
    }
    return out;
  }

 private:
  std::vector<Expectation> all_;
};

class KernelComparer {
 public:
  KernelComparer(const KernelFacts& kernel, const KernelContext& context,
                 const Parameters& parameters, const Platform* platform, const OpValues& op_values)
      : kernel_(kernel),
        context_(context),
        parameters_(parameters),
        platform_(platform),
        op_values_(op_values) {}

  ComparedKernel run() {
    evaluate();
    if (!out_.not_comparable.empty()) return std::move(out_);
    out_.expected = expected_.first();
    if (out_.expected.launch) out_.expected.launch->launcher = nullptr;
    prepare_values();
    for (const QuantityRow& row : quantity_rows()) number(row);
    side();
    stalls();
    return std::move(out_);
  }

 private:
  // The expectation at both ends of what each launch site that fits leaves open.
  void evaluate() {
    if (!context_.launch.grid || !context_.launch.block) {
      out_.not_comparable = "grid and block of the measured launch are unknown";
      return;
    }
    std::vector<LaunchValues> sites = fit_launch(
        kernel_, {context_.name, context_.launch.grid, context_.launch.block, op_values_},
        parameters_);
    if (sites.empty()) {
      // Where code only takes the kernel's address, nothing tells its grid and block.
      const bool is_seen = std::ranges::any_of(
          kernel_.launchers,
          [](const KernelLauncher& launcher) { return launcher.certainty != Certainty::kUnsure; });
      out_.not_comparable = is_seen
                                ? "no launch site in the code fits the measured grid and block"
                                : "no launch site with a known grid and block found in the code";
      return;
    }
    const Parameters types = parameters_.types_only();
    for (const LaunchValues& site : sites) {
      const Parameters& given = site.uses_parameters ? parameters_ : types;
      for (const KernelLauncher* launcher : {&site.least, &site.most}) {
        expected_.add(expect_of(kernel_,
                                {launcher, &site.own, context_.value("theoretical_occupancy")},
                                given, platform_));
      }
    }
    if (!sites.front().uses_parameters) {
      out_.remarks.emplace_back(
          "The measured launch differs from the sizes given with --param; they are not used.");
    }
    if (sites.size() > 1) {
      out_.remarks.push_back(
          fmt::format("{} launch sites fit; ranges cover all of them.", sites.size()));
    } else {
      out_.solved = std::move(sites.front().solved);
    }
    if (!expected_.first().model) {
      const std::string& why = expected_.first().no_model;
      out_.not_comparable =
          why.empty() ? "its memory traffic could not be derived from the code" : why;
    }
  }

  void prepare_values() {
    values_ = context_.values;
    const auto set = [this](std::string_view name, std::optional<double> value) {
      if (value && std::isfinite(*value)) values_.insert_or_assign(std::string(name), *value);
    };
    const auto sectors = [&](std::string_view name) -> std::optional<double> {
      const auto count = context_.value(name);
      return count ? std::optional(32 * *count) : std::nullopt;
    };
    set("load_bytes", sectors("load_sectors"));
    set("store_bytes", sectors("store_sectors"));
    const auto dram = context_.value("dram_mb");
    if (dram) set("measured_bytes", 1e6 * *dram);
    const auto read = expected_.range("bytes_read"), written = expected_.range("bytes_written");
    if (read && written) set("expected_bytes", read->second + written->second);
  }

  std::optional<double> value(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }

  std::string unknown_parameters() const {
    const std::vector<std::string> missing = expected_.missing();
    constexpr size_t kShown = 4;
    if (missing.empty()) return "";
    std::string out = missing.size() == 1 ? "parameter " : "parameters ";
    for (size_t i = 0; i < std::min(missing.size(), kShown); ++i)
      out += fmt::format("{}{}", i == 0 ? "" : ", ", missing[i]);
    if (missing.size() > kShown) out += fmt::format(" and {} more", missing.size() - kShown);
    return out + " unknown";
  }

  void not_comparable(ComparedQuantity& one, std::string_view otherwise) const {
    one.comparison = Comparison::kNotComparable;
    one.reason = unknown_parameters();
    if (one.reason.empty()) one.reason = otherwise;
  }

  void not_measured(ComparedQuantity& one, std::vector<std::string_view> missing) const {
    one.comparison = Comparison::kNotMeasured;
    if (context_.file.empty()) {
      one.reason = "no counters";
    } else if (!context_.is_trusted) {
      one.reason = "the counters are untrusted";
    } else {
      one.reason = "not counted: ";
      for (size_t i = 0; i < missing.size(); ++i)
        one.reason += (i == 0 ? "" : ", ") + value_title(missing[i]);
    }
    one.command = command_for(missing, context_.tool);
  }

  void surprise(ComparedQuantity& one, Outside where) {
    one.comparison = Comparison::kSurprise;
    const Formula::Lookup lookup = [this](std::string_view name) { return value(name); };
    for (const SurpriseRow& row : surprise_rows()) {
      if (row.quantity != one.id || (row.where != Outside::kAny && row.where != where)) continue;
      const std::optional<double> holds = row.when.value(lookup);
      if (!holds || *holds == 0) continue;
      one.reason = row.reason;
      return;
    }
    one.reason = "the counters do not show why";
  }

  void number(const QuantityRow& row) {
    ComparedQuantity one{row.id, row.title, row.unit};
    const Formula::Lookup lookup = [this](std::string_view name) { return value(name); };
    one.measured = row.measured.value(lookup);
    if (one.measured && !is_plausible(row, *one.measured)) one.measured.reset();
    const auto range = expected_.range(row.id);
    if (range) {
      one.low = range->first;
      one.high = range->second;
    }
    if (!range) {
      const bool is_platform_row = platform_ == nullptr && row.unit != "B" && row.unit != "FLOP";
      not_comparable(
          one, is_platform_row ? "the GPU's rates are unknown" : "the code does not determine it");
    } else if (!one.measured) {
      not_measured(one, row.measured.missing(lookup));
    } else if (*one.measured < *one.low * row.low - row.floor) {
      set_range(one);
      if (row.id == "time") values_["time_below"] = 1;
      surprise(one, Outside::kBelow);
    } else if (*one.measured > *one.high * row.high + row.floor) {
      set_range(one);
      if (row.id == "time") values_["time_above"] = 1;
      surprise(one, Outside::kAbove);
    } else {
      one.comparison = Comparison::kWithin;
    }
    out_.quantities.push_back(std::move(one));
  }

  // For the conditions of the rows.
  void set_range(const ComparedQuantity& one) {
    values_["expected_low"] = *one.low;
    values_["expected_high"] = *one.high;
    values_["measured"] = *one.measured;
  }

  void side() {
    ComparedQuantity one{"side", "limiting side", ""};
    const Bottleneck expected = expected_.side();
    one.expected_text = bottleneck_name(expected);
    const Formula::Lookup lookup = [this](std::string_view name) { return value(name); };
    std::vector<std::pair<double, Bottleneck>> shares;
    std::vector<std::string_view> missing;
    for (const SideRow& row : side_rows()) {
      const std::optional<double> share = row.share.value(lookup);
      if (share && std::isfinite(*share)) {
        shares.emplace_back(-*share, row.side);
      } else {
        for (const std::string_view name : row.share.missing(lookup)) missing.push_back(name);
      }
    }
    std::ranges::sort(shares);
    if (expected == Bottleneck::kUnknown) {
      not_comparable(one, platform_ == nullptr ? "the GPU's rates are unknown"
                                               : "several sides are equally likely");
    } else if (!missing.empty()) {
      not_measured(one, std::move(missing));
    } else {
      const double most = -shares.front().first;
      const bool is_latency = most < kLatencyBelow;
      bool fits = expected == Bottleneck::kLatency ? most < kBusy : false;
      for (const auto& [negative, side] : shares)
        fits = fits || (!is_latency && side == expected && -negative >= kNearlyAsBusy * most);
      one.measured_text =
          is_latency ? fmt::format("latency (busiest: {} {:.0f} %)",
                                   bottleneck_name(shares.front().second), most)
                     : fmt::format("{} {:.0f} %", bottleneck_name(shares.front().second), most);
      one.comparison = Comparison::kWithin;
      values_["latency_side"] = is_latency ? 1 : 0;
      if (!fits) surprise(one, Outside::kAny);
    }
    out_.quantities.push_back(std::move(one));
  }

  void stalls() {
    ComparedQuantity one{"stalls", "first stall reason", ""};
    const std::vector<std::string_view>& expected = expected_.first().stall_reasons;
    one.expected_text = fmt::format("{}", fmt::join(expected, ", "));
    const auto first = std::ranges::find_if(context_.stalls, [](const auto& stall) {
      return stall.first != "selected" && stall.first != "not_selected";
    });
    if (expected.empty()) {
      one.reason = "the code does not determine it";
    } else if (!context_.is_trusted || first == context_.stalls.end()) {
      not_measured(one, {"stall_long_scoreboard"});
    } else {
      one.measured_text = fmt::format("{} {:.0f} %", first->first, first->second);
      one.comparison = Comparison::kWithin;
      if (!contains(expected, first->first)) surprise(one, Outside::kAny);
    }
    out_.quantities.push_back(std::move(one));
  }

  const KernelFacts& kernel_;
  const KernelContext& context_;
  const Parameters& parameters_;
  const Platform* platform_;
  const OpValues& op_values_;
  Expected expected_;
  HardwareValues values_;
  ComparedKernel out_;
};

}  // namespace

std::string_view comparison_name(Comparison comparison) {
  switch (comparison) {
    case Comparison::kWithin:
      return "within";
    case Comparison::kSurprise:
      return "surprise";
    case Comparison::kNotComparable:
      return "not comparable";
    case Comparison::kNotMeasured:
      return "not measured";
  }
  return "";
}

ComparedKernel compare_kernel(const KernelFacts& kernel, const KernelContext& context,
                              const Parameters& parameters, const Platform* platform,
                              const OpValues& op_values) {
  return KernelComparer(kernel, context, parameters, platform, op_values).run();
}

std::vector<ComparedKernel> compare_expected(const CodeFacts& code, const KernelMeasures& measures,
                                             const std::vector<KernelContext>& contexts,
                                             const Parameters& parameters, const Platform* platform,
                                             const std::vector<std::optional<LaunchingOp>>& ops,
                                             SourceOutlines* sources) {
  std::vector<ComparedKernel> out;
  for (size_t i = 0; i < contexts.size(); ++i) {
    const KernelContext& context = contexts[i];
    const KernelCode& known = measures.code(context.first);
    if (context.file.empty() || known.quality() == JoinQuality::kNone) continue;
    ComparedKernel one;
    if (known.quality() == JoinQuality::kAmbiguous) {
      one.not_comparable =
          fmt::format("its name fits {} kernels of the code", known.definitions.size());
    } else {
      const KernelFacts& kernel = code.kernels[known.definitions.front()];
      OpValues op_values;
      if (sources != nullptr && i < ops.size() && ops[i]) {
        op_values = [&](const KernelLauncher& launcher) {
          return values_of_op(code, kernel, launcher, *ops[i], *sources);
        };
      }
      one = compare_kernel(kernel, context, parameters, platform, op_values);
    }
    one.kernel = known.definitions.front();
    one.context = i;
    out.push_back(std::move(one));
  }
  return out;
}

ComparedCounts count_compared(const std::vector<ComparedKernel>& kernels) {
  ComparedCounts out;
  for (const ComparedKernel& kernel : kernels) {
    for (const ComparedQuantity& one : kernel.quantities) {
      out.within += one.comparison == Comparison::kWithin;
      out.surprises += one.comparison == Comparison::kSurprise;
      out.not_comparable += one.comparison == Comparison::kNotComparable;
      out.not_measured += one.comparison == Comparison::kNotMeasured;
    }
  }
  return out;
}

}  // namespace fathom
