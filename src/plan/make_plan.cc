#include "plan/make_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/closest_names.h"
#include "base/count_text.h"
#include "base/tsv.h"
#include "base/utf8.h"
#include "plan/goal_words.h"
#include "plan/plan_draft.h"
#include "plan/plan_metrics.h"
#include "plan/ranks.h"
#include "scan/files/source_text.h"
#include "story/parameters.h"

extern const std::string_view plan_programs_tsv;
extern const std::string_view plan_questions_tsv;

namespace fathom {
namespace {

constexpr size_t kMostFeatures = 6, kMostPlanKernels = 6, kMostQuestions = 8;

// Features that only GPU programs have.
bool is_gpu_feature(const FeatureFacts& feature) {
  for (const MetricFacts& metric : feature.metrics) {
    if (metric.level == "hardware") return true;
  }
  return !feature.kernels.empty();
}

bool has_gpu_packages(const CodeFacts& facts) {
  return std::ranges::any_of(facts.dependencies, [](const DependencyFacts& one) {
    for (const std::string_view name : {"torch", "pytorch", "jax", "cupy", "triton", "cuda-python",
                                        "vllm", "flashinfer", "flashinfer-python", "flash-attn"}) {
      if (one.name == name) return true;
    }
    return false;
  });
}

bool has_gpu_work(const CodeFacts& facts) {
  const bool own = std::ranges::any_of(facts.kernels, [&](const KernelFacts& kernel) {
    return facts.files[kernel.at.file].origin == Origin::kOwn;
  });
  // Without kernels of its own: techniques that run on a GPU, and a package that brings them along.
  return own || (has_gpu_packages(facts) && std::ranges::any_of(facts.features, is_gpu_feature));
}

// `only`: of this kind alone, where the repository is of it; empty: the first that fits.
ProgramKind kind_of_program(const CodeFacts& facts, bool gpu, std::string_view only = {}) {
  ProgramKind kind;
  for (const auto& row : read_tsv(plan_programs_tsv, 5)) {
    const auto has = [&](std::string_view need) {
      if (need == "-") return true;
      if (need == "gpu") return gpu;
      if (need == "kernels") return gpu && !facts.kernels.empty();
      return gpu && std::ranges::find(facts.components, need, &ComponentFacts::id) !=
                        facts.components.end();
    };
    // A serving engine has a scheduler and a server; a library with a demo server has not.
    const std::vector<std::string_view> needs = split(row[1], ' ');
    const bool fits =
        row[0] == "serving" ? std::ranges::all_of(needs, has) : std::ranges::any_of(needs, has);
    if (!fits || (!only.empty() && row[0] != only)) continue;
    kind.name = row[0];
    kind.features = split(row[2], ' ');
    kind.metrics = split(row[3], ' ');
    kind.phases = split(row[4], ' ');
    return kind;
  }
  return kind;
}

void add_position(std::vector<uint32_t>& list, uint32_t position, size_t most) {
  if (list.size() < most && std::ranges::find(list, position) == list.end())
    list.push_back(position);
}

// A technique of another chip: Blackwell's tensor cores on an H200.
bool runs_on(const PlanDraft& draft, const FeatureFacts& feature) {
  const std::string_view chips = feature_question(feature.id).chips;
  if (chips.empty() || (draft.chip.empty() && !draft.amd)) return true;
  const std::vector<std::string_view> known = split(chips, ' ');
  return std::ranges::find(known, draft.amd ? std::string_view("gfx") : draft.chip) != known.end();
}

// Whether a technique is of the kernels that the goal names: in their files or folders. True where
// it names none.
bool is_near_kernels(const PlanDraft& draft, const FeatureFacts& feature) {
  if (draft.goal.kernels.empty()) return true;
  for (const uint32_t position : draft.goal.kernels) {
    const std::string& path = draft.facts.files[draft.facts.kernels[position].at.file].path;
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    for (const RuleEvidence& evidence : feature.evidence) {
      if (draft.facts.files[evidence.at.file].path.starts_with(folder)) return true;
    }
  }
  return false;
}

// What the goal names; where it names nothing in particular, what tells most of such a program.
void choose_features(PlanDraft& draft) {
  for (const uint32_t feature : draft.goal.features)
    add_position(draft.features, feature, kMostFeatures);
  // Components stand for the features whose evidence lies in their files.
  for (const std::string& id : draft.goal.components) {
    const auto component = std::ranges::find(draft.facts.components, id, &ComponentFacts::id);
    if (component == draft.facts.components.end()) continue;
    const std::set<uint32_t> files(component->files.begin(), component->files.end());
    for (uint32_t i = 0; i < draft.facts.features.size() && draft.features.size() < 3; ++i) {
      const FeatureFacts& feature = draft.facts.features[i];
      if (!feature.evidence.empty() && files.contains(feature.evidence[0].at.file))
        add_position(draft.features, i, 3);
    }
  }
  // A phase stands for the features that decide how it runs, where the goal names none.
  const bool by_phase = draft.features.empty() && draft.goal.kernels.empty();
  for (const std::string& phase : by_phase ? draft.goal.phases : std::vector<std::string>{}) {
    size_t taken = 0;
    for (const std::string_view id : phase_features(phase)) {
      const auto found = std::ranges::find(draft.facts.features, id, &FeatureFacts::id);
      if (found == draft.facts.features.end() || !runs_on(draft, *found) || taken == 3) continue;
      ++taken;
      add_position(draft.features, static_cast<uint32_t>(found - draft.facts.features.begin()),
                   kMostFeatures);
    }
  }
  const bool named =
      !draft.features.empty() || !draft.goal.kernels.empty() || !draft.goal.phases.empty();
  draft.general = draft.goal.whole_project || draft.goal.all_kernels || !named;
  if (!draft.general) return;
  for (const std::string_view id : draft.kind.features) {
    const auto found = std::ranges::find(draft.facts.features, id, &FeatureFacts::id);
    if (found == draft.facts.features.end()) continue;
    if (!runs_on(draft, *found) || !is_near_kernels(draft, *found)) continue;
    // Metrics that the goal names stand for the features that make them worth tracking.
    const bool tracks_asked = std::ranges::any_of(found->metrics, [&](const MetricFacts& metric) {
      return std::ranges::find(draft.goal.metrics, metric.id) != draft.goal.metrics.end();
    });
    const bool of_metrics = !draft.goal.metrics.empty() && !draft.goal.all_kernels;
    if (of_metrics && !tracks_asked) continue;
    const size_t most = of_metrics ? 3 : kMostFeatures;
    add_position(draft.features, static_cast<uint32_t>(found - draft.facts.features.begin()), most);
  }
}

void choose_kernels(PlanDraft& draft) {
  for (const uint32_t kernel : draft.goal.kernels)
    add_position(draft.kernels, kernel, kMostPlanKernels);
  for (const uint32_t position : draft.features) {
    for (const uint32_t kernel : draft.facts.features[position].kernels) {
      if (!draft.facts.kernels[kernel].dead) add_position(draft.kernels, kernel, kMostPlanKernels);
    }
  }
  const bool all = draft.general || draft.kernels.empty();
  if (!all) return;
  std::vector<uint32_t> launched;
  for (uint32_t i = 0; i < draft.facts.kernels.size(); ++i) {
    const KernelFacts& kernel = draft.facts.kernels[i];
    if (!kernel.dead && !kernel.launchers.empty() &&
        draft.facts.files[kernel.at.file].origin == Origin::kOwn)
      launched.push_back(i);
  }
  rank_kernels(draft.facts, launched, true);
  for (const uint32_t i : launched) add_position(draft.kernels, i, kMostPlanKernels);
}

// A main of C++ in a repository with kernels that neither holds nor reaches one: a benchmark of a
// data structure on the CPU. Goals that name kernels or counters want the GPU all the same.
bool runs_on_host(const PlanDraft& draft) {
  if (draft.goal.host_only) return true;
  const Program& program = draft.program;
  if (!program.entry || !program.file || !draft.goal.kernels.empty() || draft.goal.all_kernels)
    return false;
  for (const std::string& metric : draft.goal.metrics) {
    if (find_plan_metric(metric)->level == Level::kHardware) return false;
  }
  const EntryPoint& entry = draft.facts.entry_points[*program.entry];
  const std::vector<SourceFile>& files = draft.facts.files;
  if (entry.kind != EntryKind::kCppMain || files[*program.file].language != Language::kCpp)
    return false;
  std::set<uint32_t> own(program.sources.begin(), program.sources.end());
  own.insert(*program.file);
  const auto folder_of_file = [&](uint32_t file) {
    return std::string_view(files[file].path).substr(0, files[file].path.rfind('/') + 1);
  };
  // Without a build file: what lies beside it is linked with it.
  const bool by_folder = program.sources.empty();
  const auto belongs = [&](uint32_t file) {
    return own.contains(file) ||
           (by_folder && folder_of_file(file) == folder_of_file(*program.file));
  };
  for (uint32_t i = 0; i < files.size(); ++i) {
    const bool is_gpu = files[i].language == Language::kCuda || files[i].language == Language::kHip;
    if (is_gpu && belongs(i)) return false;
  }
  for (const KernelFacts& kernel : draft.facts.kernels) {
    if (belongs(kernel.at.file)) return false;
    for (const KernelLauncher& launcher : kernel.launchers) {
      if (belongs(launcher.at.file)) return false;
    }
  }
  return std::ranges::none_of(draft.facts.request_paths, [&](const RequestPath& path) {
    return path.kernels_reached > 0 && !path.hops.empty() && path.hops[0].at.file == *program.file;
  });
}

// The files whose log lines and functions may matter: the program's, those of the features and of
// the parts that run requests or steps.
std::vector<uint32_t> files_to_read(const PlanDraft& draft) {
  std::vector<uint32_t> files;
  std::set<uint32_t> seen;
  const auto add = [&](uint32_t file) {
    if (seen.insert(file).second) files.push_back(file);
  };
  for (const EntryPoint& entry : draft.facts.entry_points) {
    const bool runs = entry.kind == EntryKind::kMain || entry.kind == EntryKind::kBenchmark ||
                      entry.kind == EntryKind::kCppMain || entry.kind == EntryKind::kExample;
    if (runs && files.size() < kMaxPlanFiles / 4) add(entry.at.file);
  }
  for (const uint32_t position : draft.features) {
    for (const RuleEvidence& evidence : draft.facts.features[position].evidence)
      add(evidence.at.file);
  }
  for (const RequestPath& path : draft.facts.request_paths) {
    for (const RequestHop& hop : path.hops) {
      if (files.size() < kMaxPlanFiles / 2) add(hop.at.file);
    }
  }
  for (const std::string_view id :
       {"scheduler", "kv_cache", "engine", "training_loop", "sampling", "tokenisation", "server",
        "speculation", "jit", "attention", "communication", "data_loading", "moe", "autotuner"}) {
    const auto found = std::ranges::find(draft.facts.components, id, &ComponentFacts::id);
    if (found == draft.facts.components.end()) continue;
    for (const uint32_t file : found->files) add(file);
  }
  return files;
}

// "at batch 512": every run has it.
void set_given_numbers(PlanDraft& draft) {
  for (const uint32_t position : draft.program.options) {
    const std::vector<std::string> numbers = draft.goal.numbers_of(position);
    if (numbers.size() != 1) continue;
    const OptionFacts& option = draft.facts.options[position];
    draft.program.command = without_option(draft.program.command, option);
    draft.program.command.insert(draft.program.command.end(), {option.name, numbers[0]});
  }
}

void interpret(PlanDraft& draft) {
  auto& questions = draft.plan.goal.interpreted;
  const auto add = [&](std::string text) {
    if (questions.size() < kMostQuestions && std::ranges::find(questions, text) == questions.end())
      questions.push_back(std::move(text));
  };
  const std::string gpu = draft.platform != nullptr ? draft.platform->name : "the GPU";
  for (const uint32_t position : draft.goal.kernels) {
    const KernelFacts& kernel = draft.facts.kernels[position];
    add(fmt::format("What limits {} ({}), and how far is it from the limit of {}?", kernel.name,
                    draft.place({kernel.at.file, kernel.line_name}), gpu));
  }
  for (const std::string& phase : draft.goal.phases)
    add(fmt::format(
        "Which kernels does {} run, how long does one {} step take, and what limits it?", phase,
        phase));
  for (const uint32_t position : draft.features) {
    const FeatureFacts& feature = draft.facts.features[position];
    const FeatureQuestion known = feature_question(feature.id);
    add(fmt::format("{}: {}", feature.title,
                    known.question.empty() ? "what does it cost? " + feature.concern
                                           : std::string(known.question)));
  }
  for (const std::string& metric : draft.goal.metrics) {
    if (!draft.tracks(metric)) continue;
    add(fmt::format(
        "{}: how large is it over the run, not only on average, and what does it depend on?",
        find_plan_metric(metric)->title));
  }
  if (draft.goal.asks(Question::kRegression))
    add("Which kernels, how many launches and how much idle time differ between the two versions?");
  if (questions.empty()) {
    add(draft.gpu ? "Where does the time go: which kernels, which idle time, what on the host?"
                  : "Where does the time go on the CPU, and how much memory is used?");
  }
  for (const uint32_t position : draft.features) {
    const FeatureFacts& feature = draft.facts.features[position];
    std::string metrics;
    size_t listed = 0;
    for (const MetricFacts& metric : feature.metrics) {
      if (!draft.tracks(metric.id) || listed == 4) continue;
      metrics += (listed++ > 0 ? ", " : "") + metric.title;
    }
    if (metrics.empty()) continue;
    draft.plan.goal.informed_by.push_back(
        {feature.title, metrics,
         feature.evidence.empty() ? "" : draft.place(feature.evidence[0].at)});
  }
  for (const Requirement& row : draft.plan.requirements) {
    const auto phase = std::ranges::find_if(draft.goal.phases, [&](const std::string& name) {
      return row.metric == "function_time" && row.title.starts_with(name + ": ");
    });
    if (phase != draft.goal.phases.end() && !row.names.empty())
      draft.plan.goal.informed_by.push_back({"phase " + *phase, row.names[0], row.where});
  }
}

void write_analysis(PlanDraft& draft) {
  auto& steps = draft.plan.analysis;
  const auto id_of = [&](ExperimentKind kind) -> std::string {
    for (const Experiment& one : draft.plan.experiments) {
      if (one.kind == kind) return one.id;
    }
    return "";
  };
  const std::string baseline = id_of(ExperimentKind::kBaseline);
  const std::string counters = id_of(ExperimentKind::kCounters);
  const std::string stalls = id_of(ExperimentKind::kStalls);
  if (!baseline.empty() && !draft.amd) {
    steps.push_back(
        fmt::format("Extract phases, kernels and idle time: fathom analyze {0}.capture; the "
                    "execution story: fathom "
                    "story {0}.capture.",
                    baseline));
  } else if (!baseline.empty()) {
    steps.push_back(
        fmt::format("Extract kernels and idle time: fathom analyze TRACE, with the trace that "
                    "rocprofv3 wrote in {}.",
                    baseline));
  }
  if (!counters.empty() && !draft.amd) {
    steps.push_back(fmt::format(
        "Compare counters with what the code makes expect: fathom scan {} --counters {}.capture.",
        draft.plan.repository, counters));
  }
  if (!stalls.empty())
    steps.push_back(
        fmt::format("Rank stall reasons by source line: fathom analyze {}.capture, "
                    "stall_samples.csv.",
                    stalls));
  for (const Experiment& one : draft.plan.experiments) {
    if (one.configurations.size() < 2) continue;
    std::string names;
    for (const Configuration& configuration : one.configurations)
      names += (names.empty() ? "" : ", ") + configuration.name;
    steps.push_back(
        fmt::format("Compare {} ({}): medians with confidence intervals; a difference below the "
                    "noise is no difference.",
                    one.id, names));
    const bool numbers =
        std::ranges::all_of(one.configurations, [](const Configuration& configuration) {
          double number = 0;
          return !configuration.settings.empty() &&
                 read_number(configuration.settings[0].second, number);
        });
    if (numbers && one.configurations.size() > 2)
      steps.push_back(fmt::format("Fit time against {} in {} and look at the residuals.",
                                  one.configurations[0].settings[0].first, one.id));
  }
  if (!draft.features.empty()) {
    const FeatureFacts& feature = draft.facts.features[draft.features[0]];
    steps.push_back(fmt::format(
        "Correlate each feature with the hardware: {} at {} beside its metrics, and so on for the "
        "others.",
        feature.title, feature.evidence.empty() ? "" : draft.place(feature.evidence[0].at)));
  }
  steps.emplace_back(
      "Stop when the success criteria are met, or when a surprise contradicts a hypothesis: then "
      "plan again.");
}

void write_success(PlanDraft& draft) {
  // A question is answered when the metrics that it needs were measured.
  const auto measured_by = [&](std::string_view metric) -> std::string {
    for (const Requirement& row : draft.plan.requirements) {
      if (row.metric == metric && !row.experiments.empty()) return row.experiments[0];
    }
    return "";
  };
  auto& success = draft.plan.success;
  for (const uint32_t position : draft.features) {
    const FeatureFacts& feature = draft.facts.features[position];
    for (const MetricFacts& metric : feature.metrics) {
      const std::string experiment = measured_by(metric.id);
      if (experiment.empty()) continue;
      const FeatureQuestion known = feature_question(feature.id);
      success.push_back(
          {CriterionKind::kMeasured,
           fmt::format("Answered: {}: {}", feature.title,
                       known.question.empty() ? feature.concern : std::string(known.question)),
           experiment, metric.id, "", std::nullopt, ""});
      break;
    }
  }
  for (const uint32_t position : draft.goal.kernels) {
    const std::string experiment = measured_by("sm_throughput");
    if (experiment.empty()) break;
    const KernelFacts& kernel = draft.facts.kernels[position];
    success.push_back(
        {CriterionKind::kMeasured, fmt::format("Identified: what limits {}", kernel.name),
         experiment, "sm_throughput",
         kernel.profiler_name.empty() ? kernel.name : kernel.profiler_name, std::nullopt, ""});
  }
  for (const std::string& metric : draft.goal.metrics) {
    const std::string experiment = measured_by(metric);
    if (experiment.empty()) continue;
    success.push_back({CriterionKind::kMeasured,
                       fmt::format("Answered: {}", find_plan_metric(metric)->title), experiment,
                       metric, "", std::nullopt, ""});
  }
  for (const GoalConstraint& constraint : draft.goal.reading.constraints) {
    double tolerance = 0;
    if (constraint.kind != ConstraintKind::kAccuracy || !read_number(constraint.value, tolerance))
      continue;
    success.push_back({CriterionKind::kAtMost,
                       fmt::format("Results stay as asked: {}", constraint.said), "", "accuracy",
                       "", tolerance, "error"});
  }
  if (success.empty() && !draft.plan.experiments.empty()) {
    const Experiment& last = draft.plan.experiments.back();
    success.push_back({CriterionKind::kMeasured, "Answered: " + draft.plan.goal.interpreted[0],
                       last.id, "wall_time", "", std::nullopt, ""});
  }
}

void write_surprises(PlanDraft& draft) {
  for (const uint32_t position : draft.features) {
    const FeatureFacts& feature = draft.facts.features[position];
    const FeatureQuestion known = feature_question(feature.id);
    if (known.surprise.empty() || !draft.tracks(known.metric)) continue;
    const PlanMetric& metric = *find_plan_metric(known.metric);
    if (metric.level == Level::kHardware && !draft.amd && !counters_on(metric, draft.chip).exists())
      continue;
    Surprise surprise;
    surprise.text = fmt::format("{}: {}", feature.title, known.surprise);
    surprise.look_at = known.look_at;
    surprise.metric = known.metric;
    surprise.unit = metric.unit;
    double number = 0;
    if (read_number(known.below, number)) surprise.below = number;
    if (read_number(known.above, number)) surprise.above = number;
    draft.plan.surprises.push_back(std::move(surprise));
  }
  const bool estimated = std::ranges::any_of(draft.plan.experiments, [](const Experiment& one) {
    return std::ranges::any_of(one.expected, [](const ExpectedObservation& expected) {
      return expected.metric == "kernel_duration" && expected.low;
    });
  });
  if (estimated) {
    draft.plan.surprises.push_back(
        {"A kernel is outside the time estimated from its source.",
         "bytes moved against bytes expected: fathom scan --counters names the "
         "likeliest reason",
         "kernel_duration", "", std::nullopt, std::nullopt, "s"});
  }
}

// The goal's words for the hardware against the platform that the plan is for.
void tell_platform(const PlanDraft& draft, std::vector<std::string>& open) {
  const std::string planned = draft.platform != nullptr ? draft.platform->name : "";
  for (const std::string& name : draft.goal.ambiguous) {
    if (planned.empty())
      open.push_back(fmt::format(
          "'{}' is several platforms; give --platform (fathom platforms lists them).", name));
    else if (!squashed(planned).starts_with(squashed(name)))
      open.push_back(
          fmt::format("The goal names {}; the plan is for {}, the platform given.", name, planned));
  }
  if (!draft.goal.platform.empty() && !planned.empty() && draft.goal.platform != planned)
    open.push_back(fmt::format("The goal names {}; the plan is for {}, the platform given.",
                               draft.goal.platform, planned));
}

void write_open(PlanDraft& draft) {
  auto& open = draft.plan.open;
  const GoalReading& goal = draft.goal.reading;
  if (!draft.goal.understood) open.insert(open.begin(), kNothingUnderstood);
  if (!goal.unread.empty()) {
    std::string words;
    for (const std::string& word : goal.unread) words += (words.empty() ? "" : ", ") + word;
    open.push_back("Not understood in the goal, and not used: " + words);
  }
  for (const std::string& title : draft.goal.absent)
    open.push_back(
        fmt::format("The goal names {}; the scan found nothing of it in the code.", title));
  for (const std::string& said : draft.goal.impossible)
    open.push_back(
        fmt::format("The limit '{}' is no time that runs can take: it is ignored.", said));
  tell_platform(draft, open);
  if (draft.gpu && draft.platform == nullptr)
    open.emplace_back(
        "The GPU is unknown: counters are those that all chips have, and nothing is estimated.");
  if (draft.host_in_gpu_repository)
    open.push_back(
        draft.goal.host_only
            ? std::string("The goal is about the CPU: no GPU work is expected or recorded.")
            : fmt::format("{} has no GPU code: the plan measures CPU time and memory only. "
                          "For the kernels, name one in the goal.",
                          draft.facts.files[*draft.program.file].path));
  else if (!draft.gpu)
    open.emplace_back(
        "No GPU code was found in this repository: no kernel and no GPU library with a technique "
        "that the "
        "scan knows. The plan measures CPU time and memory only.");
  if (draft.goal.kernels_named > draft.goal.kernels.size())
    open.push_back(fmt::format("{} kernels fit the goal's words; the first {} are planned for.",
                               draft.goal.kernels_named, draft.goal.kernels.size()));
  if (!draft.program.found()) {
    open.emplace_back(
        "No program to run was found: no entry point and no documented command. Give one with "
        "--command.");
  } else if (std::ranges::any_of(draft.program.command, is_placeholder)) {
    open.push_back("The command is not complete: " + draft.program.prepare);
  }
  if (draft.goal.asks(Question::kComparison)) {
    const bool compares = std::ranges::any_of(draft.plan.experiments, [](const Experiment& one) {
      return one.configurations.size() > 1;
    });
    if (!compares && draft.goal.kernels.size() < 2)
      open.emplace_back(
          "What to compare with? No option of the program has the alternatives: add configurations "
          "to "
          "plan.toml, or compare commands with fathom bench.");
  }
}

// Text of a repository may be of any bytes and any length; a plan's is read back as it is.
void clean(std::string& text) {
  constexpr size_t kLongestText = 1000;
  text = cut_to_bytes(with_valid_utf8(text), kLongestText);
  std::ranges::replace(text, '\0', ' ');
}
void clean_all(std::vector<std::string>& texts) {
  for (std::string& text : texts) clean(text);
}
void clean_rows(std::vector<EnvironmentRow>& rows) {
  for (EnvironmentRow& row : rows) {
    clean(row.what);
    clean(row.value);
    clean(row.source);
  }
}
void clean_plan(Plan& plan) {
  std::ranges::replace(plan.goal.original, '\0', ' ');
  clean_all(plan.goal.interpreted);
  clean_all(plan.goal.unread);
  for (GoalSubject& one : plan.goal.subjects) {
    for (std::string* text : {&one.id, &one.title, &one.said, &one.where}) clean(*text);
  }
  for (GoalConstraint& one : plan.goal.constraints) clean(one.said);
  for (InformedBy& one : plan.goal.informed_by) {
    for (std::string* text : {&one.feature, &one.metric, &one.where}) clean(*text);
  }
  clean_rows(plan.environment.rows);
  clean_rows(plan.environment.fixed);
  clean_rows(plan.environment.varied);
  for (Requirement& one : plan.requirements) {
    for (std::string* text : {&one.title, &one.why, &one.how, &one.where}) clean(*text);
    clean_all(one.names);
  }
  for (Experiment& one : plan.experiments) {
    for (std::string* text : {&one.name, &one.purpose, &one.hypothesis, &one.prepare, &one.folder})
      clean(*text);
    for (std::string& word : one.command) word = with_valid_utf8(word);
    clean_all(one.record);
    for (Configuration& configuration : one.configurations) {
      clean(configuration.name);
      clean_all(configuration.arguments);
      for (auto* list : {&configuration.environment, &configuration.settings}) {
        for (auto& [name, value] : *list) {
          clean(name);
          clean(value);
        }
      }
    }
    for (ExpectedObservation& expected : one.expected) {
      for (std::string* text : {&expected.subject, &expected.configuration, &expected.source})
        clean(*text);
    }
    for (Criterion& criterion : one.success) clean(criterion.text);
  }
  clean_all(plan.analysis);
  for (Criterion& one : plan.success) {
    clean(one.text);
    clean(one.subject);
  }
  for (Surprise& one : plan.surprises) clean(one.text);
  clean_all(plan.left_out);
  clean_all(plan.open);
}

void find_chip(PlanDraft& draft) {
  if (draft.platform == nullptr || !draft.gpu) return;
  draft.amd = draft.platform->vendor == "AMD";
  draft.chip = chip_of(draft.platform->architecture);
}

// Whether a kernel's file has the name: any of the code may be given, also where no launch uses it.
bool is_in_kernel_files(const PlanInput& input, const std::string& name) {
  constexpr size_t kMostRead = 200;
  constexpr uint64_t kLargestRead = 1 << 20;
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::set<uint32_t> read;
  for (const KernelFacts& kernel : input.facts->kernels) {
    if (read.size() == kMostRead) return false;
    if (!read.insert(kernel.at.file).second) continue;
    const Result<std::string> text =
        read_source_text(input.root / input.facts->files[kernel.at.file].path, kLargestRead);
    if (!text.ok()) continue;
    const std::string& code = text.value();
    for (size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
      const size_t end = at + name.size();
      if ((at == 0 || !is_letter(code[at - 1])) && (end == code.size() || !is_letter(code[end])))
        return true;
    }
  }
  return false;
}

// A name that neither the code nor data/stories has changes no expected number: it is misspelt.
Status check_parameters(const Parameters& given, const PlanInput& input) {
  const CodeFacts& facts = *input.facts;
  for (const std::string& name : given.unused_in(facts)) {
    std::vector<std::string> known = Parameters::known_in(facts);
    bool is_option = false;
    for (const OptionFacts& option : facts.options) {
      std::string plain = option.name;
      plain.erase(0, std::min(plain.find_first_not_of('-'), plain.size()));
      std::ranges::replace(plain, '-', '_');
      is_option = is_option || plain == name;
      known.push_back(std::move(plain));
    }
    if (is_option || is_in_kernel_files(input, name)) continue;
    std::ranges::sort(known);
    known.erase(std::ranges::unique(known).begin(), known.end());
    const std::vector<std::string> close = closest_names(name, known, 3);
    std::string names;
    for (const std::string& one : close) names += (names.empty() ? "'" : ", '") + one + "'";
    return Error{
        fmt::format("--param {}: no launch, parameter or option of the code has this name{}", name,
                    names.empty() ? "; fathom scan lists the parameters of each kernel"
                                  : "; closest: " + names)};
  }
  return Nothing{};
}

}  // namespace

Result<Plan> make_plan(const PlanInput& input) {
  const Parameters parameters = TRY(Parameters::parse(input.parameters));
  TRY(check_parameters(parameters, input));
  PlanDraft draft(input);
  draft.goal = read_goal(input.goal, draft.facts);
  if (draft.platform == nullptr && !draft.goal.platform.empty()) {
    const Result<const Platform*> named = Platforms::built_in().find(draft.goal.platform);
    if (named.ok()) draft.platform = named.value();
  }
  draft.gpu = has_gpu_work(draft.facts);
  find_chip(draft);
  draft.plan.project = with_valid_utf8(draft.facts.repository);
  draft.plan.repository = with_valid_utf8(input.repository);
  draft.plan.goal = draft.goal.reading;
  // "the kernels" of a repository that also trains or serves.
  if (draft.goal.all_kernels) draft.kind = kind_of_program(draft.facts, draft.gpu, "kernels");
  if (draft.kind.name.empty()) draft.kind = kind_of_program(draft.facts, draft.gpu);
  choose_features(draft);
  if (draft.gpu) choose_kernels(draft);
  draft.sources = read_program_sources(input.root, draft.facts, files_to_read(draft));
  // Code that only moves tensors to a GPU has no technique that a rule knows.
  if (!draft.gpu && draft.sources.names_gpu && has_gpu_packages(draft.facts)) {
    draft.gpu = true;
    find_chip(draft);
    draft.kind = kind_of_program(draft.facts, true);
  }
  draft.program = TRY(choose_program(input.command, draft.goal, draft.facts, draft.sources));
  if (draft.gpu && runs_on_host(draft)) {
    draft.gpu = false;
    draft.host_in_gpu_repository = true;
    draft.kind = kind_of_program(draft.facts, false);
    draft.features.clear();
    draft.kernels.clear();
    draft.goal.kernels.clear();
    draft.goal.kernels_named = 0;
    choose_features(draft);
    std::erase_if(draft.features,
                  [&](uint32_t feature) { return is_gpu_feature(draft.facts.features[feature]); });
  }
  set_given_numbers(draft);
  choose_tracked(draft);
  write_requirements(draft);
  write_experiments(draft);
  fit_budget(draft);
  assign_requirements(draft);
  interpret(draft);
  write_environment(draft);
  write_analysis(draft);
  write_success(draft);
  write_surprises(draft);
  write_open(draft);
  clean_plan(draft.plan);
  return std::move(draft.plan);
}

}  // namespace fathom
