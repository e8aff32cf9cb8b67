#include <fmt/format.h>

#include <memory>

#include "app/commands.h"
#include "app/option_rules.h"
#include "app/output_options.h"
#include "base/json_writer.h"
#include "base/screen_text.h"
#include "session/analyze.h"
#include "session/replay.h"
#include "session/report_place.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReplayExamples = R"(Examples:
  fathom replay pack trace.json.gz --op aten::mm
  fathom replay pack trace.json.gz --op 'aten::*norm*' --op aten::mm --out packages
  fathom replay pack trace.json.gz --op aten::mm --out mm.zip
  fathom replay pack trace.json.gz --top 5         the five ops with most GPU time

  unzip trace.replay_packages/aten_mm_replay_package.zip -d mm
  python3 mm/replay.py                             recorded against replayed kernel time

Each package holds replay.py with two modules, metadata.json and README.md, and needs PyTorch and a
GPU to run, not the trace and not Fathom. The trace must have shapes: record it with record_shapes=True.

Exit codes:
  0  every op named was packed
  1  an op named was not packed, or nothing was; standard error says why
  2  usage error)";

struct PackArguments {
  std::string trace;
  OutputArguments output;
  PackOptions options;
  bool quiet = false;

  // Packing is what the command is for, so --json alone packs.
  bool writes() const { return !output.no_report; }
  bool is_one_file() const { return output.is_standard_output() || output.out.ends_with(".zip"); }
};

double percent(Nanos part, Nanos whole) { return ratio(part, whole) * 100; }

// `where` is empty where no directory was written.
std::string pack_text(const PackResult& result, const std::string& where) {
  std::string text;
  for (const PackedOp& op : result.packed) {
    const size_t all = op.cases + op.left_out;
    std::string cases =
        op.left_out > 0 ? fmt::format("{} of {}", op.cases, all) : fmt::format("{}", op.cases);
    text += fmt::format("{} {:>9} argument set{} {:>9.2f} ms {:>5.1f} %   {}\n",
                        fit_left(screen_safe(op.op), 40), cases, all == 1 ? " " : "s",
                        op.time.millis(), percent(op.time, result.whole), op.file);
    if (op.left_out > 0) {
      text += fmt::format("    {} with {:.1f} % of the op's time left out\n", op.left_out,
                          percent(op.left_out_time, op.time));
    }
    if (op.refused_time > Nanos{}) {
      text += fmt::format("    {:.1f} % of the op's time cannot be replayed; see its README.md\n",
                          percent(op.refused_time, op.time));
    }
  }
  if (!result.packed.empty() && !where.empty())
    text += fmt::format("Packages in {}/\n", screen_safe(where));
  return text;
}

