#include "session/code/run_results.h"

#include <fmt/format.h>

#include <set>

#include "plan/run/results_text.h"
#include "report/page/documents_page.h"
#include "session/code/earlier_runs.h"
#include "session/code/observe.h"
#include "session/code/planned_metrics.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using namespace run_files;

class ResultsWriter {
 public:
  ResultsWriter(const RunPlanRequest& request, const PreparedRun& prepared, const RunsSoFar& so_far,
                RunPlanResult& result)
      : request_(request),
        prepared_(prepared),
        plan_(prepared.plan),
        so_far_(so_far),
        result_(result) {}

  Status write() {
    PlanResults& results = result_.results;
    results.plan = &plan_;
    results.machine = request_.machine;
    results.is_replay = !request_.replay.empty();
    if (results.is_replay) results.machine.clear();
    for (const std::string& note : prepared_.notes) results.notes.push_back(note);
    for (size_t i = 0; i < plan_.experiments.size(); ++i) TRY(evaluate(i));
    evaluate_plan(plan_, results);
    for (auto& [name, content] : results_tables(results))
      TRY(write_whole_file(prepared_.out / "tables" / name, content));
    TRY(write_whole_file(prepared_.out / "results.json", results_json(results)));
    std::vector<DocumentsPage::File> pictures;
    for (const ExperimentResult& of : results.experiments) {
      const std::string drawing = experiment_drawing(of);
      if (drawing.empty()) continue;
      pictures.push_back({fmt::format("pictures/{}.svg", of.experiment->id), drawing});
      TRY(write_whole_file(prepared_.out / pictures.back().path, drawing));
    }
    const std::string text = results_markdown(results);
    TRY(write_whole_file(prepared_.out / "results.md", text));
    if (!request_.page) return Nothing{};
    DocumentsPage shown{"run", plan_.goal.original, "", {{"results.md", text}}, pictures, {}, {}};
    if (!request_.environment_page.empty())
      shown.documents.push_back({"environment.md", request_.environment_page});
    for (auto& [name, story] : told_) shown.documents.push_back({name, std::move(story)});
    return write_whole_file(prepared_.out / "report.html", documents_page(shown));
  }

 private:
  // What a run's files show.
  RunOutcome outcome_of(const ScheduledRun& run, std::string& story) {
    RunOutcome outcome;
    outcome.run = run;
    const Experiment& experiment = plan_.experiments[run.experiment];
    const fs::path& folder = request_.replay.empty() ? prepared_.out : request_.replay;
    const auto end = so_far_.finished.find(run.name);
    const std::vector<fs::path> recordings = recordings_in(folder, experiment, run);
    const fs::path log = log_in(folder, run);
    if (end != so_far_.finished.end()) {
      outcome.end = end->second.end;
      outcome.session = end->second.session;
      outcome.failed = !is_good_end(experiment, end->second.end);
      append_observations(outcome.observations, observe_end(end->second.end));
    } else if (request_.replay.empty() || (recordings.empty() && log.empty())) {
      outcome.not_run = why_not_run(run);
      return outcome;
    }
    for (const fs::path& path : recordings) {
      Result<ObservedCapture> observed = observe_capture(path.string());
      if (!observed.ok()) {
        outcome.observations.notes.push_back(observed.error().message);
        continue;
      }
      ObservedCapture capture = observed.take();
      if (story.empty()) story = std::move(capture.story);
      append_observations(outcome.observations, std::move(capture.observations));
    }
    const bool had_captures = end != so_far_.finished.end() && end->second.files.captures > 0;
    if (experiment.recorded && recordings.empty() && had_captures)
      outcome.observations.notes.emplace_back("the recording of this run is gone");
    else if (experiment.recorded && recordings.empty() && !outcome.failed)
      outcome.observations.notes.emplace_back(
          request_.has_gpu || !request_.replay.empty()
              ? "nothing was recorded: the program did not use the GPU"
              : "nothing was recorded: no GPU was found");
    add_log(log, experiment, outcome.observations);
    add_planned_metrics(plan_, experiment, outcome.observations);
    return outcome;
  }

