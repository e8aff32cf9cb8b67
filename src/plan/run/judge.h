#pragma once

#include <string>
#include <vector>

#include "plan/run/results.h"

// What a plan said beforehand, held against what its runs show.
namespace fathom {

// Why a metric that was asked for has no value.
std::string why_not_measured(const Experiment& experiment, const ConfigurationResult& of,
                             const std::string& id);
// Of the experiment or of the plan.
CriterionResult judge_criterion(const ExperimentResult& result, const Criterion& criterion);
// Adds the configurations in which the surprise happened.
void find_surprise(const Surprise& surprise, const ExperimentResult& result,
                   std::vector<SurpriseResult>& out);

}  // namespace fathom
