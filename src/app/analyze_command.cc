#include <fmt/format.h>

#include <memory>
#include <set>

#include "app/commands.h"
#include "app/option_rules.h"
#include "app/output_options.h"
#include "app/questions.h"
#include "app/reading_options.h"
#include "app/remote.h"
#include "app/scope_options.h"
#include "app/together_run.h"
#include "base/count_text.h"
#include "base/output_directory.h"
#include "base/screen_text.h"
#include "report/csv.h"
#include "session/analyze.h"
#include "session/counters.h"
#include "session/graph_nodes.h"
#include "session/hardware_summary.h"
#include "session/rank_collectives.h"
#include "session/report_place.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExamples = R"(Examples:
  fathom analyze trace.json.gz                     report in trace.fathom/
  fathom analyze trace.json.zst --out report       somewhere else
  fathom analyze rank*.json.gz --out reports       one report for each trace
  fathom analyze rank_traces/ --together           one report of all ranks: who is late, and why
  fathom analyze report.sqlite                     of nsys export --type sqlite report.nsys-rep
  fathom analyze run_results.json                  of rocprofv3 --output-format json (or csv, rocpd, pftrace)
  zcat trace.json.gz | fathom analyze -            from standard input
  fathom analyze trace.json --steps 2:5            the steps 2, 3 and 4 only, counted from 0
  fathom analyze trace.json --steps ProfilerStep#2 the step of this name; '#2:#4' for a range
  fathom analyze trace.json --step-pattern 'decode*' --steps 0:8
  fathom analyze trace.json --repo ~/engine        file and line of the kernels
  fathom analyze trace.json counters.csv           hardware counters of its kernels (ncu, rocprof)
  fathom analyze trace.json --what-if 'op=aten::mm x0.5' --what-if 'sync remove'
  fathom analyze report.ncu-rep                    counters alone
  fathom analyze trace.json --json | jq .gpu_timeline_ms

The report holds report.html (what matters and what to do, with the timeline; open it in a browser),
standalone_analysis_fair.md (the same as text), story.md (what happened when, and how the hardware
behaved), standalone_analysis_rough.md (working notes), perf_report_csvs/ and perf_report.xlsx (all
tables), category_data/, category_findings/, metadata/, replay_packages/ and summary.json. Counters add
kernel_counters.csv, counters.csv and kernels/, with --repo also expected_vs_measured.md; without a
trace, counters.md sums them up. An earlier report of the same trace and scope is replaced. Files that
are not the report's, or that were changed since, stay. Another report or directory is refused, unless
--force is given.)";

constexpr const char* kExitCodes = R"(

Exit codes:
  0  every trace was analyzed and its report written
  1  a trace could not be read or its report not written; the other traces are analyzed
  2  usage error)";

struct AnalyzeArguments {
  std::vector<std::string> traces;
  OutputArguments output;
  std::string platform, repository, capture;
  std::vector<std::string> what_if;
  std::vector<WhatIfQuestion> questions;  // what_if, parsed
  ScopeArguments scope;
  std::optional<int64_t> rank;
  ReadingArguments reading;
  bool verbose = false;
  bool no_cache = false;
  bool together = false;
  RemotePlace place;
};

// Only where somebody is there to answer: never in a pipe or a script.
bool ask_for_arguments(AnalyzeArguments& a, const Terminal& terminal) {
  if (!terminal.input_is_terminal || !terminal.error_is_terminal) return false;
  const std::optional<std::string> trace = ask("Trace file: ");
  if (!trace || trace->empty()) return false;
  a.traces = {*trace};
  if (a.output.out.empty() && a.output.writes()) {
    const std::string usual = default_report_directory(*trace).string();
    a.output.out = ask(fmt::format("Report directory [{}]: ", usual)).value_or("");
  }
  if (a.place.host.empty()) a.place.host = ask("Host to analyze on [this one]: ").value_or("");
  if (a.place.container.empty()) {
    a.place.container = ask("Container to analyze in [none]: ").value_or("");
  }
  return true;
}

