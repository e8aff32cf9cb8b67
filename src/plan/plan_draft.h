#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plan/goal.h"
#include "plan/make_plan.h"
#include "plan/plan.h"
#include "plan/program.h"
#include "plan/program_sources.h"
#include "platform/platform.h"

namespace fathom {

// Fewer runs give no interval of the median at 95 %, so "known to 5 %" cannot be met.
inline constexpr int64_t kRepetitionsForInterval = 6;

// Of this project: sends requests to an OpenAI-compatible server and prints what the client sees.
inline constexpr const char* kLoadScript = "examples/serving/load.py";

// A metric that is to be tracked, with its reason.
struct Tracked {
  std::string metric;
  std::string why;
  std::string where;    // file:line of what makes it worth tracking; may be empty
  uint32_t others = 0;  // further reasons
};

// A row of data/plan/programs.tsv.
struct ProgramKind {
  std::string_view name;
  std::vector<std::string_view> features, metrics, phases;
};

// A plan in the making: what every step reads.
// A function that is probed for what it tells of a phase or feature.
struct ProbedFor {
  std::string probe;
  SubjectKind kind = SubjectKind::kPhase;
  std::string id;  // the phase's name, the feature's id
  bool operator==(const ProbedFor&) const = default;
};

struct PlanDraft {
  explicit PlanDraft(const PlanInput& made_from)
      : input(made_from), facts(*made_from.facts), platform(made_from.platform) {}

  const PlanInput& input;
  const CodeFacts& facts;
  const Platform* platform = nullptr;
  std::string_view chip;  // empty: unknown, or no NVIDIA GPU
  bool amd = false;
  bool gpu = false;                     // the program has GPU work
  bool host_in_gpu_repository = false;  // it has none, but the repository has
  bool general = false;                 // the goal names no feature, kernel or phase
  ReadGoal goal;
  ProgramKind kind;
  ProgramSources sources;
  Program program;
  std::vector<uint32_t> features;  // what the experiments are about, positions in the facts
  std::vector<uint32_t> kernels;
  std::vector<Tracked> tracked;                   // each metric once
  std::vector<std::string> probes, log_patterns;  // what the recordings use
  std::vector<ProbedFor> probed_for;
  Plan plan;

  bool tracks(std::string_view metric) const;
  bool may_use(std::string_view record_option) const;
  bool has_feature(std::string_view id) const;  // the repository has it
  bool is_probed_for(const Requirement& row, SubjectKind of, const std::string& id) const {
    return !row.names.empty() &&
           std::ranges::find(probed_for, ProbedFor{row.names[0], of, id}) != probed_for.end();
  }
  std::string place(const CodePlace& at) const { return code_place_text(facts, at); }
};

// The steps of make_plan, in order.
void choose_tracked(PlanDraft& draft);       // requirements.cc
void write_requirements(PlanDraft& draft);   // requirements.cc: rows of the three tables
void write_experiments(PlanDraft& draft);    // experiments.cc
void write_environment(PlanDraft& draft);    // plan_environment.cc
void fit_budget(PlanDraft& draft);           // budget.cc: gives the ids
void assign_requirements(PlanDraft& draft);  // requirements.cc: which experiment measures what
// plan_sections.cc
void interpret(PlanDraft& draft);
void write_analysis(PlanDraft& draft);
void write_success(PlanDraft& draft);
void write_surprises(PlanDraft& draft);
void write_open(PlanDraft& draft);

// What a kernel is expected to show with these parameters, and what features promise.
std::vector<ExpectedObservation> expected_of_kernels(const PlanDraft& draft,
                                                     const std::vector<std::string>& parameters,
                                                     const std::string& configuration);
std::vector<ExpectedObservation> expected_of_features(const PlanDraft& draft);
// NAME=VALUE of the program's options: their defaults, and what the command says.
std::vector<std::string> workload_parameters(const PlanDraft& draft);

// A row of data/plan/features.tsv; fields are empty where there is none.
struct FeatureQuestion {
  std::string_view question, surprise, metric, below, above, look_at, chips;
};
FeatureQuestion feature_question(std::string_view feature);
// Those that decide how a phase runs, the most telling first (data/plan/phases.tsv).
std::vector<std::string_view> phase_features(std::string_view phase);

}  // namespace fathom
