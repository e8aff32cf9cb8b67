#include "plan/run/session_drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/count_text.h"
#include "plan/plan_metrics.h"
#include "plan/run/compare_configurations.h"
#include "report/trial/sample_text.h"

namespace fathom {
namespace {

struct SessionRuns {
  size_t session = 0;
  std::vector<double> medians;
};

std::vector<SessionRuns> by_session(const MetricResult& metric) {
  std::map<size_t, std::vector<double>> sessions;
  for (size_t i = 0; i < metric.run_medians.size() && i < metric.run_sessions.size(); ++i) {
    if (metric.run_sessions[i] != 0)
      sessions[metric.run_sessions[i]].push_back(metric.run_medians[i]);
  }
  std::vector<SessionRuns> out;
  for (auto& [session, medians] : sessions) out.push_back({session, std::move(medians)});
  return out;
}

// Whether two sessions measured something else. Under four runs each no test reaches 95 %: then
// they must lie further apart than 5 %, and than three times what the runs of one session do. Of a
// single run nothing is known.
bool sessions_differ(const SessionRuns& first, const SessionRuns& second) {
  if (first.medians.size() < 2 || second.medians.size() < 2) return false;
  if (first.medians.size() >= 4 && second.medians.size() >= 4) {
    const SampleVerdict verdict = compare_samples(first.medians, second.medians).verdict;
    return verdict == SampleVerdict::kLess || verdict == SampleVerdict::kMore;
  }
  const auto [least, most] = std::ranges::minmax(first.medians);
  const auto [other_least, other_most] = std::ranges::minmax(second.medians);
  const double apart = std::max(other_least - most, least - other_most);
  return apart > 0.05 * std::abs(most) &&
         apart > 3 * std::max(most - least, other_most - other_least);
}

}  // namespace

void note_sessions(ConfigurationResult& of) {
  for (const MetricResult& metric : of.metrics) {
    if (interest(metric) < 0 || !metric.subject.empty()) continue;
    const std::vector<SessionRuns> sessions = by_session(metric);
    for (size_t i = 1; i < sessions.size(); ++i) {
      if (!sessions_differ(sessions[0], sessions[i])) continue;
      const PlanMetric* known = find_plan_metric(metric.metric);
      const std::string_view title = known != nullptr ? known->title : metric.metric;
      const auto part = [&](const SessionRuns& one) {
        return fmt::format("{} in session {} ({})",
                           measured_text(summarize_sample(one.medians).p50, metric.unit),
                           one.session, counted(one.medians.size(), "run"));
      };
      of.notes.push_back(
          fmt::format("drift between sessions: median {} is {}, {}. The values above mix both: "
                      "run all repetitions in one session, in a new folder",
                      title, part(sessions[0]), part(sessions[i])));
      return;
    }
  }
}
}  // namespace fathom
