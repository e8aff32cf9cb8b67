#include <fmt/format.h>

#include <memory>

#include "app/code/code_commands.h"
#include "app/commands.h"
#include "app/option_rules.h"
#include "base/screen_text.h"
#include "session/analyze.h"
#include "session/code/convert.h"

namespace fathom {
namespace {

constexpr const char* kConvertExamples = R"(Examples:
  fathom convert run.capture run.json             open it at ui.perfetto.dev
  fathom convert run.capture run.json.gz          compressed
  fathom convert run.capture run.json.zst         smaller; analyze reads it, Perfetto does not
  fathom convert trace.json.gz --to perfetto      with what analyze found, in trace.perfetto.json

The JSON is what PyTorch's profiler writes. Hardware counters of a capture are not in it. --to perfetto
adds tracks: phases, idle time by cause, the critical path, findings, and how many launches were waiting.)";

struct ConvertArguments {
  std::string input, out, to = "json";
  bool force = false, quiet = false;
};

// "traces/llama.json.gz" → "traces/llama.perfetto.json"
std::string perfetto_name(const std::string& input) {
  std::string name = default_report_directory(input).string();
  return name.substr(0, name.size() - std::string_view(".fathom").size()) + ".perfetto.json";
}

Status print_trace(const Trace& trace, const std::vector<AddedTrack>& added) {
  TRY(check_has_events(trace));
  return write_chrome_trace(trace.store, print_output, added);
}

Status convert(ConvertArguments a, const Terminal& terminal) {
  const bool annotates = a.to == "perfetto";
  if (a.out.empty()) a.out = perfetto_name(a.input);
  ProgressLine line("reading " + screen_safe(a.input), terminal.error_is_terminal && !a.quiet);
  OpenOptions options;
  options.progress = [&line](double fraction) { line.update(fraction); };
  const Trace trace = TRY(open_trace(a.input, options));
  std::vector<AddedTrack> added;
  if (annotates) added = TRY(analysis_tracks(trace));
  const bool prints = a.out == "-";
  int64_t size = 0;
  if (prints)
    TRY(print_trace(trace, added));
  else
    size = TRY(convert_trace(trace, a.out, a.force, added));
  for (const Diagnostic& found : trace.store.diagnostics().all()) {
    const FlawText& flaw = describe(found.flaw);
    if (flaw.severity < Severity::kDataLoss) continue;
    complain(fmt::format("{}: {}{}", severity_name(flaw.severity), flaw.text,
                         found.count > 1 ? fmt::format(" ({})", with_thousands(found.count)) : ""));
  }
  if (a.quiet || prints) return Nothing{};
  return print_output(fmt::format("{}  {} events, {} bytes\n", screen_safe(a.out),
                                  with_thousands(static_cast<int64_t>(trace.store.size())),
                                  with_thousands(size)));
}

}  // namespace

void add_convert_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command = app.add_subcommand(kConvertCommand.name, kConvertCommand.text);
  command->footer(kConvertExamples);
  auto a = std::make_shared<ConvertArguments>();
  command->add_option("INPUT", a->input, "Capture or trace")->required();
  command->add_option(
      "OUT", a->out,
      "File to write (.json, .json.gz, .json.zst), - for standard output; --to perfetto: default "
      "INPUT.perfetto.json");
  command
      ->add_option("--to", a->to,
                   "json (default): the trace alone; perfetto: with tracks of what analyze found")
      ->check(one_of({"json", "perfetto"}))
      ->option_text("FORMAT");
  command->add_flag("--force", a->force, "Replace OUT");
  command->add_flag("-q,--quiet", a->quiet, "Print nothing but errors");
  command->callback([a, &terminal, &code] {
    if (a->out.empty() && a->to != "perfetto") {
      complain("OUT is required");
      std::fputs(kTryHelp, stderr);
      code = ExitCode::kUsage;
      return;
    }
    const Status done = convert(*a, terminal);
    if (done.ok()) return;
    complain(done.error().message);
    code = ExitCode::kFailed;
  });
}

}  // namespace fathom
