#include <fmt/format.h>

#include <ctime>
#include <memory>

#include "app/code/code_commands.h"
#include "app/commands.h"
#include "app/option_rules.h"
#include "app/questions.h"
#include "app/this_machine.h"
#include "report/report_listing.h"
#include "session/code/ablate.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAblateExamples = R"(Examples:
  fathom ablate suite.toml                          show all commands, ask, then run them
  fathom ablate suite.toml --yes --out study        run them without asking
  fathom ablate suite.toml --resume --out study     continue after a crash, a kill or an edit
  fathom ablate suite.toml --replay study           make the report again; nothing is run
  fathom ablate suite.toml --cost-per-hour 3.5      with the cost
  fathom ablate note study --variant v3 --step dropped "slower at short sequences"
  fathom ablate next study                          what to try next on the best variant

A suite names variants by commit, patch, macro, flag, environment variable, file or command, and how each
is built, checked and timed. A small one:
  title = "Sum of rows"
  [build]
  command = ["g++", "-O2", "{macros}", "sum.cc", "-o", "sum"]
  [run]
  command = ["./sum"]
  [check]
  command = ["./sum", "--print"]
  reference = "expected.txt"
  relative = 1e-6
  [time]
  pattern = "time_us = {float}"
  [[variant]]
  name = "plain"
  [[variant]]
  name = "unrolled"
  macros = { UNROLL = 4 }
[[flag]] instead of [[variant]] makes all combinations that leave-one-out needs. docs/ABLATION.md has all keys.

Each variant is built in its own tree below the out folder; the source is only read. A variant that fails
its check is not timed. The out folder gets report.html, OPTIMIZATION_REPORT.md, ablation.csv, ablation.json and
waterfall.svg.

Exit codes:
  0  the suite was run, whatever the variants did
  1  it could not be run, or a time was refused as faster than the hardware
  2  usage error, a mistake in the suite, or the commands were not confirmed
  130  interrupted; --resume goes on)";

struct AblateArguments {
  std::string suite, out, replay;
  bool resume = false, yes = false, json = false, quiet = false, no_html = false;
  std::optional<double> cost_per_hour;
};

// "kernels/rows/suite.toml" → "rows.ablation", "fast.toml" → "fast.ablation".
fs::path default_out(const fs::path& suite) {
  std::error_code error;
  const fs::path whole = fs::absolute(suite, error);
  const std::string stem = whole.stem().string();
  const std::string name = stem == "suite" ? whole.parent_path().filename().string() : stem;
  return (name.empty() ? "suite" : name) + ".ablation";
}

struct Shown {
  bool is_terminal = false, quiet = false;
};

void show_step(void* context, const std::string& step) {
  const Shown& shown = *static_cast<const Shown*>(context);
  if (shown.quiet) return;
  // One line that is written over on a terminal, a line for each step in a log.
  std::fputs(fmt::format("{}fathom: {}{}", shown.is_terminal ? "\r\033[K" : "", step,
                         shown.is_terminal ? "" : "\n")
                 .c_str(),
             stderr);
}

// Whether the commands may run: --yes, or yes on the terminal.
bool is_confirmed(const AblateArguments& a, const Terminal& terminal) {
  if (a.yes) return true;
  if (!terminal.input_is_terminal) {
    complain("nothing was run: add --yes to run these commands");
    return false;
  }
  const auto answer = ask("Run these commands? [y/N] ");
  return answer && (*answer == "y" || *answer == "Y" || *answer == "yes");
}

Status show_study(const AblateArguments& a, const Terminal& terminal,
                  const ablate::Ablation& ablation, const fs::path& out, ExitCode& code) {
  const ablate::Study study = ablation.study();
  const ablate::ReportOptions options{a.cost_per_hour};
  if (!out.empty()) TRY(ablation.write_report(study, options, out));
  if (a.json)
    TRY(print_output(study_json(study, options)));
  else if (!a.quiet)
    TRY(print_output(study_text(study, terminal.color)));
  if (!out.empty() && !a.quiet)
    std::fputs(
        fmt::format("fathom: wrote {}\n", report_words(out.string(), !a.no_html,
                                                       "OPTIMIZATION_REPORT.md, waterfall.svg …"))
            .c_str(),
        stderr);
  for (const std::string& refusal : ablation.refusals(study)) {
    complain(refusal);
    code = ExitCode::kFailed;
  }
  return Nothing{};
}

Status ablate_suite(const AblateArguments& a, const Terminal& terminal, ExitCode& code) {
  ablate::AblateRequest request;
  request.suite = a.suite;
  request.replay = a.replay;
  request.resume = a.resume;
  request.out = a.out.empty() ? default_out(a.suite) : fs::path(a.out);
  request.page = !a.no_html;
  request.environment = this_environment();
  request.program = this_program();
  Result<ablate::Ablation> opened = ablate::Ablation::open(request);
  if (!opened.ok()) {
    code = ExitCode::kUsage;
    complain_lines(opened.error().message);
    return Nothing{};
  }
  ablate::Ablation ablation = opened.take();
  if (!a.replay.empty()) return show_study(a, terminal, ablation, a.out, code);
  const std::string commands = ablation.commands_text();
  if (!a.quiet || !a.yes) std::fputs((commands + "\n").c_str(), stderr);
  if (!is_confirmed(a, terminal)) {
    code = ExitCode::kUsage;
    return Nothing{};
  }
  Shown shown{terminal.error_is_terminal, a.quiet};
  const Status done = ablation.run(show_step, &shown);
  if (shown.is_terminal && !a.quiet) std::fputs("\r\033[K", stderr);
  // What is finished is shown also where the rest failed.
  Status written = show_study(a, terminal, ablation, request.out, code);
  if (!done.ok() && ablation.was_interrupted()) {
    complain(done.error().message);
    code = static_cast<ExitCode>(130);
    return Nothing{};
  }
  TRY(done);
  return written;
}