OutputPlace local_place(const AnalyzeArguments& a) {
  const fs::path path = a.output.out.empty()
                            ? default_report_directory(fs::path(a.traces[0]).filename().string())
                            : fs::path(a.output.out);
  std::string subject = a.traces[0];
  for (const std::string& part : {a.place.container, a.place.host}) {
    if (!part.empty()) subject.insert(0, ":").insert(0, part);
  }
  return {path, {"analyze", subject, scope_text(a.scope, a.reading.max_size)}, a.output.force};
}

// The same command over there, its report brought here.
ExitCode analyze_there(const AnalyzeArguments& a) {
  if (a.traces.size() != 1 || a.traces[0] == "-") {
    complain("--host and --container take one trace, a path on that machine");
    return ExitCode::kUsage;
  }
  const std::string remote = remote_report_directory();
  std::vector<std::string> words = {"fathom", "analyze", "--no-cache"};
  if (a.output.writes()) {
    words.insert(words.end(), {"--out", remote});
  } else {
    words.emplace_back("--no-report");
  }
  const auto pass = [&words](std::string_view option, const std::string& value) {
    // One word: a value of its own may begin with a dash.
    if (!value.empty()) words.push_back(fmt::format("{}={}", option, value));
  };
  pass("--platform", a.platform);
  for (const std::string& question : a.what_if) pass("--what-if", question);
  pass("--repo", a.repository);
  pass("--capture", a.capture);
  pass("--steps", a.scope.steps);
  pass("--step-pattern", a.scope.step_pattern);
  pass("--device", a.scope.device ? std::to_string(*a.scope.device) : "");
  pass("--rank", a.rank ? std::to_string(*a.rank) : "");
  pass("--threads", a.reading.threads > 0 ? std::to_string(a.reading.threads) : "");
  pass("--max-size", a.reading.max_size > 0 ? std::to_string(a.reading.max_size) : "");
  if (a.output.no_html) words.emplace_back("--no-html");
  if (a.scope.include_unlinked) words.emplace_back("--include-unlinked");
  if (a.output.json) words.emplace_back("--json");
  if (a.reading.quiet) words.emplace_back("--quiet");
  if (a.verbose) words.emplace_back("--verbose");
  words.insert(words.end(), {"--", a.traces[0]});
  // Looked at before: over there it may take hours.
  const OutputPlace local = local_place(a);
  const Status free = a.output.writes() ? OutputDirectory::check(local) : Status(Nothing{});
  if (!free.ok()) {
    complain(free.error().message);
    return ExitCode::kFailed;
  }
  const Result<int> code = run_there(a.place, words);
  if (!code.ok()) {
    complain(code.error().message);
    return ExitCode::kFailed;
  }
  if (code.value() != 0) {
    complain(fmt::format("remote fathom exited with code {}", code.value()));
    return ExitCode::kFailed;
  }
  if (!a.output.writes()) return ExitCode::kOk;
  const Result<std::vector<std::string>> fetched = fetch_report(a.place, remote, local);
  if (!fetched.ok()) {
    complain(fetched.error().message);
    return ExitCode::kFailed;
  }
  tell(fetched.value(), a.reading.quiet);
  if (!a.reading.quiet && !a.output.json)
    (void)print_output(fmt::format("Copied to {}/\n", screen_safe(local.path.string())));
  return ExitCode::kOk;
}

// One trace: --out is its report. Several: --out holds a report for each, named after the trace.
// Without --out, the usual place or, as a note then says, the current folder.
std::vector<fs::path> report_directories(const AnalyzeArguments& arguments) {
  const std::string& out = arguments.output.out;
  std::vector<fs::path> directories;
  std::set<fs::path> used;
  std::error_code ignored;
  for (const std::string& trace : arguments.traces) {
    fs::path directory = default_report_directory(trace);
    if (arguments.output.writes() && out.empty()) {
      const Result<DefaultPlace> place = writable_place(directory, trace, arguments.repository);
      // Where there is none, writing says why.
      if (place.ok() && !place.value().why.empty() && !arguments.reading.quiet) {
        complain(fmt::format("{}; the report goes to {}", place.value().why,
                             place.value().path.string()));
      }
      if (place.ok()) directory = place.value().path;
    } else if (arguments.output.writes()) {
      directory =
          arguments.traces.size() == 1 ? fs::path(out) : fs::path(out) / directory.filename();
    }
    // rank0/trace.json and rank1/trace.json in one --out.
    const fs::path wanted = directory;
    for (int n = 2; !used.insert(fs::weakly_canonical(directory, ignored)).second; ++n) {
      directory = wanted.parent_path() / fmt::format("{}-{}.fathom", wanted.stem().string(), n);
    }
    directories.push_back(directory);
  }
  return directories;
}

