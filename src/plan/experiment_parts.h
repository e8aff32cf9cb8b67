#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan_draft.h"

// What the experiments of a plan are put together from.
namespace fathom {

inline constexpr int64_t kRepetitions = kRepetitionsForInterval, kWarmup = 1;

// With the program's command, the next id and the limits of such a program.
Experiment begin_experiment(const PlanDraft& draft, ExperimentKind kind, std::string name);

// What the code makes expect; without a feature, that nothing does.
std::string hypothesis_of(const PlanDraft& draft, const FeatureFacts* feature);

// Options of a recording of the timeline, with what the tracked metrics need.
std::vector<std::string> timeline_options(const PlanDraft& draft);
// Probes and log patterns.
void add_watched(const PlanDraft& draft, std::vector<std::string>& options);
// Of one feature only: watching costs time, and a sweep is about one thing.
void add_watched_of(const PlanDraft& draft, const FeatureFacts* feature,
                    std::vector<std::string>& options);

void expect(Experiment& experiment, std::string_view metric, std::optional<double> low,
            std::optional<double> high, std::string source);
void expect_unknown(Experiment& experiment, std::string_view metric);
// Every tracked metric of these levels: as a model or a feature expects it, or unknown.
void expect_tracked(const PlanDraft& draft, Experiment& experiment,
                    const std::vector<Level>& levels);

// An experiment for each option that is to be varied (sweep_experiments.cc).
void write_sweeps(PlanDraft& draft);

}  // namespace fathom