void add_next(CLI::App& command, ExitCode& code) {
  CLI::App* next = command.add_subcommand(
      "next", "Name the untested hypothesis with the largest expected gain for the best variant");
  next->footer("Examples:\n  fathom ablate next study\n  fathom ablate next study --json");
  struct NextArguments {
    std::string out;
    bool json = false;
  };
  auto a = std::make_shared<NextArguments>();
  next->add_option("DIR", a->out, "Out folder of fathom ablate")->required();
  next->add_flag("--json", a->json, "Print as JSON");
  next->callback([a, &code] {
    const Result<ablate::Ablation> ablation = ablate::Ablation::open_finished(a->out);
    if (!ablation.ok()) {
      complain_lines(ablation.error().message);
      code = ExitCode::kUsage;
      return;
    }
    const ablate::Study study = ablation.value().study();
    const Status done = print_output(a->json ? next_json(study) : next_text(study));
    if (done.ok()) return;
    complain(done.error().message);
    code = ExitCode::kFailed;
  });
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

void add_note_command(CLI::App& command, ExitCode& code) {
  CLI::App* note = command.add_subcommand("note", "Add a step of the loop by hand to the journal");
  note->footer(
      "Examples:\n"
      "  fathom ablate note study --variant v3 --step hypothesis \"rows collide in banks\"\n"
      "  fathom ablate note study --variant v9 --step dropped --hypothesis tensor_starved \"no "
      "gain\"\n\n"
      "kept and dropped override the decision from the times. With --hypothesis, `fathom ablate "
      "next` treats it as tried.");
  struct NoteArguments {
    std::string out;
    ablate::Note note;
  };
  auto a = std::make_shared<NoteArguments>();
  note->add_option("DIR", a->out, "Out folder of fathom ablate")->required();
  note->add_option("TEXT", a->note.text, "What was seen or done")->required();
  note->add_option("--variant", a->note.variant, "Variant that the step is of")
      ->required()
      ->option_text("NAME");
  const auto steps = ablate::note_steps();
  note->add_option("--step", a->note.step,
                   "identified, hypothesis, implemented, validated, kept or dropped")
      ->required()
      ->check(one_of({steps.begin(), steps.end()}))
      ->option_text("STEP");
  std::vector<std::string> ids;
  for (const Hypothesis& one : hypotheses()) ids.emplace_back(one.id);
  note->add_option("--hypothesis", a->note.hypothesis, "Id of the hypothesis that was tried")
      ->check(one_of(std::move(ids)))
      ->option_text("ID");
  note->callback([a, &code] {
    a->note.when = utc_now();
    const Status known = ablate::check_note(a->out, a->note);
    if (!known.ok()) {
      complain_lines(known.error().message);
      code = ExitCode::kUsage;
      return;
    }
    const Status done = ablate::add_note(a->out, a->note);
    if (done.ok()) return;
    complain(done.error().message);
    code = ExitCode::kFailed;
  });
}

}  // namespace

void add_ablate_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command = app.add_subcommand(kAblateCommand.name, kAblateCommand.text);
  command->footer(kAblateExamples);
  auto a = std::make_shared<AblateArguments>();
  command->add_option("SUITE", a->suite, "Suite of variants (suite.toml)");
  command
      ->add_option("-o,--out", a->out,
                   "Folder for trees, journal and report (default: SUITE.ablation)")
      ->check(own_place())
      ->option_text("DIR");
  command->add_flag("--resume", a->resume, "Continue in a folder that has finished steps");
  command->add_flag("-y,--yes", a->yes, "Run the commands without asking");
  command
      ->add_option(
          "--replay", a->replay,
          "Use the journal of this folder and run nothing; prints only, unless --out is given")
      ->option_text("DIR");
  command
      ->add_option("--cost-per-hour", a->cost_per_hour,
                   "Price of the machine per hour: adds the cost to the report")
      ->check(CLI::Range(0.0, 1e9))
      ->option_text("X");
  command->add_flag("--no-html", a->no_html,
                    "Leave out report.html, the report as a page for a browser");
  command->add_flag("--json", a->json, "Print the table as JSON");
  command->add_flag("-q,--quiet", a->quiet, "Print nothing but errors and what --json prints");
  add_note_command(*command, code);
  add_next(*command, code);
  command->callback([a, command, &terminal, &code] {
    if (!command->get_subcommands().empty()) return;
    if (a->suite.empty()) {
      complain("no suite given: fathom ablate suite.toml");
      std::fputs(kTryHelp, stderr);
      code = ExitCode::kUsage;
      return;
    }
    const Status done = ablate_suite(*a, terminal, code);
    if (done.ok()) return;
    complain_lines(done.error().message);
    code = ExitCode::kFailed;
  });
}

}  // namespace fathom