// The options that ask for what a report of several ranks does not have.
std::optional<std::string_view> not_together(const AnalyzeArguments& a) {
  if (!a.repository.empty()) return "--repo";
  if (!a.capture.empty()) return "--capture";
  if (!a.what_if.empty()) return "--what-if";
  if (a.rank) return "--rank";
  if (!a.place.is_here()) return "--host and --container";
  return {};
}

ExitCode analyze_together_here(const AnalyzeArguments& a, const Terminal& terminal,
                               const CodeHalf& half) {
  if (const auto option = not_together(a)) {
    complain(fmt::format("--together does not go with {}", *option));
    std::fputs(kTryHelp, stderr);
    return ExitCode::kUsage;
  }
  const Result<bool> done =
      half.together({a.traces, a.output, a.platform, a.scope, a.reading, a.verbose}, terminal);
  if (!done.ok()) complain(done.error().message);
  return done.ok() && done.value() ? ExitCode::kOk : ExitCode::kFailed;
}

class AnalyzeRun {
 public:
  AnalyzeRun(AnalyzeArguments arguments, const Terminal& terminal, const CodeHalf& half)
      : arguments_(std::move(arguments)), terminal_(terminal), half_(half) {}

  ExitCode run() {
    bool failed = !open_counter_files();
    if (arguments_.traces.empty()) {
      if (!arguments_.repository.empty() && !counters_.empty())
        complain(
            fmt::format("--repo is not used for counters without a trace; use: fathom scan {} "
                        "--counters {}",
                        screen_safe(arguments_.repository), screen_safe(counter_paths_.front())));
      const Status done = counters_.empty() ? Status(Nothing{}) : report_counters();
      if (!done.ok()) complain(done.error().message);
      return failed || !done.ok() ? ExitCode::kFailed : ExitCode::kOk;
    }
    if (!arguments_.repository.empty()) {
      Result<std::unique_ptr<const KnownCode>> code =
          read_with_progress(half_.read, arguments_.repository, arguments_.reading, terminal_);
      if (!code.ok()) {
        complain(code.error().message);
        return ExitCode::kFailed;
      }
      code_ = code.take();
    }
    leave_out_repeated_paths();
    const std::vector<fs::path> directories = report_directories(arguments_);
    first_report_ = directories.front();
    for (size_t i = 0; i < arguments_.traces.size(); ++i) {
      const OutputPlace place = place_of(arguments_.traces[i], directories[i]);
      const Status allowed =
          arguments_.output.writes() ? check(arguments_.traces[i], place) : Status(Nothing{});
      const Status done = allowed.ok() ? analyze_one(arguments_.traces[i], place) : allowed;
      if (done.ok()) continue;
      complain(done.error().message);
      failed = true;
    }
    if (!failed && reports_ == 0) {
      const size_t given = arguments_.traces.size();
      complain(given == 1
                   ? fmt::format("the trace is not of rank {}", *arguments_.rank)
                   : fmt::format("none of the {} traces is of rank {}", given, *arguments_.rank));
      failed = true;
    }
    if (arguments_.output.json && arguments_.traces.size() > 1) {
      const Status closed = print_output(reports_ == 0 ? "[]\n" : "]\n");
      failed = failed || !closed.ok();
    }
    const Status compared = compare_traces();
    if (!compared.ok()) complain(compared.error().message);
    return failed || !compared.ok() ? ExitCode::kFailed : ExitCode::kOk;
  }

