#include "session/code/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <set>

#include "base/count_text.h"
#include "base/screen_text.h"
#include "plan/plan_file.h"
#include "plan/run/results_text.h"
#include "report/page/documents_page.h"
#include "report/trial/sample_text.h"
#include "session/code/bench.h"
#include "session/code/earlier_runs.h"
#include "session/code/observe.h"
#include "session/code/planned_metrics.h"
#include "session/code/run_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using namespace run_files;

constexpr size_t kLargestLog = 64 << 20;

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

bool is_good_end(const Experiment& experiment, const TrialEnd& end) {
  return end.ok() || (experiment.ends_by_limit && end.kind == EndKind::kTimedOut);
}

class PlanRunner {
 public:
  PlanRunner(const RunPlanRequest& request, const PreparedRun& prepared,
             const std::function<void(const std::string&)>& progress)
      : request_(request), prepared_(prepared), plan_(prepared.plan), progress_(progress) {}

  Result<RunPlanResult> run() {
    TRY(prepare_folder(prepared_.out));
    Journal journal = TRY(Journal::open(prepared_.out / "journal"));
    if (request_.replay.empty()) {
      TRY(check_journal(journal, request_, prepared_.text));
      TRY(run_all(journal));
    } else {
      TRY(take_replayed(journal));
    }
    TRY(write_results());
    return std::move(result_);
  }

 private:
  Status run_all(Journal& journal) {
    finished_ = finished_runs(journal.records());
    note_lost_files();
    note_machines(journal);
    if (journal.records().empty()) {
      TRY(journal.append(JournalRecord("plan")
                             .put("stamp", plan_stamp(prepared_.text))
                             .put("version", FATHOM_VERSION)));
    }
    TRY(write_whole_file(prepared_.out / "plan.toml", prepared_.text));
    for (const JournalRecord& record : journal.records()) session_ += record.kind == "machine";
    ++session_;
    JournalRecord state("machine");
    for (const auto& [name, value] : request_.machine) state.put(name, value);
    TRY(journal.append(state.put("at", time_now())));
    if (!request_.environment_page.empty())
      TRY(write_whole_file(prepared_.out / "environment.md", request_.environment_page));
    const Interruption interruption;
    lock_clocks();
    Status done = run_pending(journal);
    unlock_clocks();
    tell_budget();
    result_.interrupted = Interruption::signal() != 0;
    return done;
  }

  Status run_pending(Journal& journal) {
    for (const ScheduledRun& run : prepared_.runs) {
      if (const auto end = finished_.find(run.name); end != finished_.end())
        note_finished(run, end->second.end);
    }
    size_t at = 0, finished_meanwhile = 0;
    for (const ScheduledRun& run : prepared_.to_run) {
      ++at;
      // Another process may have run it while somebody read the commands: the journal is ours
      // since.
      if (finished_.contains(run.name)) {
        ++finished_meanwhile;
        continue;
      }
      if (Interruption::signal() != 0) break;
      const Experiment& experiment = plan_.experiments[run.experiment];
      if (const std::string why = reason_to_skip(run); !why.empty()) {
        skipped_[run.name] = why;
        continue;
      }
      const TrialEnd end = TRY(run_one(run, journal));
      if (end.kind == EndKind::kInterrupted) {
        remove_files_of(prepared_.out, run);
        break;
      }
      const KeptFiles files = kept_files(prepared_.out, run);
      TRY(journal.append(finished_record(run, end, files)));
      finished_[run.name] = {end, files, session_};
      note_finished(run, end);
      if (progress_) {
        progress_(fmt::format("{}/{} {}: {}, {}", at, prepared_.to_run.size(), run.name,
                              end_text(end, limit_of(experiment, run)),
                              measured_text(static_cast<double>(end.wall_ns) / 1e9, "s")));
      }
    }
    if (finished_meanwhile > 0 && progress_)
      progress_(fmt::format("{} finished by another process meanwhile: not run again",
                            counted(finished_meanwhile, "run")));
    return Nothing{};
  }

  // Without its log or capture a finished run has fewer numbers, or none. It is not run again: that
  // may take hours, and nobody asked for it.
  void note_lost_files() {
    size_t count = 0;
    for (const ScheduledRun& run : prepared_.runs) {
      const auto found = finished_.find(run.name);
      if (found == finished_.end()) continue;
      const std::string lost = lost_files(prepared_.out, run, found->second.files);
      if (lost.empty()) continue;
      result_.lost_files.push_back(fmt::format("{} is finished, but {}", run.name, lost));
      ++count;
    }
    if (count == 0) return;
    result_.results.is_complete = false;
    constexpr size_t kMostNamed = 8;
    if (count > kMostNamed) {
      result_.lost_files.resize(kMostNamed);
      result_.lost_files.push_back(
          fmt::format("… and {}", counted(count - kMostNamed, "more run")));
    }
    for (const std::string& line : result_.lost_files) result_.results.notes.push_back(line);
    result_.results.notes.push_back(
        "what is gone is not in these results; to measure it again, run the plan in a new folder");
  }

