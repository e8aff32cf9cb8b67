#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/commands.h"
#include "app/option_rules.h"
#include "app/output_options.h"
#include "base/closest_names.h"
#include "base/count_text.h"
#include "base/glob.h"
#include "base/screen_text.h"
#include "scan/files/source_text.h"
#include "session/report_place.h"
#include "session/scan.h"
#include "story/source_outlines.h"

namespace fathom {
namespace {

constexpr const char* kScanExamples = R"(Examples:
  fathom scan path/to/repo                         report in path/to/repo.fathom-scan/
  fathom scan .                                    the folder we are in; the report lies beside it
  fathom scan repo --out scans/repo                somewhere else
  fathom scan repo --select kernels                one kernel on each line, file:line first
  fathom scan repo --kernel 'index*' --platform h200 --param batch=64 --param embed_dim=4096
  fathom scan repo --json --select options | jq '.options[].name'

The report holds quick_scan.md (what it is, how to start and set it, five pages at most; read this
first, it links to the rest), repo_analysis.md (folders, key modules, API, dependencies, where
documentation and code disagree), architecture.md (parts, diagrams, the request path to the
kernels), features.md (techniques and what to measure), kernels.md (every GPU kernel with its
launchers and execution story), the lists entry_points.md, options.md and dependencies.md, and
scan.json (everything, for programs). Of a large repository features/, kernels/ and options/ hold
the details. An earlier report of the same repository is replaced. Files that are not the report's, or
that were changed since, stay. Another report or directory is refused, unless --force is given. The
repository is only read: nothing of it is built or run, and nothing is written into it.)";

struct ScanArguments {
  std::string repository;
  OutputArguments output;
  std::vector<std::string> parts, parameters;
  std::string platform, kernels;
  bool quiet = false, verbose = false, no_cache = false;
  size_t threads = 0;
};

// Only what stands in the report can be said again without reading the code.
bool reuses_report(const ScanArguments& a) {
  return !a.output.no_report && !a.output.force && !a.verbose && !a.no_cache && a.parts.empty();
}

// A pattern that fits no kernel is a mistake in the asking.
Status check_story_request(const ScanArguments& a, const CodeFacts& facts) {
  const auto fits = [&](const KernelFacts& kernel) { return glob_matches(a.kernels, kernel.name); };
  if (a.kernels.empty() || std::any_of(facts.kernels.begin(), facts.kernels.end(), fits))
    return Nothing{};
  std::vector<std::string> names;
  for (const KernelFacts& kernel : facts.kernels) names.push_back(kernel.name);
  if (names.empty()) return Error{fmt::format("--kernel {}: no kernels were found", a.kernels)};
  return Error{fmt::format("--kernel {} matches none of {}; list them with --select kernels{}",
                           a.kernels, counted(names.size(), "kernel"),
                           did_you_mean(a.kernels, names))};
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

Status scan(const ScanArguments& a, const Terminal& terminal) {
  OutputPlace place;
  if (!a.output.no_report) place = TRY(place_of(a));
  ScanReport report;
  report.context.parameters = TRY(Parameters::parse(a.parameters));
  report.context.kernels = a.kernels;
  std::optional<Platform> platform;
  if (!a.platform.empty()) {
    platform = TRY(open_platform(a.platform));
    report.context.platform = &*platform;
  }
  ProgressLine line("reading " + screen_safe(a.repository), terminal.error_is_terminal && !a.quiet);
  const Repository repository = TRY(list_repository(a.repository, a.threads));
  const uint64_t stamp = scan_stamp(repository, report.context, place.path);
  if (reuses_report(a)) {
    // The report is there already, of the same content.
    if (const auto screen = screen_of_same_scan(place.path, stamp)) {
      if (a.output.json)
        return print_output(TRY(read_source_text(place.path / "scan.json", UINT32_MAX)));
      return a.quiet ? Status(Nothing{}) : print_output(*screen);
    }
  }
  ScanOptions options;
  options.threads = a.threads;
  options.progress = [&line](double fraction) { line.update(fraction); };
  report.facts = scan_repository(repository, options);
  TRY(check_story_request(a, report.facts));
  for (const std::string& name : report.context.parameters.unused_in(report.facts)) {
    complain(fmt::format("--param {}: no launch uses this name; ignored", screen_safe(name)));
  }
  SourceOutlines sources(repository.root, report.facts.files);
  report.context.sources = &sources;
  if (a.output.writes()) tell(TRY(write_scan(report, place, stamp)), a.quiet);
  if (a.output.json) return print_output(scan_json(report.facts, a.parts));
  if (!a.parts.empty()) return print_output(scan_lines(report.facts, a.parts));
  if (a.quiet) return Nothing{};
  return print_output(scan_text(report, {terminal.color, a.verbose, terminal.width}));
}

}  // namespace

void add_scan_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command =
      app.add_subcommand("scan", "Find kernels, launchers and options in source code");
  command->footer(kScanExamples);
  auto a = std::make_shared<ScanArguments>();
  command->add_option("REPO", a->repository, "Folder of the repository")
      ->required()
      ->option_text("DIR REQUIRED");
  add_output_options(
      *command, a->output,
      {"Report directory (default: REPO.fathom-scan)",
       "Print what scan.json holds; no report unless --out is given", "Print only, write nothing"});
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
  command->add_flag("--no-cache", a->no_cache, "Scan again even if the repository is unchanged");
  command->add_option("--threads", a->threads, "Threads (default: all cores)")
      ->transform(whole_number(kThreadCounts))
      ->option_text("N");
  command->add_flag("-q,--quiet", a->quiet,
                    "Print only errors and what --select or --kernel asks for");
  command->add_flag("-v,--verbose", a->verbose, "Show all notes on the repository");
  command->callback([a, &terminal, &code] {
    if (!check_output(a->output)) {
      code = ExitCode::kUsage;
      return;
    }
    const Status done = scan(*a, terminal);
    if (done.ok()) return;
    complain(done.error().message);
    code = ExitCode::kFailed;
  });
}

}  // namespace fathom