std::string pack_json(const PackResult& result) {
  JsonWriter json(true);
  json.begin_object();
  json.key("trace").value(result.trace);
  json.key("gpu");
  result.gpu.empty() ? json.null() : json.value(result.gpu);
  json.key("directory");
  result.directory.empty() ? json.null() : json.value(result.directory.string());
  json.key("gpu_time_us").value(result.whole.micros());
  json.key("packages").begin_array();
  for (const PackedOp& op : result.packed) {
    json.begin_object();
    json.key("op").value(op.op);
    json.key("file").value(op.file);
    json.key("calls").value(static_cast<int64_t>(op.calls));
    json.key("cases").value(static_cast<int64_t>(op.cases));
    json.key("cases_left_out").value(static_cast<int64_t>(op.left_out));
    json.key("gpu_time_us").value(op.time.micros());
    json.key("left_out_us").value(op.left_out_time.micros());
    json.key("cannot_be_replayed_us").value(op.refused_time.micros());
    json.end_object();
  }
  json.end_array();
  json.key("not_packed").begin_array();
  for (const UnpackedOp& op : result.unpacked) {
    json.begin_object();
    json.key("op").value(op.op);
    json.key("why").value(op.why);
    json.key("gpu_time_us").value(op.time.micros());
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take() + "\n";
}

Result<PackResult> pack(const PackArguments& arguments, const Terminal& terminal) {
  ProgressLine line("reading " + screen_safe(arguments.trace),
                    terminal.error_is_terminal && !arguments.quiet);
  OpenOptions options;
  options.cache = cache_beside(default_report_directory(arguments.trace));
  options.keep = arguments.writes();
  options.progress = [&line](double fraction) { line.update(fraction); };
  PackPlace place{arguments.output.out, arguments.is_one_file(), arguments.output.force,
                  arguments.writes()};
  if (arguments.output.out.empty() && place.write) {
    const DefaultPlace found =
        TRY(writable_place(default_package_directory(arguments.trace), arguments.trace));
    place.path = found.path;
    if (!found.why.empty() && !arguments.quiet)
      complain(fmt::format("{}; the packages go to {}", found.why, place.path.string()));
  }
  const Trace trace = TRY(open_trace(arguments.trace, options));
  return pack_replays(trace, arguments.options, place);
}

ExitCode run_pack(const PackArguments& arguments, const Terminal& terminal) {
  const Result<PackResult> result = pack(arguments, terminal);
  if (!result.ok()) {
    complain(result.error().message);
    return ExitCode::kFailed;
  }
  bool failed = result.value().packed.empty();
  for (const UnpackedOp& op : result.value().unpacked) {
    // An op that a pattern or its time brought in is a note, but for the last word.
    if (op.by_name || !arguments.quiet) complain(op.why);
    failed = failed || op.by_name;
  }
  Status shown = Nothing{};
  tell(result.value().notes, arguments.quiet);
  const bool in_directory = arguments.writes() && !arguments.is_one_file();
  if (arguments.output.is_standard_output()) {
    shown = print_output(result.value().bytes);
  } else if (arguments.output.json) {
    shown = print_output(pack_json(result.value()));
  } else if (!arguments.quiet) {
    shown = print_output(
        pack_text(result.value(), in_directory ? result.value().directory.string() : ""));
  }
  if (!shown.ok()) complain(shown.error().message);
  return failed || !shown.ok() ? ExitCode::kFailed : ExitCode::kOk;
}

}  // namespace

void add_replay_commands(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* replay = app.add_subcommand("replay", "Run a trace's ops again, one at a time");
  replay->require_subcommand(1);
  replay->footer("Try:\n  fathom replay pack trace.json.gz --op aten::mm");
  CLI::App* command =
      replay->add_subcommand("pack", "Pack an op of a trace into a script that reproduces it");
  command->footer(kReplayExamples);
  auto a = std::make_shared<PackArguments>();
  command
      ->add_option("TRACE", a->trace,
                   "Trace file (.json, .json.gz, .json.zst), or - for standard input")
      ->required();
  CLI::Option* op =
      command->add_option("--op", a->options.ops, "Pack this op; * and ? match any; repeatable");
  op->option_text("NAME")->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  CLI::Option* top =
      command->add_option("--top", a->options.top, "Pack the N ops with most GPU time");
  top->transform(whole_number({1, 1000000, 5}))->option_text("N")->excludes(op);
  command
      ->add_option("--cases", a->options.max_cases,
                   "Pack at most this many argument sets per op (default: 20)")
      ->transform(whole_number({1, 1000000, 20}))
      ->option_text("N");
  add_output_options(
      *command, a->output,
      {"Directory for the packages (default: TRACE.replay_packages), a name that "
       "ends in .zip for one package, or - for standard output",
       "Print what was packed as JSON", "Print what would be packed, write nothing"});
  command->add_flag("-q,--quiet", a->quiet, "Print nothing but errors and what --json prints");
  command->callback([a, &terminal, &code] {
    if (a->options.ops.empty() && a->options.top == 0) {
      complain(
          "no op selected: name ops with --op, or select those with most GPU time with --top N");
      code = ExitCode::kUsage;
      return;
    }
    if (a->output.is_standard_output() && (a->output.json || terminal.output_is_terminal)) {
      complain(a->output.json
                   ? "--out - and --json both print to standard output; give one of them"
                   : "--out -: a package is binary and standard output is a terminal; name a file");
      std::fputs(kTryHelp, stderr);
      code = ExitCode::kUsage;
      return;
    }
    code = run_pack(*a, terminal);
  });
}

}  // namespace fathom
