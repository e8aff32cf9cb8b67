#include "plan/run/results.h"

#include "base/ascii.h"
#include "base/glob.h"

namespace fathom {

std::string_view expected_verdict_name(ExpectedVerdict verdict) {
  switch (verdict) {
    case ExpectedVerdict::kConfirmed:
      return "confirmed";
    case ExpectedVerdict::kWithinNoise:
      return "confirmed within noise";
    case ExpectedVerdict::kSurprise:
      return "surprise";
    case ExpectedVerdict::kFirstMeasurement:
      return "first measurement";
    case ExpectedVerdict::kNotMeasured:
      return "not measured";
  }
  return "";
}

std::string_view criterion_verdict_name(CriterionVerdict verdict) {
  switch (verdict) {
    case CriterionVerdict::kMet:
      return "met";
    case CriterionVerdict::kNotMet:
      return "not met";
    case CriterionVerdict::kNotMeasured:
      return "not measured";
    case CriterionVerdict::kByHand:
      return "for the reader";
  }
  return "";
}

const MetricResult* find_metric(const ConfigurationResult& configuration, const std::string& metric,
                                const std::string& subject) {
  const MetricResult* first = nullptr;
  for (const MetricResult& one : configuration.metrics) {
    if (one.metric != metric) continue;
    if (one.subject == subject) return &one;
    if (first == nullptr) first = &one;
  }
  if (subject.empty()) return first;
  const std::string wanted = small_letters(subject);
  const bool is_pattern = wanted.find_first_of("*?") != std::string::npos;
  for (const MetricResult& one : configuration.metrics) {
    if (one.metric != metric || one.subject.empty()) continue;
    const std::string name = small_letters(one.subject);
    if (is_pattern ? glob_matches(wanted, name) : name.find(wanted) != std::string::npos)
      return &one;
  }
  return nullptr;
}

}  // namespace fathom