 private:
  // A file that is given twice is one trace.
  void leave_out_repeated_paths() {
    std::set<fs::path> seen;
    std::vector<std::string> traces;
    for (const std::string& path : arguments_.traces) {
      std::error_code error;
      const fs::path canonical = fs::canonical(path, error);
      if (error || seen.insert(canonical).second) {
        traces.push_back(path);
      } else {
        tell({fmt::format("{} is given more than once: it is read once", path)},
             arguments_.reading.quiet);
      }
    }
    arguments_.traces = std::move(traces);
  }

  // What several ranks tell of their collectives that one does not.
  Status compare_traces() {
    for (const RepeatedRank& repeat : leave_out_repeats(ranks_))
      tell({repeated_rank_line(repeat)}, arguments_.reading.quiet);
    const std::optional<RankWaits> waits = compare_ranks(ranks_);
    if (!waits) return Nothing{};
    std::string text = "\n";
    for (const std::string& line : rank_waits_lines(*waits)) text += screen_safe(line) + "\n";
    if (arguments_.output.writes()) {
      const fs::path directory = TRY(write_ranks(*waits));
      text += fmt::format("  {}/  (ranks.csv, collectives_by_rank.csv)\n",
                          screen_safe(directory.string()));
    }
    if (arguments_.output.json || arguments_.reading.quiet) return Nothing{};
    return print_output(text);
  }

  // Beside the report of the first trace.
  Result<fs::path> write_ranks(const RankWaits& waits) const {
    OutputPlace place = place_of(ranks_.front().trace, first_report_);
    place.identity.kind = "analyze ranks";
    place.path = first_report_.parent_path() / (first_report_.stem().string() + "-ranks.fathom");
    OutputDirectory directory = TRY(OutputDirectory::create(place));
    for (const Table& sheet : rank_sheets(ranks_, waits))
      TRY(directory.write_file(sheet.name() + ".csv", to_csv(sheet)));
    tell(TRY(directory.commit()), arguments_.reading.quiet);
    return place.path;
  }

  // Takes the files of counters out of the traces. False where one of them cannot be read.
  bool open_counter_files() {
    bool ok = true;
    std::vector<std::string> traces;
    for (const std::string& path : arguments_.traces) {
      Result<std::optional<CounterFile>> opened = open_counters(path);
      if (!opened.ok()) {
        complain(opened.error().message);
        ok = false;
        continue;
      }
      std::optional<CounterFile> file = opened.take();
      if (!file) {
        traces.push_back(path);
        continue;
      }
      counters_.push_back(std::move(*file));
      counter_paths_.push_back(path);
    }
    arguments_.traces = std::move(traces);
    return ok;
  }

  Status report_counters() {
    std::optional<Platform> platform;
    if (!arguments_.platform.empty()) platform = TRY(open_platform(arguments_.platform));
    const CounterReport report = analyze_counters(counters_, platform ? &*platform : nullptr);
    WrittenReport written;
    if (arguments_.output.writes()) {
      // One report for all of them, named after the first.
      AnalyzeArguments first = arguments_;
      first.traces = {counter_paths_.front()};
      const OutputPlace place = place_of(counter_paths_.front(), report_directories(first).front());
      TRY(OutputDirectory::check(place));
      written =
          TRY(write_counter_report(report, counters_, arguments_.output.writes_page(), place));
      tell(written.notes, arguments_.reading.quiet);
    }
    if (arguments_.output.json) return print_output(counters_json(report, written.listing));
    if (arguments_.reading.quiet) return Nothing{};
    return print_output(counters_text(
        report, {terminal_.color, arguments_.verbose, terminal_.width}, written.listing));
  }

  OutputPlace place_of(const std::string& trace, const fs::path& directory) const {
    return {directory,
            {"analyze", subject_of(trace, directory),
             scope_text(arguments_.scope, arguments_.reading.max_size)},
            arguments_.output.force};
  }

  // Before the trace is read, which may take long. What is not there is told by opening it.
  Status check(const std::string& trace, const OutputPlace& place) const {
    std::error_code error;
    if (trace != "-" && !fs::exists(trace, error)) return Nothing{};
    if (code_) TRY(check_outside(arguments_.repository, place.path));
    return OutputDirectory::check(place);
  }