  // What the machine was when the earlier runs were made, where it is something else by now.
  void note_machines(const Journal& journal) {
    // These differ from one minute to the next.
    const auto changes_by_itself = [](std::string_view name) {
      return name == "at" || name.starts_with("load average");  // source text
    };
    const auto plain = [](std::string_view value) {  // without the clock of the moment
      return value.substr(0, value.find(", SM clock"));
    };
    std::map<std::string, std::string> now;
    for (const auto& [name, value] : request_.machine) now[name] = plain(value);
    std::set<std::string> told;
    for (const JournalRecord& record : journal.records()) {
      if (record.kind != "machine") continue;
      for (const auto& [name, value] : record.fields) {
        if (changes_by_itself(name)) continue;
        const auto current = now.find(name);
        const std::string value_now = current == now.end() ? "none" : current->second;
        if (value_now == plain(value) || !told.insert(name).second) continue;
        result_.results.notes.push_back(
            fmt::format("the machine changed between sessions: {} was {}, and is {}", name,
                        plain(value), value_now));
      }
    }
  }

  struct Starting {
    Journal* journal;
    const ScheduledRun* run;
    Status status = Nothing{};
  };

  Result<TrialEnd> run_one(const ScheduledRun& run, Journal& journal) {
    const Experiment& experiment = plan_.experiments[run.experiment];
    remove_files_of(prepared_.out, run);
    TrialCommand command;
    command.words = words_of(experiment, run, places());
    command.folder = TRY(working_folder(experiment, prepared_.folder));
    command.environment =
        changed_environment(request_.environment, changes_of(experiment, run.configuration));
    command.limit_s = limit_of(experiment, run);
    command.log = log_of(prepared_.out, run);
    const bool is_recorded = experiment.recorded && !run.is_warmup;
    command.ends_child = is_recorded;
    if (is_recorded) command.grace_s = 30;  // it writes the capture
    Starting starting{&journal, &run};
    TrialEnd end = TRY(run_command(
        command,
        [](void* context, int64_t group) {
          auto* at = static_cast<Starting*>(context);
          JournalRecord record("started");
          record.put("run", at->run->name)
              .put("group", std::to_string(group))
              .put("ticks", std::to_string(process_start_ticks(group).value_or(0)))
              .put("boot", boot_id());
          at->status = at->journal->append(record);
        },
        &starting));
    TRY(starting.status);
    if (is_recorded) {
      // The recorder's own time is none of the program's.
      if (const auto wall = recorded_wall_ns(text_of_file(command.log, kLargestLog)))
        end.wall_ns = *wall;
    }
    return end;
  }

  RunPlaces places() const {
    return {request_.program.string(), (prepared_.out / "captures").string()};
  }

  void note_finished(const ScheduledRun& run, const TrialEnd& end) {
    const Experiment& experiment = plan_.experiments[run.experiment];
    const double seconds = static_cast<double>(end.wall_ns) / 1e9;
    spent_[run.experiment] += seconds;
    all_spent_ += seconds;
    if (!is_good_end(experiment, end))
      first_failure_.try_emplace(
          {run.experiment, run.configuration},
          fmt::format("{} ended with {}", run.name, end_text(end, limit_of(experiment, run))));
  }

  std::string reason_to_skip(const ScheduledRun& run) const {
    const Experiment& experiment = plan_.experiments[run.experiment];
    // The first failure of a configuration is told; more of the same cost time only.
    const auto failure = first_failure_.find({run.experiment, run.configuration});
    if (failure != first_failure_.end()) return failure->second;
    const auto spent = spent_.find(run.experiment);
    if (experiment.budget && spent != spent_.end() && spent->second >= *experiment.budget)
      return fmt::format("the budget of {} ({:.6g} s) is spent", experiment.id, *experiment.budget);
    if (plan_.budget && all_spent_ >= *plan_.budget)
      return fmt::format("the budget of the plan ({:.6g} s) is spent", *plan_.budget);
    return "";
  }

