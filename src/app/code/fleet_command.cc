#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>

#include "app/code/answer_text.h"
#include "app/code/code_commands.h"
#include "app/code/duck_options.h"
#include "app/commands.h"
#include "app/option_rules.h"
#include "app/output_options.h"
#include "app/this_machine.h"
#include "base/count_text.h"
#include "base/json_writer.h"
#include "base/screen_text.h"
#include "fleet/run_tasks.h"
#include "session/query/fleet.h"

namespace fathom {
namespace {

constexpr const char* kFleetExamples = R"(Examples:
  fathom fleet plan traces/ --to fleet             find traces of all ranks; a task for each
  fathom fleet run fleet --jobs 8                  export them to tables, 8 processes at once
  fathom fleet report fleet                        which rank is slow, since when, and where
  fathom query fleet/parts "SELECT part, count(*) FROM kernels GROUP BY part"

On a cluster:
  fathom fleet plan traces/ --to fleet --slurm --sbatch=--partition=cpu --set-up 'module load gcc'
  bash fleet/submit.sh                             a job array, and the report behind it
  fathom fleet run fleet --runner 'ssh {host} {command}' --host node1 --host node2 --jobs 2

The next run repeats tasks that were killed or whose trace has changed, and skips those that are done.
Tables are written by DuckDB (tools/setup --query).)";

struct FleetArguments {
  std::vector<std::string> traces, options, set_up, hosts;
  std::string to, directory, program, container, runner, against;
  std::string at_once = "64", per_job = "0", jobs, tries = "2", job, trace;
  bool slurm = false, force = false, json = false, quiet = false;
  LimitArguments limits;
};

int64_t number_of(const std::string& text) { return std::stoll(text); }

ExitCode failed(const Error& error) {
  complain(error.message);
  return ExitCode::kFailed;
}

ExitCode printed(const std::string& text) {
  const Status done = print_output(text);
  return done.ok() ? ExitCode::kOk : failed(done.error());
}

// How others start this program: the first of the two that lie beside each other.
std::string program_of(const FleetArguments& a) {
  return a.program.empty() ? (this_program().parent_path() / "fathom").string() : a.program;
}

ExitCode run_fleet_plan(const FleetArguments& a) {
  FleetPlanRequest request{a.traces, a.to, std::nullopt, number_of(a.per_job), a.force};
  if (a.slurm) {
    request.slurm =
        SlurmSettings{program_of(a), a.options, a.set_up, a.container, number_of(a.at_once)};
  } else if (!a.options.empty() || !a.set_up.empty() || !a.container.empty()) {
    complain("--sbatch, --set-up and --container are of --slurm");
    return ExitCode::kUsage;
  }
  const Result<FleetPlanResult> planned = plan_fleet(request);
  if (!planned.ok()) return failed(planned.error());
  tell(planned.value().notes, false);
  const Fleet& fleet = planned.value().fleet;
  int64_t bytes = 0;
  for (const FleetTask& task : fleet.tasks) bytes += task.bytes;
  std::string text = fmt::format("{}, {:.1f} MB, in {}\n", counted(fleet.tasks.size(), "trace"),
                                 static_cast<double>(bytes) / 1e6,
                                 counted(static_cast<uint64_t>(fleet.jobs()), "task"));
  const std::string place = screen_safe(a.to);
  text += a.slurm ? fmt::format(
                        "Next    bash {}/submit.sh   (read export.sbatch and report.sbatch "
                        "first)\n",
                        place)
                  : fmt::format("Next    fathom fleet run {}\n", place);
  return printed(text);
}

ExitCode run_fleet_task(const FleetArguments& a) {
  const Result<Fleet> read = read_fleet(a.directory);
  if (!read.ok()) return failed(read.error());
  const Fleet& fleet = read.value();
  if (a.job.empty() == a.trace.empty()) {
    complain("expected --job NUMBER or --trace NUMBER");
    return ExitCode::kUsage;
  }
  const int64_t per_job = a.job.empty() ? 1 : fleet.traces_per_job;
  const int64_t first = number_of(a.job.empty() ? a.trace : a.job) * per_job;
  const auto count = static_cast<int64_t>(fleet.tasks.size());
  if (first >= count)
    return failed({fmt::format("there is no such task: {} has {}", a.directory,
                               counted(fleet.tasks.size(), "trace"))});
  const ExportCommand command{this_program(), this_environment()};
  bool is_well = true;
  for (int64_t i = first; i < std::min(count, first + per_job); ++i) {
    const FleetTask& task = fleet.tasks[static_cast<size_t>(i)];
    const Result<TaskOutcome> outcome = run_task(fleet, task, command);
    if (!outcome.ok()) {
      complain(outcome.error().message);
      is_well = false;
    } else if (outcome.value() == TaskOutcome::kFailed) {
      if (!a.quiet) complain(fmt::format("{}: {}", task.trace, read_state(fleet, task).reason));
      is_well = false;
    } else if (outcome.value() == TaskOutcome::kHeldElsewhere) {
      complain(fmt::format("{}: another process is at it", task.trace));
    }
  }
  return is_well ? ExitCode::kOk : ExitCode::kFailed;
}

ExitCode run_fleet_run(const FleetArguments& a) {
  const Result<Fleet> read = read_fleet(a.directory);
  if (!read.ok()) return failed(read.error());
  const Fleet& fleet = read.value();
  if (!a.runner.empty() && a.runner.find("{command}") == std::string::npos) {
    complain("--runner must have {command} in it: 'ssh {host} {command}'");
    return ExitCode::kUsage;
  }
  FleetRun plan;
  const std::string program = a.runner.empty() ? this_program().string() : program_of(a);
  plan.words = {program, "fleet", "task", fleet.directory.string(), "--quiet", "--trace"};
  plan.runner = a.runner;
  plan.hosts = a.hosts;
  plan.at_once = a.jobs.empty() ? std::max<int64_t>(1, std::thread::hardware_concurrency() / 2)
                                : number_of(a.jobs);
  plan.tries = number_of(a.tries);
  uint64_t ended = 0;
  const Status ran = run_fleet(fleet, plan, [&](const FleetTask& task, const TaskState& state) {
    ++ended;
    if (a.quiet) return;
    complain(state.stage == TaskStage::kDone
                 ? fmt::format("{}: {}", number_text(ended), task.part)
                 : fmt::format("{}: {} failed: {}", number_text(ended), task.part, state.reason));
  });
  if (!ran.ok()) return failed(ran.error());
  const FleetStatus status = fleet_status(fleet);
  const ExitCode code = printed(fmt::format(
      "{}\nNext    fathom fleet {} {}\n", fleet_line(status),
      status.failed + status.waiting > 0 ? "status" : "report", screen_safe(a.directory)));
  if (code != ExitCode::kOk) return code;
  return status.done == static_cast<int64_t>(fleet.tasks.size()) ? ExitCode::kOk
                                                                 : ExitCode::kFailed;
}

std::string status_json(const Fleet& fleet, const FleetStatus& status) {
  JsonWriter json(true);
  json.begin_object();
  json.key("traces").value(static_cast<int64_t>(fleet.tasks.size()));
  json.key("done").value(status.done).key("failed").value(status.failed);
  json.key("running").value(status.running).key("waiting").value(status.waiting);
  json.key("tasks").begin_array();
  for (size_t i = 0; i < fleet.tasks.size(); ++i) {
    const TaskState& state = status.tasks[i];
    json.begin_object();
    json.key("part").value(fleet.tasks[i].part).key("trace").value(fleet.tasks[i].trace);
    json.key("stage").value(stage_name(state.stage)).key("tries").value(state.tries);
    json.key("host").value(state.host).key("reason").value(state.reason);
    json.end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

ExitCode run_fleet_status(const FleetArguments& a) {
  const Result<Fleet> read = read_fleet(a.directory);
  if (!read.ok()) return failed(read.error());
  const FleetStatus status = fleet_status(read.value());
  if (a.json) return printed(status_json(read.value(), status));
  std::string text = fleet_line(status) + "\n";
  for (const std::string& line : failed_lines(read.value(), status, 20))
    text += "  " + screen_safe(line) + "\n";
  if (status.failed + status.waiting > 0)
    text += fmt::format("Next    fathom fleet run {}   (or its submit.sh again)\n",
                        screen_safe(a.directory));
  return printed(text);
}

ExitCode run_fleet_report(const FleetArguments& a, const Terminal& terminal) {
  const Result<Fleet> read = read_fleet(a.directory);
  if (!read.ok()) return failed(read.error());
  const Result<const DuckLibrary*> library = load_duckdb(duck_places());
  if (!library.ok()) return failed(library.error());
  const Result<FleetReportResult> made =
      report_fleet(read.value(), {library.value(), limits_of(a.limits, 0), a.against, a.force});
  if (!made.ok()) return failed(made.error());
  const FleetReportResult& result = made.value();
  tell(result.notes, a.quiet);
  tell(result.damaged, a.quiet);
  if (a.quiet) return ExitCode::kOk;
  std::string text = fleet_line(result.status) + "\n";
  const Table& ranks = result.answers[0].table;
  if (const auto slow = slow_rank(ranks))
    text += slow->stands_out()
                ? fmt::format("{} is slow: {:.1f} % more work of its own than the median rank\n",
                              slow->part, slow->over_median_percent)
                : fmt::format(
                      "No rank stands out; the slowest has {:.1f} % more work of its own "
                      "than the median rank\n",
                      slow->over_median_percent);
  text += answer_text(ranks, {terminal.color, false, terminal.width}, 10, "all in report/");
  text += fmt::format(
      "Report  {}/report/  (report.html, report.md, a table and a picture for each question)\n",
      screen_safe(a.directory));
  return printed(text);
}

void add_directory(CLI::App& command, FleetArguments& a) {
  command.add_option("DIR", a.directory, "What fathom fleet plan wrote")->required();
}

void add_fleet_plan(CLI::App& fleet, const std::shared_ptr<FleetArguments>& a, ExitCode& code) {
  CLI::App* plan = fleet.add_subcommand(
      "plan", "Find traces, and write a task for each; with --slurm, job scripts");
  plan->add_option("TRACE", a->traces, "Traces, or folders that hold them")->required();
  plan->add_option("--to", a->to, "Folder for tasks, tables and logs")
      ->required()
      ->check(own_place())
      ->option_text("DIR");
  plan->add_flag("--slurm", a->slurm, "Write a job array, a report job and submit.sh");
  plan->add_option("--sbatch", a->options,
                   "An option for sbatch in both scripts, such as --partition=cpu (repeatable)")
      ->option_text("OPTION");
  plan->add_option("--set-up", a->set_up,
                   "A line before the command, such as 'module load gcc' (repeatable)")
      ->option_text("LINE");
  plan->add_option("--container", a->container,
                   "Words before the program, such as 'apptainer exec fathom.sif'")
      ->option_text("WORDS");
  plan->add_option("--program", a->program, "How a node starts fathom (default: this program)")
      ->option_text("PATH");
  plan->add_option("--at-once", a->at_once, "Tasks of the array that run at once (default: 64)")
      ->check(whole_number({1, 1'000'000, 64}))
      ->option_text("N");
  plan->add_option("--traces-per-task", a->per_job,
                   "Traces for one task of the array (default: 1, more over 1,000 traces)")
      ->check(whole_number({1, 1'000'000, 8}))
      ->option_text("N");
  plan->add_flag("--force", a->force, "Write into any directory");
  plan->callback([a, &code] { code = run_fleet_plan(*a); });
}

void add_fleet_run(CLI::App& fleet, const std::shared_ptr<FleetArguments>& a, ExitCode& code) {
  CLI::App* run = fleet.add_subcommand(
      "run", "Export the traces that are not done, as processes here or through a runner");
  add_directory(*run, *a);
  run->add_option("-j,--jobs", a->jobs, "Processes at once (default: half the cores)")
      ->check(whole_number({1, 10'000, 8}))
      ->option_text("N");
  run->add_option("--tries", a->tries, "Attempts for each trace (default: 2)")
      ->check(whole_number({1, 100, 2}))
      ->option_text("N");
  run->add_option("--runner", a->runner,
                  "A shell line that runs {command}, on {host}: 'ssh {host} {command}'")
      ->option_text("LINE");
  run->add_option("--host", a->hosts, "A host for {host}, taken in turn (repeatable)")
      ->option_text("NAME");
  run->add_option("--program", a->program, "How a host starts fathom (default: this program)")
      ->option_text("PATH");
  run->add_flag("-q,--quiet", a->quiet, "No line for each trace");
  run->callback([a, &code] { code = run_fleet_run(*a); });
}

void add_fleet_answers(CLI::App& fleet, const Terminal& terminal,
                       const std::shared_ptr<FleetArguments>& a, ExitCode& code) {
  CLI::App* status =
      fleet.add_subcommand("status", "Show which traces are done, failed or waiting, and why");
  add_directory(*status, *a);
  status->add_flag("--json", a->json, "Print JSON");
  status->callback([a, &code] { code = run_fleet_status(*a); });
  CLI::App* report = fleet.add_subcommand(
      "report", "Report on the tables of all traces: slow ranks, collectives, kernels");
  add_directory(*report, *a);
  report->add_option("--against", a->against, "Another fleet: kernels compared over all ranks")
      ->option_text("DIR");
  report->add_flag("-q,--quiet", a->quiet, "Print nothing but errors");
  report->add_flag("--force", a->force, "Write into any directory");
  add_limit_options(*report, a->limits);
  report->callback([a, &terminal, &code] { code = run_fleet_report(*a, terminal); });
  CLI::App* task = fleet.add_subcommand("task", "Do one task of the plan; the job scripts call it");
  add_directory(*task, *a);
  task->add_option("--job", a->job, "Task of the array, from 0")
      ->check(whole_number({0, 1'000'000'000, 0}))
      ->option_text("N");
  task->add_option("--trace", a->trace, "Row of tasks.tsv, from 0")
      ->check(whole_number({0, 1'000'000'000, 0}))
      ->option_text("N");
  task->add_flag("-q,--quiet", a->quiet, "Keep the reason of a failure to the state and the log");
  task->callback([a, &code] { code = run_fleet_task(*a); });
}

}  // namespace

void add_fleet_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command = app.add_subcommand(kFleetCommand.name, kFleetCommand.text);
  command->footer(kFleetExamples);
  command->require_subcommand(1);
  auto a = std::make_shared<FleetArguments>();
  add_fleet_plan(*command, a, code);
  add_fleet_run(*command, a, code);
  add_fleet_answers(*command, terminal, a, code);
}

}  // namespace fathom
