#include <fmt/format.h>

#include <memory>

#include "app/code/code_commands.h"
#include "app/commands.h"
#include "app/option_rules.h"
#include "app/questions.h"
#include "app/this_machine.h"
#include "base/count_text.h"
#include "doctor/examine.h"
#include "plan/run/results_text.h"
#include "report/doctor_text.h"
#include "report/report_listing.h"
#include "session/code/plan.h"
#include "session/code/run_plan.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunExamples = R"(Examples:
  fathom run plan.toml                        shows the commands, asks, runs them
  fathom run plan.toml --yes                  without the question
  fathom run plan.toml --only E1 --only E2    some experiments
  fathom run plan.toml --resume --yes         continues after Ctrl-C, a crash or kill -9
  fathom run plan.toml --replay DIR           results of recorded runs; nothing is run
  fathom run plan.toml --lock-clocks 1500     with fixed GPU clocks, if allowed

The commands come from the plan alone, as argument lists: no shell reads them unless an experiment has
shell = true. Everything is written below --out: results.md with expected beside actual observations,
results.json, tables/, stories/, logs/, captures/, and the journal that --resume reads. Without a GPU,
experiments with needs_gpu = false still run.

Exit codes: 0 every run ended well, 1 a run failed or was not made (also where a budget was spent), a
finished run lost its log or capture, or results cannot be written, 2 usage error or a mistake in the
plan, 130 interrupted.)";

struct RunArguments {
  std::string plan, out, replay, clocks;
  std::vector<std::string> only;
  bool resume = false, yes = false, json = false, quiet = false, no_html = false;
};

// "plans/attention.toml" → "plans/attention.results".
fs::path default_results(const fs::path& plan) {
  fs::path out = plan;
  return out.replace_extension(".results");
}

// Whether to go on. What will be run is on the screen then.
bool may_run(const RunArguments& a, const PreparedRun& prepared, const Terminal& terminal,
             ExitCode& code) {
  if (prepared.to_run.empty()) return true;
  std::string text = fmt::format("{} to run in {}:\n", counted(prepared.to_run.size(), "command"),
                                 screen_safe(prepared.folder.string()));
  for (const std::string& line : prepared.shown) text += line + "\n";
  // With --json, standard output is for programs. What is asked about is shown.
  if (!a.quiet || !a.yes) {
    std::fputs(text.c_str(), a.json ? stderr : stdout);
    std::fflush(a.json ? stderr : stdout);
  }
  if (a.yes) return true;
  if (!terminal.input_is_terminal) {
    complain("nothing was run: no terminal to confirm on; --yes runs the commands above");
    code = ExitCode::kUsage;
    return false;
  }
  const std::optional<std::string> answer = ask("Run them? [y/N] ");
  if (answer && (*answer == "y" || *answer == "Y" || *answer == "yes")) return true;
  complain("nothing was run");
  code = ExitCode::kFailed;
  return false;
}

std::string resume_line(const RunArguments& a, const fs::path& out) {
  std::vector<std::string> words = {"fathom", "run", a.plan, "--out", out.string()};
  for (const std::string& id : a.only) words.insert(words.end(), {"--only", id});
  words.emplace_back("--resume");
  return shell_line(words);
}

ExitCode run_run(const RunArguments& a, const Terminal& terminal) {
  RunPlanRequest request;
  request.plan = a.plan;
  request.out = a.out.empty() ? default_results(a.plan) : fs::path(a.out);
  request.only = a.only;
  request.resume = a.resume;
  request.replay = a.replay;
  request.page = !a.no_html;
  request.environment = this_environment();
  request.program = this_program();
  request.check = record_value_mistake;
  if (!a.clocks.empty()) request.lock_clocks = std::stoll(a.clocks);
  if (a.replay.empty()) {
    const Machine machine = this_machine();
    const Environment environment = examine(machine);
    request.has_gpu = environment.cuda_device_count.value_or(0) > 0;
    request.machine = machine_state(machine, environment);
    request.environment_page = environment_markdown(environment);
  }
  Result<PreparedRun> read = prepare_run(request);
  if (!read.ok()) {
    complain_lines(read.error().message);
    return ExitCode::kUsage;
  }
  const PreparedRun prepared = read.take();
  if (!a.quiet) {
    for (const std::string& note : prepared.notes) complain(note);
  }
  ExitCode code = ExitCode::kOk;
  if (!may_run(a, prepared, terminal, code)) return code;
  const auto progress = [&](const std::string& line) {
    if (!a.quiet) complain(line);
  };
  const Result<RunPlanResult> done = run_plan(request, prepared, progress);
  if (!done.ok()) {
    complain_lines(done.error().message);
    return ExitCode::kFailed;
  }
  const RunPlanResult& result = done.value();
  Status printed = Nothing{};
  if (a.json)
    printed = print_output(results_json(result.results));
  else if (!a.quiet)
    printed =
        print_output(results_summary(result.results) +
                     fmt::format("Results: {}\n", report_words(request.out.string(), request.page,
                                                               "results.md, tables/ …")));
  if (!printed.ok()) complain(printed.error().message);
  if (result.interrupted) {
    complain("interrupted; finished runs are kept. To continue: " + resume_line(a, request.out));
    return static_cast<ExitCode>(130);
  }
  if (result.failed_runs > 0)
    complain(fmt::format("{} failed; see {}", counted(result.failed_runs, "run"),
                         (request.out / "logs").string()));
  for (const std::string& line : result.lost_files) complain(line);
  for (const std::string& line : result.not_made) complain(line);
  const bool is_done = result.failed_runs == 0 && result.results.is_complete;
  return printed.ok() && is_done ? ExitCode::kOk : ExitCode::kFailed;
}

}  // namespace

void complain_lines(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    complain(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void add_run_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command = app.add_subcommand(kRunCommand.name, kRunCommand.text);
  command->footer(kRunExamples);
  auto a = std::make_shared<RunArguments>();
  command->add_option("PLAN", a->plan, "plan.toml, as fathom plan writes it")
      ->required()
      ->option_text("FILE");
  command->add_option("--only", a->only, "Run this experiment; repeatable (default: all)")
      ->allow_extra_args(false)
      ->option_text("ID");
  command->add_flag("--resume", a->resume, "Continue with what is not finished in --out");
  command->add_flag("-y,--yes", a->yes, "Run without asking");
  command
      ->add_option("--replay", a->replay, "Use the recordings and logs of this folder; run nothing")
      ->option_text("DIR");
  command->add_option("-o,--out", a->out, "Folder of the results (default: PLAN.results)")
      ->check(own_place())
      ->option_text("DIR");
  command
      ->add_option("--lock-clocks", a->clocks,
                   "Lock the GPU clocks at this frequency in MHz with nvidia-smi, and reset them")
      ->check(whole_number({100, 10'000, 1500}))
      ->option_text("MHZ");
  command->add_flag("--no-html", a->no_html,
                    "Leave out report.html, the report as a page for a browser");
  command->add_flag("--json", a->json, "Print results.json on standard output");
  command->add_flag("-q,--quiet", a->quiet, "Print no progress and no summary");
  command->callback([a, &terminal, &code] { code = run_run(*a, terminal); });
}

}  // namespace fathom
