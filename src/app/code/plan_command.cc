#include <fmt/format.h>

#include <array>
#include <memory>

#include "app/code/code_commands.h"
#include "app/commands.h"
#include "app/option_rules.h"
#include "app/output_options.h"
#include "app/questions.h"
#include "app/this_machine.h"
#include "base/count_text.h"
#include "base/screen_text.h"
#include "doctor/examine.h"
#include "plan/goal.h"
#include "plan/plan_text.h"
#include "session/code/plan.h"
#include "session/report_place.h"

namespace fathom {
namespace {

constexpr const char* kPlanExamples = R"(Examples:
  fathom plan "Understand vLLM performance" --repo vllm --platform h200
  fathom plan "why is decode slow on an H100" --repo mini-sglang --command 'python benchmark/offline/bench.py'
  fathom plan "compare page sizes in under 20 minutes" --repo engine --out plans/pages
  fathom plan "how far is softmax_kernel from the limit" --repo engine --platform h200 --param batch=64
  fathom plan "speed up the training step within 1e-3" --repo llm.c --budget 1h --json
  fathom plan --check plans/pages/plan.toml        what is wrong with an edited plan, line by line

The plan holds plan.md for people and plan.toml for fathom run: what is asked, what to track in the hardware,
in the process and in the program, with exact counters of that GPU and file:line of log lines and functions;
the environment; experiments with commands, configurations, expected numbers, success criteria and surprises;
the analysis. Numbers come from models of the code and from the platform; the others are marked unknown.
The repository is only read: nothing of it is built or run. On a terminal, plan asks about words that it
did not understand.

Exit codes: 0 a plan was made, or the checked plan has no mistakes; 1 it has, or the plan could not be made;
2 usage error.)";

struct PlanArguments {
  std::string goal, repository, platform, command, check, budget;
  std::vector<std::string> parameters;
  OutputArguments output;
  bool quiet = false;
  size_t threads = 0;
};

// The goal once more, where words of it mean nothing to us and somebody is there to answer.
std::string completed_goal(const PlanArguments& a, const Plan& plan) {
  std::string words;
  for (const std::string& word : plan.goal.unread)
    words += (words.empty() ? "" : ", ") + screen_safe(word);
  const std::optional<std::string> answer =
      ask(fmt::format("Not understood: {}. Say it in other words (Enter: leave it out): ", words));
  if (!answer || answer->empty()) return "";
  return a.goal + ". " + *answer;
}

std::string summary_text(const Plan& plan, const std::string& directory) {
  std::string out;
  if (!plan.open.empty() && plan.open[0] == kNothingUnderstood)
    out += std::string(kNothingUnderstood) + "\n";
  out += fmt::format("{}   {}\n", screen_safe(plan.project), screen_safe(plan.goal.original));
  for (const std::string& question : plan.goal.interpreted)
    out += "  ? " + screen_safe(question) + "\n";
  std::array<size_t, 3> rows = {};
  for (const Requirement& row : plan.requirements) ++rows[static_cast<size_t>(row.level)];
  out += fmt::format("Track        {} hardware, {} process, {} application\n", rows[0], rows[1],
                     rows[2]);
  for (const Experiment& one : plan.experiments) {
    out += fmt::format("{:<12} {}: {}, {}\n", one.id, screen_safe(one.name),
                       counted(static_cast<uint64_t>(runs_of(one)), "run"),
                       duration_text(seconds_of(one)));
  }
  for (const std::string& text : plan.left_out) out += "Left out     " + screen_safe(text) + "\n";
  for (const std::string& text : plan.open) {
    if (text != kNothingUnderstood) out += "Open         " + screen_safe(text) + "\n";
  }
  if (!directory.empty())
    out += fmt::format("Plan         {0}/plan.md, {0}/plan.toml\n", screen_safe(directory));
  return out;
}

class PlanCommand {
 public:
  PlanCommand(const PlanArguments& arguments, const Terminal& terminal)
      : a_(arguments), terminal_(terminal) {}

  ExitCode run() {
    if (!a_.check.empty()) return check();
    const Status done = make();
    if (done.ok()) return ExitCode::kOk;
    complain(done.error().message);
    return ExitCode::kFailed;
  }

 private:
  ExitCode check() {
    const Result<PlanCheck> read = check_plan_file(a_.check, record_value_mistake);
    if (!read.ok()) {
      complain(read.error().message);
      return ExitCode::kFailed;
    }
    for (const std::string& mistake : read.value().mistakes) complain(mistake);
    if (!read.value().mistakes.empty()) return ExitCode::kFailed;
    if (a_.quiet) return ExitCode::kOk;
    const Plan& plan = read.value().plan;
    int64_t runs = 0;
    double seconds = 0;
    for (const Experiment& one : plan.experiments) {
      runs += runs_of(one);
      seconds += seconds_of(one);
    }
    const Status printed = print_output(
        fmt::format("{}: no mistakes; {}, {}, {} planned\n", screen_safe(a_.check),
                    counted(plan.experiments.size(), "experiment"),
                    counted(static_cast<uint64_t>(runs), "run"), duration_text(seconds)));
    return printed.ok() ? ExitCode::kOk : ExitCode::kFailed;
  }