  std::optional<RunOutcome> failed_warmup(const ScheduledRun& run) const {
    const auto end = so_far_.finished.find(run.name);
    if (end == so_far_.finished.end() ||
        is_good_end(plan_.experiments[run.experiment], end->second.end))
      return std::nullopt;
    RunOutcome outcome;
    outcome.run = run;
    outcome.end = end->second.end;
    outcome.session = end->second.session;
    outcome.failed = true;
    append_observations(outcome.observations, observe_end(end->second.end));
    return outcome;
  }

  // Where the recorder kept a line's numbers they are in the capture already.
  void add_log(const fs::path& log, const Experiment& experiment, Observations& into) const {
    if (log.empty()) return;
    Observations lines = observe_log(log_text(log), log_patterns_of(plan_, experiment));
    std::erase_if(lines.all, [&](const Observation& one) {
      return into.find(one.metric, one.subject) != nullptr;
    });
    append_observations(into, std::move(lines));
  }

  std::string why_not_run(const ScheduledRun& run) const {
    if (const auto why = so_far_.skipped.find(run.name); why != so_far_.skipped.end())
      return why->second;
    const Experiment& experiment = plan_.experiments[run.experiment];
    if (!request_.replay.empty())
      return fmt::format("{} has no recording {}", request_.replay.string(), run.name);
    if (experiment.needs_gpu && !request_.has_gpu) return "no GPU was found, and it needs one";
    return "it was not run";
  }

  Status evaluate(size_t number) {
    std::vector<RunOutcome> outcomes;
    std::map<size_t, std::string> stories;
    for (const ScheduledRun& run : prepared_.runs) {
      if (run.experiment != number) continue;
      if (run.is_warmup) {
        // A warm-up counts where it failed: then nothing of its configuration was run.
        if (std::optional<RunOutcome> failed = failed_warmup(run)) {
          ++result_.failed_runs;
          outcomes.push_back(std::move(*failed));
        }
        continue;
      }
      RunOutcome outcome = outcome_of(run, stories[run.configuration]);
      if (outcome.failed) ++result_.failed_runs;
      if (!outcome.not_run.empty() && !so_far_.skipped.contains(run.name))
        result_.results.is_complete = false;
      outcomes.push_back(std::move(outcome));
    }
    if (outcomes.empty()) return Nothing{};  // left out by --only
    if (!request_.replay.empty()) drop_missing_repetitions(outcomes);
    ExperimentResult result = evaluate_experiment(plan_.experiments[number], std::move(outcomes));
    for (const auto& [configuration, story] : stories) {
      if (story.empty()) continue;
      const std::string name =
          fmt::format("stories/{}-c{}.md", plan_.experiments[number].id, configuration);
      TRY(write_whole_file(prepared_.out / name, story));
      told_.emplace_back(name, story);
      result.configurations[configuration].story = name;
    }
    result_.results.experiments.push_back(std::move(result));
    return Nothing{};
  }

  // A recorded folder may hold fewer repetitions than the plan asks for: those that are there
  // count.
  static void drop_missing_repetitions(std::vector<RunOutcome>& outcomes) {
    std::set<size_t> measured;
    for (const RunOutcome& one : outcomes) {
      if (one.not_run.empty()) measured.insert(one.run.configuration);
    }
    std::erase_if(outcomes, [&](const RunOutcome& one) {
      return !one.not_run.empty() && measured.contains(one.run.configuration);
    });
  }

  const RunPlanRequest& request_;
  const PreparedRun& prepared_;
  const Plan& plan_;
  const RunsSoFar& so_far_;
  RunPlanResult& result_;
  std::vector<std::pair<std::string, std::string>> told_;  // stories: file, text
};

}  // namespace

bool is_good_end(const Experiment& experiment, const TrialEnd& end) {
  return end.ok() || (experiment.ends_by_limit && end.kind == EndKind::kTimedOut);
}

Status write_plan_results(const RunPlanRequest& request, const PreparedRun& prepared,
                          const RunsSoFar& so_far, RunPlanResult& result) {
  return ResultsWriter(request, prepared, so_far, result).write();
}

}  // namespace fathom
