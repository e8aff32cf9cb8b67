#include <fmt/format.h>

#include <memory>

#include "app/code/code_commands.h"
#include "app/commands.h"
#include "app/option_rules.h"
#include "app/output_options.h"
#include "base/screen_text.h"
#include "session/code/scan.h"
#include "session/report_place.h"
#include "story/parameters.h"

namespace fathom {
namespace {

constexpr const char* kScanExamples = R"(Examples:
  fathom scan path/to/repo                         report in path/to/repo.fathom-scan/
  fathom scan .                                    the folder we are in; the report lies beside it
  fathom scan repo --out scans/repo                somewhere else
  fathom scan repo --select kernels                one kernel on each line, file:line first
  fathom scan repo --kernel 'index*' --platform h200 --param batch=64 --param embed_dim=4096
  fathom scan repo --counters run.capture          expected against measured, for each kernel
  fathom scan repo --json --select options | jq '.options[].name'

The report holds quick_scan.md (what it is, how to start and set it, five pages at most; read this
first, it links to the rest), repo_analysis.md (folders, key modules, API, dependencies, where
documentation and code disagree), architecture.md (parts, diagrams, the request path to the
kernels), features.md (techniques and what to measure), kernels.md (every GPU kernel with its
launchers and execution story), the lists entry_points.md, options.md and dependencies.md, and
scan.json (everything, for programs). --counters adds expected_vs_measured.md and .csv. Of a large
repository features/, kernels/ and options/ hold the details. An earlier report of the same repository
is replaced. Files that are not the report's, or that were changed since, are kept. Another report or
directory is refused, unless --force is given. The repository is only read: nothing of it is built or
run, and nothing is written into it.)";

struct ScanArguments {
  std::string repository;
  OutputArguments output;
  std::vector<std::string> parts, parameters, counters;
  std::string platform, kernels;
  bool quiet = false, verbose = false, no_cache = false;
  size_t threads = 0;
};

// Only what stands in the report can be said again without reading the code.
bool reuses_report(const ScanArguments& a) {
  return !a.output.no_report && !a.output.force && !a.verbose && !a.no_cache && a.parts.empty();
}

// Where the report goes. With --json alone, where one of the same content may be.
Result<OutputPlace> place_of(const ScanArguments& a) {
  std::filesystem::path directory = a.output.out;
  if (a.output.out.empty() || a.output.is_standard_output()) {
    directory = TRY(default_scan_directory(a.repository));
    if (a.output.writes()) {
      const DefaultPlace found = TRY(writable_place(directory, a.repository, a.repository));
      directory = found.path;
      if (!found.why.empty() && !a.quiet)
        complain(fmt::format("{}; the report goes to {}", found.why, directory.string()));
    }
  }
  const std::string scope = a.kernels.empty() ? "" : "--kernel " + a.kernels;
  OutputPlace place{
      directory, {"scan", subject_of(a.repository, directory), scope}, a.output.force};
  if (!a.output.writes()) return place;
  TRY(check_outside(a.repository, directory));
  TRY(OutputDirectory::check(place));
  return place;
}

Result<ScanResult> scan(const ScanArguments& a, const Terminal& terminal) {
  ScanRequest request;
  request.repository = a.repository;
  request.parameters = a.parameters;
  request.platform = a.platform;
  request.kernels = a.kernels;
  request.counters = a.counters;
  if (!a.output.no_report) request.place = TRY(place_of(a));
  request.writes = a.output.writes();
  request.page = !a.output.no_html;
  request.reuses = reuses_report(a);
  request.threads = a.threads;
  ProgressLine line("reading " + screen_safe(a.repository), terminal.error_is_terminal && !a.quiet);
  request.progress = [&line](double fraction) { line.update(fraction); };
  return scan(request);
}

Status run_scan(const ScanArguments& a, const Terminal& terminal) {
  const ScanResult result = TRY(scan(a, terminal));
  for (const std::string& warning : result.warnings) complain(warning);
  tell(result.notes, a.quiet);
  if (a.output.json) return print_output(TRY(scan_json(result, a.parts)));
  if (!a.parts.empty()) return print_output(scan_lines(result.report.facts, a.parts));
  if (a.quiet) return Nothing{};
  if (result.kept) return print_output(result.kept->screen);
  return print_output(
      scan_text(result.report, {terminal.color, a.verbose, terminal.width}, result.written));
}

}  // namespace

void add_scan_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command = app.add_subcommand(kScanCommand.name, kScanCommand.text);
  command->footer(kScanExamples);
  auto a = std::make_shared<ScanArguments>();
  command->add_option("REPO", a->repository, "Folder of the repository")
      ->required()
      ->option_text("DIR REQUIRED");
  add_output_options(
      *command, a->output,
      {"Report directory (default: REPO.fathom-scan)",
       "Print what scan.json holds; no report unless --out is given", "Print only, write nothing"});
  add_page_option(*command, a->output);
  command
      ->add_option(
          "--select", a->parts,
          "Print only these facts, one per line or as --json; the report is still written unless "
          "--no-report is given; repeatable: kernels, options, entry_points, dependencies, "
          "host_functions, components, features, modules, api, request_path, doc_claims, files")
      ->check(one_of(std::vector<std::string>(std::begin(kScanParts), std::end(kScanParts))))
      ->option_text("PART ...")
      ->delimiter(',')
      ->allow_extra_args(false);  // --select files REPO
  command
      ->add_option("--param", a->parameters,
                   "Set a problem size for the expected behaviour: batch=64, embed_dim=4096, "
                   "dtype=fp16, or any name in the code; repeatable")
      ->check([](const std::string& text) {
        const Result<Parameters> read = Parameters::parse({text});
        if (read.ok()) return std::string();
        // CLI11 puts the option's name in front.
        constexpr std::string_view kOption = "--param ";
        const std::string& message = read.error().message;
        return message.starts_with(kOption) ? message.substr(kOption.size()) : message;
      })
      ->allow_extra_args(false)
      ->option_text("NAME=VALUE");
  command
      ->add_option("--platform", a->platform,
                   "GPU for the expected behaviour: a name from 'fathom platforms', or a file")
      ->option_text("NAME|FILE");
  command
      ->add_option(
          "--kernel", a->kernels,
          "Print the expected behaviour of the kernels with this name ('Batch*') and limit the "
          "execution stories in the report to them (default: all kernels)")
      ->option_text("PATTERN");
  command
      ->add_option(
          "--counters", a->counters,
          "Captures, traces or hardware counters (ncu CSV or .ncu-rep, rocprof CSV) of its "
          "kernels: adds what was measured to each kernel, beside what is expected; "
          "repeatable")
      ->option_text("FILE ...");
  command->add_flag("--no-cache", a->no_cache, "Scan again even if the repository is unchanged");
  command->add_option("--threads", a->threads, "Threads (default: all cores)")
      ->transform(whole_number(kThreadCounts))
      ->option_text("N");
  command->add_flag("-q,--quiet", a->quiet,
                    "Print only errors and the output of --select or --kernel");
  command->add_flag("-v,--verbose", a->verbose, "Show all notes on the repository");
  command->callback([a, &terminal, &code] {
    if (!check_output(a->output)) {
      code = ExitCode::kUsage;
      return;
    }
    const Status done = run_scan(*a, terminal);
    if (done.ok()) return;
    complain(done.error().message);
    code = ExitCode::kFailed;
  });
}

}  // namespace fathom