  Status analyze_one(const std::string& path, const OutputPlace& place) {
    Trace trace = TRY(open(path, place.path));
    if (arguments_.rank && trace.store.metadata().rank != arguments_.rank) return Nothing{};
    if (!arguments_.capture.empty()) TRY(name_graphs(trace));
    Scope scope = TRY(make_scope(arguments_.scope, trace));
    scope.rank = arguments_.rank;
    AnalyzeOptions options;
    options.threads = arguments_.reading.threads;
    options.code = code_.get();
    options.what_if = arguments_.questions;
    options.page = arguments_.output.writes_page();
    std::vector<CounterFile> own = TRY(open_capture_counters(trace));
    const size_t others = counters_.size();
    for (CounterFile& file : own) counters_.push_back(std::move(file));
    options.counters = &counters_;
    const std::optional<StallSamples> samples = TRY(open_capture_samples(trace));
    if (samples) options.samples = &*samples;
    std::optional<Platform> platform;
    if (!arguments_.platform.empty()) {
      platform = TRY(open_platform(arguments_.platform));
      options.platform = &*platform;
    } else if (terminal_.input_is_terminal && terminal_.error_is_terminal &&
               !arguments_.reading.quiet && detect_platform(trace) == nullptr) {
      platform = ask_platform();
      if (platform) options.platform = &*platform;
    }
    const Result<Analysis> made = analyze(trace, scope, options);
    counters_.resize(others);  // the capture's own are of it only
    const Analysis analysis = TRY(made);
    WrittenReport written;
    if (arguments_.output.writes()) {
      written = TRY(write_report(analysis, place));
      tell(written.notes, arguments_.reading.quiet);
    }
    TRY(show(analysis.summary, written.listing));
    ++reports_;
    if (arguments_.traces.size() > 1) ranks_.push_back(collect_collectives(trace));
    if (trace.saving.valid()) {
      const Status saved = trace.saving.get();
      if (!saved.ok()) tell({saved.error().message}, arguments_.reading.quiet);
    }
    return Nothing{};
  }

  Status name_graphs(Trace& trace) const {
    const Trace capture =
        TRY(open_with_progress(arguments_.capture, arguments_.reading, terminal_, OpenOptions{}));
    const NamedGraphs named = TRY(name_graph_nodes(trace, capture));
    std::string note = fmt::format("{} of {} got the ops of {} ({})",
                                   with_thousands(static_cast<int64_t>(named.named)),
                                   counted(named.launches, "graph launch", "graph launches"),
                                   arguments_.capture, counted(named.kernels, "kernel"));
    if (named.ambiguous > 0)
      note += fmt::format("; {} fit several captured graphs",
                          counted(named.ambiguous, "launch", "launches"));
    tell({note}, arguments_.reading.quiet);
    return Nothing{};
  }

  Result<Trace> open(const std::string& path, const fs::path& directory) const {
    OpenOptions options;
    if (!arguments_.no_cache) options.cache = cache_beside(directory);
    options.keep = arguments_.output.writes();
    return open_with_progress(path, arguments_.reading, terminal_, std::move(options));
  }

  // One object, or a list of them where several traces were asked for.
  Status show(const Summary& summary, const ReportListing& written) const {
    if (arguments_.output.json) {
      const bool several = arguments_.traces.size() > 1;
      return print_output((several ? (reports_ == 0 ? "[" : ",") : "") +
                          summary_json(summary, written));
    }
    if (arguments_.reading.quiet) return Nothing{};
    return print_output(
        (reports_ > 0 ? "\n" : "") +
        summary_text(summary, {terminal_.color, arguments_.verbose, terminal_.width}, written));
  }

  AnalyzeArguments arguments_;  // its traces without the files of counters
  const Terminal& terminal_;
  const CodeHalf& half_;
  std::unique_ptr<const KnownCode> code_;
  std::vector<CounterFile> counters_;
  std::vector<std::string> counter_paths_;
  std::vector<RankCollectives> ranks_;  // of several traces
  fs::path first_report_;
  size_t reports_ = 0;
};

}  // namespace