  Status make() {
    PlanRequest request;
    request.goal = a_.goal;
    request.repository = a_.repository;
    request.platform = a_.platform;
    request.command = a_.command;
    request.parameters = a_.parameters;
    request.threads = a_.threads;
    if (!a_.budget.empty()) request.budget = read_duration(a_.budget);
    std::optional<OutputPlace> place;
    if (a_.output.writes()) {
      place = TRY(place_of());
      // From the folder of plan.toml, where run looks for it.
      request.named = subject_of(a_.repository, place->path / "plan.toml");
    }
    request.machine = examine(this_machine());
    Plan plan = TRY(plan_with_progress(request));
    if (!plan.goal.unread.empty() && terminal_.input_is_terminal && terminal_.error_is_terminal &&
        !a_.quiet && !a_.output.json) {
      request.goal = completed_goal(a_, plan);
      if (!request.goal.empty()) plan = TRY(plan_with_progress(request));
    }
    std::string directory;
    if (place) {
      tell(TRY(write_plan(plan, *place)), a_.quiet);
      directory = shown_directory(place->path).string();
    }
    if (a_.output.json) return print_output(plan_json(plan));
    if (a_.quiet) return Nothing{};
    return print_output(summary_text(plan, directory));
  }

  Result<Plan> plan_with_progress(PlanRequest& request) const {
    ProgressLine line("reading " + screen_safe(a_.repository),
                      terminal_.error_is_terminal && !a_.quiet);
    request.progress = [&line](double fraction) { line.update(fraction); };
    return plan_experiments(request);
  }

  Result<OutputPlace> place_of() const {
    std::filesystem::path directory = a_.output.out;
    if (directory.empty()) {
      const std::filesystem::path usual = TRY(default_plan_directory(a_.repository));
      const DefaultPlace found = TRY(writable_place(usual, a_.repository, a_.repository));
      directory = found.path;
      if (!found.why.empty() && !a_.quiet)
        complain(fmt::format("{}; the plan goes to {}", found.why, directory.string()));
    }
    OutputPlace place{
        directory, {"plan", subject_of(a_.repository, directory), ""}, a_.output.force};
    TRY(check_outside(a_.repository, directory));
    TRY(OutputDirectory::check(place));
    return place;
  }

  const PlanArguments& a_;
  const Terminal& terminal_;
};

// What the options need of each other; empty: they fit.
std::string usage_mistake(const PlanArguments& a) {
  if (!a.check.empty()) {
    if (!a.goal.empty() || !a.repository.empty())
      return "--check reads a plan; it takes no GOAL and no --repo";
    return "";
  }
  if (a.goal.find_first_not_of(" \t\r\n") == std::string::npos)
    return "GOAL is missing: say what you want to know, such as 'why is decode slow'";
  if (a.repository.empty()) return "--repo is missing: the folder of the repository";
  if (!a.budget.empty() && !read_duration(a.budget))
    return fmt::format("--budget {}: expected a time above 0 with its unit, such as 90s, 20m or 2h",
                       a.budget);
  return "";
}

}  // namespace

void add_plan_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command = app.add_subcommand(kPlanCommand.name, kPlanCommand.text);
  command->footer(kPlanExamples);
  auto a = std::make_shared<PlanArguments>();
  command->add_option("GOAL", a->goal, "What you want to know, in a sentence")->option_text("TEXT");
  command->add_option("--repo", a->repository, "Folder of the repository that the goal is about")
      ->option_text("DIR");
  command
      ->add_option("--platform", a->platform,
                   "GPU to plan for: a name from 'fathom platforms', or a file (default: this "
                   "machine's, or the one that the goal names)")
      ->option_text("NAME|FILE");
  command
      ->add_option("--command", a->command,
                   "Command that the experiments run, in the repository (default: chosen from its "
                   "documents and entry points)")
      ->option_text("CMD");
  command
      ->add_option("--param", a->parameters,
                   "Set a problem size for the expected numbers: batch=64, dtype=fp16, or any name "
                   "in the code; repeatable")
      ->allow_extra_args(false)
      ->option_text("NAME=VALUE");
  command
      ->add_option("--budget", a->budget,
                   "Keep the most informative experiments within this time: 90s, 20m, 2h (default: "
                   "the goal's limit, or all)")
      ->option_text("TIME");
  command
      ->add_option("--check", a->check,
                   "Check an edited plan.toml: print each mistake with its line")
      ->option_text("FILE");
  add_output_options(
      *command, a->output,
      {"Folder for plan.md and plan.toml (default: REPO.fathom-plan)",
       "Print the plan as JSON; no files unless --out is given", "Print only, write nothing"});
  command->add_option("--threads", a->threads, "Threads (default: all cores)")
      ->transform(whole_number(kThreadCounts))
      ->option_text("N");
  command->add_flag("-q,--quiet", a->quiet, "Print no summary and no notes");
  command->callback([a, &terminal, &code] {
    if (const std::string mistake = usage_mistake(*a); !mistake.empty()) {
      complain(mistake);
      std::fputs(kTryHelp, stderr);
      code = ExitCode::kUsage;
      return;
    }
    if (!check_output(a->output)) {
      code = ExitCode::kUsage;
      return;
    }
    code = PlanCommand(*a, terminal).run();
  });
}

}  // namespace fathom
