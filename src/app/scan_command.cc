#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/commands.h"
#include "app/option_rules.h"
#include "base/closest_names.h"
#include "base/count_text.h"
#include "base/glob.h"
#include "report/screen_text.h"
#include "scan/source_text.h"
#include "session/scan.h"
#include "story/source_outlines.h"

namespace fathom {
namespace {

constexpr const char* kExamples = R"(Examples:
  fathom scan path/to/repo                         report in path/to/repo.fathom-scan/
  fathom scan .                                    the folder we are in; the report lies beside it
  fathom scan repo --out scans/repo                somewhere else
  fathom scan repo --select kernels                one kernel on each line, file:line first
  fathom scan repo --kernel 'index*' --platform h200 --param batch=64 --param embed_dim=4096
  fathom scan repo --json --select options | jq '.options[].name'

The report holds quick_scan.md (what it is, how to start and set it, five pages at most; read this
first, it links to the rest), repo_analysis.md (folders, key modules, API, dependencies, where
documentation and code disagree), architecture.md (parts, diagrams, the way of a request to the
kernels), features.md (techniques and what to measure), kernels.md (every GPU kernel with its
launchers and execution story), the lists entry_points.md, options.md and dependencies.md, and
scan.json (everything, for programs). Of a large repository features/, kernels/ and options/ hold
the details. An earlier report is replaced as a whole; any other existing directory is refused. The
repository is only read: nothing of it is built or run, and nothing is written into it.)";

struct ScanArguments {
  std::string repository, out;
  std::vector<std::string> parts, parameters;
  std::string platform, kernels;
  bool json = false, quiet = false, verbose = false, force = false, no_report = false,
       no_cache = false;
  size_t threads = 0;
};

// Only what stands in the report can be said again without reading the code.
bool reuses_report(const ScanArguments& a) {
  return !a.no_report && !a.force && !a.verbose && !a.no_cache && a.parts.empty();
}

// A pattern that fits no kernel is a mistake in the asking.
Status check_story_request(const ScanArguments& a, const CodeFacts& facts) {
  const auto fits = [&](const KernelFacts& kernel) { return glob_matches(a.kernels, kernel.name); };
  if (a.kernels.empty() || std::any_of(facts.kernels.begin(), facts.kernels.end(), fits))
    return Nothing{};
  std::vector<std::string> names;
  for (const KernelFacts& kernel : facts.kernels) names.push_back(kernel.name);
  if (names.empty()) return Error{fmt::format("--kernel {}: no kernels were found", a.kernels)};
  return Error{fmt::format("--kernel {} fits none of {}; --select kernels lists them{}", a.kernels,
                           counted(names.size(), "kernel"), did_you_mean(a.kernels, names))};
}

Status scan(const ScanArguments& a, const Terminal& terminal) {
  std::filesystem::path directory = a.out;
  if (!a.no_report) {
    if (a.out.empty()) directory = TRY(default_scan_directory(a.repository));
    TRY(check_scan_directory(a.repository, directory));
  }
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
  WriteScanOptions write{scan_stamp(repository, report.context, directory), a.force};
  if (reuses_report(a)) {
    // The report is there already, of the same content.
    if (const auto screen = screen_of_same_scan(directory, *write.stamp)) {
      if (a.json) return print_output(TRY(read_source_text(directory / "scan.json", UINT32_MAX)));
      return a.quiet ? Status(Nothing{}) : print_output(*screen);
    }
  }
  ScanOptions options;
  options.threads = a.threads;
  options.progress = [&line](double fraction) { line.update(fraction); };
  report.facts = scan_repository(repository, options);
  TRY(check_story_request(a, report.facts));
  for (const std::string& name : report.context.parameters.unused_in(report.facts)) {
    complain(
        fmt::format("--param {}: no launch uses this name; it changes nothing", screen_safe(name)));
  }
  SourceOutlines sources(repository.root, report.facts.files);
  report.context.sources = &sources;
  if (!a.no_report) TRY(write_scan(report, directory, write));
  if (a.json) return print_output(scan_json(report.facts, a.parts));
  if (!a.parts.empty()) return print_output(scan_lines(report.facts, a.parts));
  if (a.quiet) return Nothing{};
  return print_output(scan_text(report, {terminal.color, a.verbose, terminal.width}));
}

}  // namespace

void add_scan_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command = app.add_subcommand("scan", "Source code → kernels, launchers, options");
  command->footer(kExamples);
  auto a = std::make_shared<ScanArguments>();
  command->add_option("REPO", a->repository, "Folder of the repository")
      ->required()
      ->option_text("DIR REQUIRED");
  CLI::Option* out =
      command->add_option("-o,--out", a->out, "Report directory (default: REPO.fathom-scan)");
  command
      ->add_option(
          "--select", a->parts,
          "Print only these facts, one on each line or with --json; the report is written as well, "
          "unless --no-report is given; repeatable: kernels, options, entry_points, dependencies, "
          "host_functions, components, features, modules, api, request_path, doc_claims, files")
      ->check(one_of(std::vector<std::string>(std::begin(kScanParts), std::end(kScanParts))))
      ->option_text("PART ...")
      ->delimiter(',')
      ->allow_extra_args(false);  // --select files REPO
  command
      ->add_option(
          "--param", a->parameters,
          "What the kernels work on, for the expected behaviour: batch=64, embed_dim=4096, "
          "dtype=fp16, or any name of the code; repeatable")
      ->allow_extra_args(false)
      ->option_text("NAME=VALUE");
  command
      ->add_option("--platform", a->platform,
                   "GPU that behaviour is expected on: a name of 'fathom platforms', or a file")
      ->option_text("NAME|FILE");
  command
      ->add_option(
          "--kernel", a->kernels,
          "Print what to expect of the kernels with this name ('Batch*'), and tell only their "
          "execution stories in the report; default: of all")
      ->option_text("PATTERN");
  command->add_flag("--json", a->json, "Print what scan.json holds");
  CLI::Option* force = command->add_flag(
      "--force", a->force,
      "Put the report into --out even where Fathom did not make it; other files there stay");
  command->add_flag("--no-report", a->no_report, "Print only, write nothing")
      ->excludes(out)
      ->excludes(force);
  command->add_flag("--no-cache", a->no_cache,
                    "Scan again even where the report in --out is of the same content");
  command->add_option("--threads", a->threads, "Threads to use (default: as many as help)")
      ->check(CLI::Range(1, 1024))
      ->option_text("N");
  command->add_flag("-q,--quiet", a->quiet, "Print nothing but errors and what was asked for");
  command->add_flag("-v,--verbose", a->verbose, "Show every note on the repository");
  command->callback([a, &terminal, &code] {
    const Status done = scan(*a, terminal);
    if (done.ok()) return;
    complain(done.error().message);
    code = ExitCode::kFailed;
  });
}

}  // namespace fathom