void add_analyze_command(CLI::App& app, const Terminal& terminal, ExitCode& code,
                         const CodeHalf& half) {
  CLI::App* command = app.add_subcommand(
      "analyze", "Write a performance report from a trace, a capture, hardware counters, or a mix");
  command->footer(std::string(kExamples) + kExitCodes);
  auto a = std::make_shared<AnalyzeArguments>();
  command->add_option("TRACE", a->traces,
                      "Captures of fathom record; traces of torch.profiler or JAX (JSON), Nsight "
                      "Systems (SQLite) or rocprofv3 (JSON, CSV, rocpd, pftrace), plain, gzip or "
                      "zstd, or - for standard input; also hardware counters of their "
                      "kernels (ncu CSV or .ncu-rep, rocprof CSV); prompted for on a terminal if "
                      "omitted");
  add_output_options(
      *command, a->output,
      {"Report directory (default: TRACE.fathom); for several traces, their parent",
       "Print the summary as JSON, a list for several traces; no report unless --out is given",
       "Print only, write nothing"});
  add_page_option(*command, a->output);
  add_platform_option(*command, a->platform);
  command
      ->add_option("--repo", a->repository,
                   "Repository of the kernels: adds each kernel's source location (kernel_summary, "
                   "kernel_sources.md) and, with counters, expected against counted values "
                   "(expected_vs_measured)")
      ->option_text("DIR");
  command
      ->add_option("--capture", a->capture,
                   "Trace of the capture of the CUDA or HIP graphs that TRACE launches: names the "
                   "ops and shapes of their kernels. Record it with record_shapes=True, best with "
                   "a run of the model before the capture")
      ->option_text("CAPTURE_TRACE");
  add_scope_options(*command, a->scope);
  command
      ->add_option("--what-if", a->what_if,
                   "Predict the step time after a change, as a range: 'op=NAME x0.5' scales the "
                   "GPU time of an op, 'sync remove' drops all waits; targets: op=, kernel=, "
                   "module=, annotation=, call=, copy, collective, launch, sync, host; * in names; "
                   "'A and B' changes both; repeatable (docs/critical-path.md)")
      ->option_text("CHANGE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--rank", a->rank, "Analyze only this rank's trace")
      ->transform(whole_number({0, INT32_MAX, 3}))
      ->option_text("N");
  command->add_flag(
      "--together", a->together,
      "Write one report of all traces, or of a folder of them, each of one rank of a "
      "job: clocks aligned by collectives, waiting apart from transfer, the late rank "
      "and why it is late, the critical path across ranks");
  add_reading_options(*command, a->reading);
  command->add_flag("--no-cache", a->no_cache,
                    "Do not use or write REPORT.cache, which speeds up reopening a large trace");
  command
      ->add_option("--host", a->place.host,
                   "Run on this host over ssh, where fathom and the trace are; the report is "
                   "copied back")
      ->option_text("HOST");
  command
      ->add_option("--container", a->place.container,
                   "Run in this container (docker exec), with --host on that host")
      ->option_text("NAME");
  command->add_flag("-q,--quiet", a->reading.quiet,
                    "Print nothing but errors and what --json prints");
  command->add_flag("-v,--verbose", a->verbose,
                    "Show all notes on the input, with the first example of each");
  command->add_flag("--progress-lines", a->reading.progress_lines)->group("");  // for fathom serve
  command->callback([a, &terminal, &code, &half] {
    if ((!a->repository.empty() || a->together) && !half.is_here()) {
      code = hand_over(half);
      return;
    }
    if (a->traces.empty() && !ask_for_arguments(*a, terminal)) {
      complain("TRACE is required");
      std::fputs(kTryHelp, stderr);
      code = ExitCode::kUsage;
      return;
    }
    if (!check_output(a->output)) {
      code = ExitCode::kUsage;
      return;
    }
    if (a->together) {
      code = analyze_together_here(*a, terminal, half);
      return;
    }
    for (const std::string& text : a->what_if) {
      Result<WhatIfQuestion> question = parse_what_if(text);
      if (!question.ok()) {
        complain("--what-if " + question.error().message);
        std::fputs(kTryHelp, stderr);
        code = ExitCode::kUsage;
        return;
      }
      a->questions.push_back(question.take());
    }
    code = a->place.is_here() ? AnalyzeRun(*a, terminal, half).run() : analyze_there(*a);
  });
}

}  // namespace fathom
