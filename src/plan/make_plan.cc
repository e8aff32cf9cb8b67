#include "plan/make_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "base/closest_names.h"
#include "base/utf8.h"
#include "plan/plan_draft.h"
#include "plan/plan_metrics.h"
#include "plan/plan_subject.h"
#include "scan/files/source_text.h"
#include "story/parameters.h"

namespace fathom {
namespace {

// "at batch 512": every run has it.
void set_given_numbers(PlanDraft& draft) {
  for (const uint32_t position : draft.program.options) {
    const std::vector<std::string> numbers = draft.goal.numbers_of(position);
    const OptionFacts& option = draft.facts.options[position];
    if (numbers.size() != 1 || option.kind == OptionKind::kConfig) continue;
    draft.program.command = without_option(draft.program.command, option);
    for (std::string& word : given_as(option, numbers[0]))
      draft.program.command.push_back(std::move(word));
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
      if ((at == 0 || !is_word_character(code[at - 1])) &&
          (end == code.size() || !is_word_character(code[end])))
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
