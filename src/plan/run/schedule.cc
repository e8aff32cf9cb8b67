#include "plan/run/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/closest_names.h"
#include "base/count_text.h"
#include "base/screen_text.h"
#include "trial/command.h"
#include "trial/order.h"

namespace fathom {
namespace {

std::string limit_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.6g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

void add_rounds(const Plan& plan, size_t experiment, bool is_warmup,
                std::vector<ScheduledRun>& runs) {
  const Experiment& of = plan.experiments[experiment];
  const size_t count = configuration_count(of);
  const auto rounds =
      static_cast<size_t>(std::max<int64_t>(0, is_warmup ? of.warmup : of.repetitions));
  size_t place = 0;
  for (const size_t configuration : interleaved(count, rounds)) {
    ScheduledRun run;
    run.experiment = experiment;
    run.configuration = configuration;
    run.number = static_cast<int64_t>(place++ / count);
    run.is_warmup = is_warmup;
    run.name = fmt::format("{}-c{}-{}{}", of.id, configuration, is_warmup ? 'w' : 'r', run.number);
    runs.push_back(std::move(run));
  }
}

}  // namespace

const Configuration* configuration_of(const Experiment& experiment, size_t configuration) {
  return configuration < experiment.configurations.size()
             ? &experiment.configurations[configuration]
             : nullptr;
}

std::string configuration_name(const Experiment& experiment, size_t configuration) {
  const Configuration* of = configuration_of(experiment, configuration);
  return of != nullptr ? of->name : "as it is";
}

size_t configuration_count(const Experiment& experiment) {
  return std::max<size_t>(1, experiment.configurations.size());
}

Result<std::vector<ScheduledRun>> schedule_runs(const Plan& plan,
                                                const std::vector<std::string>& only) {
  std::vector<std::string> ids;
  for (const Experiment& one : plan.experiments) ids.push_back(one.id);
  for (const std::string& id : only) {
    if (std::ranges::find(ids, id) != ids.end()) continue;
    return Error{
        fmt::format("the plan has no experiment '{}'{}", screen_safe(id), did_you_mean(id, ids))};
  }
  std::vector<ScheduledRun> runs;
  for (size_t i = 0; i < plan.experiments.size(); ++i) {
    if (!only.empty() && std::ranges::find(only, plan.experiments[i].id) == only.end()) continue;
    add_rounds(plan, i, true, runs);
    add_rounds(plan, i, false, runs);
  }
  return runs;
}

std::vector<std::string> words_of(const Experiment& experiment, const ScheduledRun& run,
                                  const RunPlaces& places) {
  std::vector<std::string> command =
      command_of(experiment, configuration_of(experiment, run.configuration));
  if (experiment.shell && !command.empty()) {
    // sh -c TEXT sh ARGUMENTS: the configuration's are "$@" in it.
    std::vector<std::string> words = shell_words(command[0]);
    if (command.size() > 1) {
      words.emplace_back("sh");
      words.insert(words.end(), command.begin() + 1, command.end());
    }
    command = std::move(words);
  }
  // Warm-up heats the machine and fills caches; its records would be thrown away.
  if (!experiment.recorded || run.is_warmup) return command;
  std::vector<std::string> words = {places.program, "record", "--json"};
  words.insert(words.end(), experiment.record.begin(), experiment.record.end());
  words.insert(words.end(), {"--out", places.captures + "/" + run.name + ".capture", "--"});
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

namespace {

constexpr double kForRecorder = 30;  // seconds

// Counters are of a second run of the program.
bool runs_twice(const Experiment& experiment) {
  return std::ranges::any_of(experiment.record, [](const std::string& option) {
    return option.starts_with("--counters") || option.starts_with("--ncu");
  });
}

}  // namespace

double limit_of(const Experiment& experiment, const ScheduledRun& run) {
  if (!experiment.recorded || run.is_warmup) return experiment.time_limit;
  // A server ends by its limit: the recorder's time comes after it.
  if (experiment.ends_by_limit) return experiment.time_limit;
  return experiment.time_limit * (runs_twice(experiment) ? 2 : 1) + kForRecorder;
}

double grace_of(const Experiment& experiment, const ScheduledRun& run) {
  constexpr double kForPart = 10;  // of a program that failed by its limit
  if (!experiment.recorded || run.is_warmup) return TrialCommand().grace_s;
  // A capture is written after the program's end, which for a server is its limit.
  return experiment.ends_by_limit ? kForRecorder : kForPart;
}

std::string limit_text(const Experiment& experiment, const ScheduledRun& run) {
  const double limit = limit_of(experiment, run);
  if (limit == experiment.time_limit) return limit_text(limit);
  return fmt::format(
      "{} ({}{} and {} for the recorder)", limit_text(limit), limit_text(experiment.time_limit),
      runs_twice(experiment) ? " for each of two runs" : "", limit_text(kForRecorder));
}

std::string run_end_text(const Experiment& experiment, const ScheduledRun& run,
                         const TrialEnd& end) {
  return end.kind == EndKind::kTimedOut
             ? fmt::format("ended at its limit of {}", limit_text(experiment, run))
             : end_text(end, limit_of(experiment, run));
}

std::vector<std::string> changes_of(const Experiment& experiment, size_t configuration) {
  std::vector<std::string> changes;
  for (const auto& [name, value] : experiment.environment) changes.push_back(name + "=" + value);
  if (const Configuration* of = configuration_of(experiment, configuration)) {
    for (const auto& [name, value] : of->environment) changes.push_back(name + "=" + value);
  }
  return changes;
}

std::vector<std::string> shown_commands(const Plan& plan, const std::vector<ScheduledRun>& runs,
                                        const RunPlaces& places) {
  std::vector<std::string> lines;
  std::set<std::pair<size_t, size_t>> shown;
  size_t last = SIZE_MAX;
  for (const ScheduledRun& run : runs) {
    if (run.is_warmup) continue;
    const Experiment& of = plan.experiments[run.experiment];
    if (run.experiment != last) {
      last = run.experiment;
      std::string head = fmt::format("{}  {}", of.id, screen_safe(of.name));
      head += fmt::format(
          ": {} × {}, at most {} each", counted(configuration_count(of), "configuration"),
          counted(static_cast<uint64_t>(of.repetitions), "run"), limit_text(of, run));
      if (of.warmup > 0)
        head += fmt::format(", after {} of the plain command",
                            counted(static_cast<uint64_t>(of.warmup), "warm-up run"));
      if (of.shell) head += ", read by a shell";
      if (of.recorded && of.repetitions > 1)
        head += fmt::format("; captures r{} to r{}", run.number, of.repetitions - 1);
      lines.push_back(std::move(head));
      if (!of.folder.empty()) lines.push_back("    in " + screen_safe(of.folder));
      if (!of.prepare.empty()) lines.push_back("    first, by hand: " + screen_safe(of.prepare));
    }
    if (!shown.insert({run.experiment, run.configuration}).second) continue;
    std::string line = "    ";
    for (const std::string& change : changes_of(of, run.configuration))
      line += screen_safe(shell_line({change})) + " ";
    lines.push_back(line + screen_safe(shell_line(words_of(of, run, places))));
  }
  return lines;
}

}  // namespace fathom
