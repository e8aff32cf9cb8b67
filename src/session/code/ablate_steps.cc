#include "session/code/ablate_steps.h"

#include <fmt/format.h>

#include "base/text_parts.h"
#include "session/code/ablate_counters.h"
#include "session/code/command_output.h"
#include "trial/interruption.h"

namespace fathom::ablate {

namespace fs = std::filesystem;

Error AblateSteps::interrupted() {
  return Error{"interrupted; finished steps are in the journal: continue with --resume"};
}

void AblateSteps::tell(const std::string& step) const {
  if (progress_ != nullptr) progress_(context_, step);
}

StepOf AblateSteps::step_of(size_t variant, uint64_t key) const {
  return {a_.suite_->variants[variant].name, key, a_.sources_[variant]};
}

VariantMeasurements& AblateSteps::measured(size_t variant) {
  VariantMeasurements& m = a_.found_.measurements.variants[a_.suite_->variants[variant].name];
  m.cases.resize(a_.suite_->cases.size());
  return m;
}

Result<AblateSteps::Ran> AblateSteps::run_one(const ReadyCommand& ready, const std::string& tree,
                                              const std::string& log_name, bool ends_child) const {
  // A link of a patch's or of a build's would let the command run elsewhere.
  if (!ready.folder.empty()) {
    std::error_code error;
    Ran refused;
    refused.end.kind = EndKind::kNotStarted;
    if (leads_out(tree, ready.folder + "/x"))
      refused.end.why = fmt::format("folder {} leads out of the tree", ready.folder);
    else if (!fs::is_directory(fs::path(tree) / ready.folder, error))
      refused.end.why = fmt::format("the tree has no folder {}", ready.folder);
    if (!refused.end.why.empty()) return refused;
  }
  TrialCommand command;
  command.words = ready.words;
  command.folder = fs::path(tree) / ready.folder;
  std::vector<std::string> changes;
  for (const auto& [name, value] : ready.environment) changes.push_back(name + "=" + value);
  command.environment = changed_environment(without_git(a_.request_.environment), changes);
  command.limit_s = static_cast<double>(ready.timeout_ms) / 1e3;
  Ran ran;
  ran.log = "logs/" + log_name + ".log";
  command.log = a_.request_.out / ran.log;
  command.ends_child = ends_child;
  ran.end = TRY(run_command(command));
  if (ran.end.kind == EndKind::kInterrupted || Interruption::signal() != 0) return interrupted();
  ran.output = read_plain_file(command.log, kLargestOutput).value_or("");
  ran.seconds = static_cast<double>(ran.end.wall_ns) * 1e-9;
  return ran;
}

Status AblateSteps::run() {
  const Interruption interruption;
  TRY(make_trees());
  TRY(build_all());
  TRY(check_all());
  TRY(note_changes());
  TRY(time_all(false));
  TRY(note_changes());
  TRY(count_all(false));
  if (!a_.suite_->has_flags || a_.suite_->most_pairs == 0) return Nothing{};
  pairs_ = pairs_that_matter(a_.study());
  TRY(time_all(true));
  return count_all(true);
}

bool AblateSteps::is_wanted(size_t variant, bool pairs) const {
  const Variant& v = a_.suite_->variants[variant];
  if (v.only_if_pairs_matter != pairs) return false;
  return !pairs || contains(pairs_, v.name);
}

bool AblateSteps::is_checked(size_t variant) const {
  const auto found = a_.found_.measurements.variants.find(a_.suite_->variants[variant].name);
  if (found == a_.found_.measurements.variants.end() || !found->second.build.ok) return false;
  return a_.suite_->check.empty() || found->second.check.ok;
}

Status AblateSteps::count_all(bool pairs) {
  const Suite& suite = *a_.suite_;
  if (!suite.counters.wanted) return Nothing{};
  for (size_t v = 0; v < suite.variants.size(); ++v) {
    VariantMeasurements& m = measured(v);
    if (!is_wanted(v, pairs) || !is_checked(v) || m.counters.done || !m.cases[0].problem.empty())
      continue;
    const VariantPlan& plan = a_.plan_.variants[v];
    const std::string& name = suite.variants[v].name;
    const fs::path capture = a_.request_.out / "captures" / (name + ".capture");
    tell(fmt::format("counters of {}", name));
    ReadyCommand command = plan.counted;
    command.words = record_command(suite, a_.request_.program, capture, plan.counted.words);
    const Ran ran =
        TRY(run_one(command, a_.plan_.builds[plan.build].tree, name + ".counters", true));
    Counted counted;
    if (ran.end.ok()) {
      counted = read_counted(capture, suite);
      std::error_code error;
      if (!counted.ok && !fs::exists(capture, error)) counted.reason = last_line(ran.output);
      if (counted.reason.empty() && !counted.ok) counted.reason = "nothing was recorded";
    } else {
      counted.done = true;
      counted.reason =
          end_reason(ran.end, static_cast<double>(command.timeout_ms) / 1e3, ran.output);
    }
    counted.seconds = ran.seconds;
    counted.log = ran.log;
    m.counters = counted;
    TRY(journal_.append(counters_record(step_of(v, plan.counters_key), counted)));
  }
  return Nothing{};
}

}  // namespace fathom::ablate
