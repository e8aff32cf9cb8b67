#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/toml_document.h"
#include "plan/plan.h"
#include "plan/plan_file.h"

// Experiments of plan.toml, and what the plan has like them: criteria and surprises.
namespace fathom {

// What is noted while a plan is read.
struct PlanNotes {
  struct Reference {
    int line;
    std::string id, what;
  };

  TomlMistakes mistakes;
  std::set<std::string> ids;          // of experiments
  std::vector<Reference> references;  // to experiments
};

constexpr double kShortestBudget = 0.001, kLargestBudget = 1e300;  // s

// The names of a kind's values, which are the numbers from 0.
template <typename Name>
std::vector<std::string> kind_words(Name name, int count) {
  std::vector<std::string> words;
  for (int i = 0; i < count; ++i) words.emplace_back(name(i));
  return words;
}

// `check`: of the values of record's options; null: they are not checked.
Experiment read_experiment(const TomlValue& table, RecordValueCheck* check, PlanNotes& notes);
Criterion read_criterion(const TomlValue& table, const std::string& what, PlanNotes& notes);
Surprise read_surprise(const TomlValue& table, const std::string& what, PlanNotes& notes);
// A metric that nobody can measure is most often misspelt.
std::string read_metric_id(TomlReader& in, bool needed);

}  // namespace fathom
