#include "session/code/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "base/count_text.h"
#include "base/screen_text.h"
#include "plan/plan_file.h"
#include "report/trial/sample_text.h"
#include "session/code/earlier_runs.h"
#include "session/code/run_files.h"
#include "session/code/run_results.h"
#include "trial/interruption.h"
#include "trial/processes.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using namespace run_files;

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
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
    TRY(write_plan_results(request_, prepared_, {finished_, skipped_}, result_));
    return std::move(result_);
  }

 private:
  Status run_all(Journal& journal) {
    finished_ = finished_runs(journal.records());
    note_lost_files();
    for (std::string& change : machine_changes(journal, request_.machine))
      result_.results.notes.push_back(std::move(change));
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
                              run_end_text(experiment, run, end),
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
    result_.results.notes.emplace_back(
        "what is gone is not in these results; to measure it again, run the plan in a new folder");
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
    command.grace_s = grace_of(experiment, run);
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
      if (const auto wall = recorded_wall_ns(log_text(command.log))) end.wall_ns = *wall;
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
          fmt::format("{}: {}", run.name, run_end_text(experiment, run, end)));
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
  RunPlanResult result_;
};

}  // namespace

Result<RunPlanResult> run_plan(const RunPlanRequest& request, const PreparedRun& prepared,
                               const std::function<void(const std::string&)>& progress) {
  return PlanRunner(request, prepared, progress).run();
}

}  // namespace fathom