  // Runs that no failure of their own configuration explains: a reader would take them as made.
  void tell_budget() {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const ScheduledRun& run : prepared_.runs) {
      const auto why = skipped_.find(run.name);
      if (why == skipped_.end() || first_failure_.contains({run.experiment, run.configuration}))
        continue;
      by_reason[why->second].push_back(run.name);
    }
    for (const auto& [why, runs] : by_reason) {
      constexpr size_t kMostNamed = 6;
      const std::vector<std::string> named(
          runs.begin(),
          runs.begin() + static_cast<std::ptrdiff_t>(std::min(runs.size(), kMostNamed)));
      result_.not_made.push_back(fmt::format("{} not made: {} ({}{})", counted(runs.size(), "run"),
                                             why, fmt::join(named, ", "),
                                             runs.size() > kMostNamed ? ", …" : ""));
      result_.results.notes.push_back(result_.not_made.back());
      result_.results.is_complete = false;
    }
  }

  void lock_clocks() {
    if (!request_.lock_clocks || prepared_.to_run.empty()) return;
    const std::string mhz = std::to_string(*request_.lock_clocks);
    smi({"nvidia-smi", "--lock-gpu-clocks=" + mhz + "," + mhz}, "clocks are not locked");
  }
  void unlock_clocks() {
    if (!request_.lock_clocks || prepared_.to_run.empty()) return;
    smi({"nvidia-smi", "--reset-gpu-clocks"}, "clocks are not reset");
  }
  void smi(std::vector<std::string> words, const std::string& otherwise) {
    TrialCommand command;
    command.words = std::move(words);
    command.environment = request_.environment;
    command.limit_s = 60;
    command.log = prepared_.out / "logs" / "nvidia-smi.log";
    command.heeds_interrupt = false;
    const Result<TrialEnd> end = run_command(command);
    if (end.ok() && end.value().ok()) return;
    result_.results.notes.push_back(
        fmt::format("{}: nvidia-smi, {}", otherwise,
                    end.ok() ? end_text(end.value(), 60) : end.error().message));
  }

  Status take_replayed(Journal& journal) {
    std::string stamp;
    finished_ = TRY(read_finished(request_.replay, stamp));
    if (!stamp.empty() && stamp != plan_stamp(prepared_.text))
      result_.results.notes.emplace_back(
          "the folder was recorded with another version of the plan");
    for (const JournalRecord& record : journal.records()) {
      if (record.kind != "replay")
        return Error{fmt::format("{} holds a run; choose another folder with --out",
                                 prepared_.out.string())};
    }
    return journal.append(JournalRecord("replay").put("at", time_now()));
  }

  // What a run's files show.
  RunOutcome outcome_of(const ScheduledRun& run, std::string& story) {
    RunOutcome outcome;
    outcome.run = run;
    const Experiment& experiment = plan_.experiments[run.experiment];
    const fs::path& folder = request_.replay.empty() ? prepared_.out : request_.replay;
    const auto end = finished_.find(run.name);
    const std::vector<fs::path> recordings = recordings_in(folder, experiment, run);
    const fs::path log = log_in(folder, run);
    if (end != finished_.end()) {
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
    const bool had_captures = end != finished_.end() && end->second.files.captures > 0;
    if (experiment.recorded && recordings.empty() && had_captures)
      outcome.observations.notes.emplace_back("the recording of this run is gone");
    else if (experiment.recorded && recordings.empty() && !outcome.failed)
      outcome.observations.notes.push_back(
          request_.has_gpu || !request_.replay.empty()
              ? "nothing was recorded: the program did not use the GPU"
              : "nothing was recorded: no GPU was found");
    add_log(log, experiment, outcome.observations);
    add_planned_metrics(plan_, experiment, outcome.observations);
    return outcome;
  }

  std::optional<RunOutcome> failed_warmup(const ScheduledRun& run) const {
    const auto end = finished_.find(run.name);
    if (end == finished_.end() || is_good_end(plan_.experiments[run.experiment], end->second.end))
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
    Observations lines =
        observe_log(text_of_file(log, kLargestLog), log_patterns_of(plan_, experiment));
    std::erase_if(lines.all, [&](const Observation& one) {
      return into.find(one.metric, one.subject) != nullptr;
    });
    append_observations(into, std::move(lines));
  }

  std::string why_not_run(const ScheduledRun& run) const {
    if (const auto why = skipped_.find(run.name); why != skipped_.end()) return why->second;
    const Experiment& experiment = plan_.experiments[run.experiment];
    if (!request_.replay.empty())
      return fmt::format("{} has no recording {}", request_.replay.string(), run.name);
    if (experiment.needs_gpu && !request_.has_gpu) return "no GPU was found, and it needs one";
    return "it was not run";
  }

  Status write_results() {
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
    const std::string text = results_markdown(results);
    TRY(write_whole_file(prepared_.out / "results.md", text));
    if (!request_.page) return Nothing{};
    DocumentsPage shown{"run", plan_.goal.original, "", {{"results.md", text}}, {}, {}, {}};
    if (!request_.environment_page.empty())
      shown.documents.push_back({"environment.md", request_.environment_page});
    for (auto& [name, story] : told_) shown.documents.push_back({name, std::move(story)});
    return write_whole_file(prepared_.out / "report.html", documents_page(shown));
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
      if (!outcome.not_run.empty() && !skipped_.contains(run.name))
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
  const std::function<void(const std::string&)>& progress_;
  std::map<std::string, FinishedRun> finished_;
  size_t session_ = 0;  // this one's number
  std::map<std::string, std::string> skipped_;
  std::map<size_t, double> spent_;  // seconds, of an experiment
  double all_spent_ = 0;
  std::map<std::pair<size_t, size_t>, std::string> first_failure_;  // experiment, configuration
  std::vector<std::pair<std::string, std::string>> told_;           // stories: file, text
  RunPlanResult result_;
};

}  // namespace

Result<RunPlanResult> run_plan(const RunPlanRequest& request, const PreparedRun& prepared,
                               const std::function<void(const std::string&)>& progress) {
  return PlanRunner(request, prepared, progress).run();
}

}  // namespace fathom
