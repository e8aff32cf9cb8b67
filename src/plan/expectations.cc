#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/tsv.h"
#include "plan/goal_words.h"
#include "plan/plan_draft.h"
#include "plan/plan_metrics.h"
#include "story/expectation.h"

extern const std::string_view compared_tsv;
extern const std::string_view plan_features_tsv;

namespace fathom {
namespace {

constexpr size_t kMostExpectedKernels = 6;

// Which quantity of an expectation is which metric of a plan, and its row of compared.tsv.
struct QuantityMetric {
  Quantity quantity;
  std::string_view metric, row;
};
constexpr QuantityMetric kQuantityMetrics[] = {
    {Quantity::kTime, "kernel_duration", "time"},
    {Quantity::kDramPercent, "dram_throughput", "dram_percent"},
    {Quantity::kTensorPercent, "tensor_pipe", "tensor_percent"},
    {Quantity::kOccupancy, "occupancy", "occupancy"},
};

double number_of(std::string_view text) {
  double value = 0;
  read_number(text, value);
  return value;
}

// The range widened as a comparison with measured values would widen it.
void widen(std::string_view quantity, double& low, double& high) {
  for (const auto& row : read_tsv(compared_tsv, 7)) {
    if (row[0] != quantity) continue;
    const double floor = number_of(row[6]);
    low = std::max(0.0, low * number_of(row[4]) - floor);
    high = high * number_of(row[5]) + floor;
    if (row[2] == "%") high = std::min(high, 100.0);
  }
}

// Four digits: an estimate has no more.
double rounded(double value) {
  double out = value;
  read_number(fmt::format("{:.4g}", value), out);
  return out;
}

std::string parameter_words(const std::vector<std::string>& parameters) {
  std::string out;
  for (const std::string& one : parameters) out += (out.empty() ? "" : ", ") + one;
  return out;
}

ExpectedObservation observation(std::string_view metric, double low, double high,
                                const std::string& subject) {
  ExpectedObservation out;
  out.metric = metric;
  out.subject = subject;
  out.unit = find_plan_metric(metric)->unit;
  out.low = rounded(low);
  out.high = rounded(high);
  return out;
}

}  // namespace

std::vector<std::string> workload_parameters(const PlanDraft& draft) {
  std::map<std::string, std::string> values;
  for (const uint32_t i : draft.program.options) {
    const OptionFacts& option = draft.facts.options[i];
    std::string name = option.name;
    name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
    std::ranges::replace(name, '-', '_');
    std::string value = option.default_value.value_or("");
    if (const auto given = given_value(draft.program.command, option)) value = *given;
    double number = 0;
    if (!name.empty() && read_number(value, number) && number > 0) values[name] = value;
  }
  for (const std::string& one : draft.input.parameters) {
    const size_t equals = std::min(one.find('='), one.size());
    if (equals < one.size()) values[one.substr(0, equals)] = one.substr(equals + 1);
  }
  std::vector<std::string> out;
  for (const auto& [name, value] : values) out.push_back(name + "=" + value);
  return out;
}

std::vector<ExpectedObservation> expected_of_kernels(const PlanDraft& draft,
                                                     const std::vector<std::string>& parameters,
                                                     const std::string& configuration) {
  std::vector<ExpectedObservation> out;
  const Result<Parameters> given = Parameters::parse(parameters);
  if (!given.ok() || draft.platform == nullptr) return out;
  size_t kernels = 0;
  for (const uint32_t position : draft.kernels) {
    const KernelFacts& kernel = draft.facts.kernels[position];
    const Expectation expected = expect_of(kernel, given.value(), draft.platform);
    const std::string& subject = kernel.profiler_name.empty() ? kernel.name : kernel.profiler_name;
    std::vector<ExpectedObservation> of_kernel;
    const std::string source = fmt::format(
        "estimated from source ({}) for {}, {}", draft.place({kernel.at.file, kernel.line_name}),
        draft.platform->name, parameters.empty() ? "no parameters" : parameter_words(parameters));
    for (const QuantityMetric& wanted : kQuantityMetrics) {
      const auto found = std::ranges::find(expected.counters, wanted.quantity, &Estimate::quantity);
      if (found == expected.counters.end() || !found->known()) continue;
      double low = *found->low, high = *found->high;
      widen(wanted.row, low, high);
      of_kernel.push_back(observation(wanted.metric, low, high, subject));
    }
    const auto read =
        std::ranges::find(expected.traffic, Quantity::kBytesRead, &Estimate::quantity);
    const auto written =
        std::ranges::find(expected.traffic, Quantity::kBytesWritten, &Estimate::quantity);
    if (read != expected.traffic.end() && written != expected.traffic.end() && read->known() &&
        written->known()) {
      double low = *read->low, high = *read->high, low2 = *written->low, high2 = *written->high;
      widen("bytes_read", low, high);
      widen("bytes_written", low2, high2);
      of_kernel.push_back(observation("dram_bytes", low + low2, high + high2, subject));
    }
    if (of_kernel.empty()) continue;
    for (ExpectedObservation& one : of_kernel) {
      one.source = source;
      one.configuration = configuration;
      out.push_back(std::move(one));
    }
    if (++kernels == kMostExpectedKernels) break;
  }
  return out;
}

FeatureQuestion feature_question(std::string_view feature) {
  for (const auto& row : read_tsv(plan_features_tsv, 8)) {
    if (row[0] == feature) return {row[1], row[2], row[3], row[4], row[5], row[6], row[7]};
  }
  return {};
}

std::vector<ExpectedObservation> expected_of_features(const PlanDraft& draft) {
  std::vector<ExpectedObservation> out;
  for (const uint32_t position : draft.features) {
    const FeatureFacts& feature = draft.facts.features[position];
    const FeatureQuestion question = feature_question(feature.id);
    if (question.below.empty() && question.above.empty()) continue;
    if (!draft.tracks(question.metric)) continue;
    const PlanMetric& metric = *find_plan_metric(question.metric);
    if (std::ranges::find(out, metric.id, &ExpectedObservation::metric) != out.end()) continue;
    if (metric.level == Level::kHardware && !draft.amd && !counters_on(metric, draft.chip).exists())
      continue;
    ExpectedObservation one;
    one.metric = metric.id;
    one.unit = metric.unit;
    if (!question.below.empty()) one.low = number_of(question.below);
    if (!question.above.empty()) one.high = number_of(question.above);
    one.source = fmt::format("{} ({}): {}", feature.title,
                             feature.evidence.empty() ? "" : draft.place(feature.evidence[0].at),
                             metric.how);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace fathom
