#include <fmt/format.h>

#include <memory>

#include "app/commands.h"
#include "app/option_rules.h"
#include "app/output_options.h"
#include "app/reading_options.h"
#include "app/scope_options.h"
#include "report/report_listing.h"
#include "report/trace/run_story.h"
#include "session/counters.h"
#include "session/hardware_summary.h"
#include "session/report_place.h"
#include "session/story.h"

namespace fathom {
namespace {

constexpr const char* kStoryExamples = R"(Examples:
  fathom story trace.json.gz                        phases, timeline, transitions, summary
  fathom story run.capture                          with the counters and samples it holds
  fathom story trace.json.gz counters.csv           with counters of ncu or rocprof beside the trace
  fathom story report.ncu-rep                       counters alone
  fathom story trace.json.gz --phase decode         one phase
  fathom story trace.json.gz --step 2               one step, counted from 0
  fathom story trace.json.gz --module Attention     work below modules of this name
  fathom story run.capture --kernel 'nvjet*64x8*'   everything known about a kernel
  fathom story run.capture --repo ~/engine          with file and line of the kernels
  fathom story trace.json.gz --evidence             with the source of each line
  fathom story trace.json.gz --out story            story.md and story.json in story/
  fathom story trace.json.gz --json | jq .summary

Each line is marked: measured, derived (a formula over measured values), estimated (a cost model),
code fact, or hypothesis confirmed (by counters of the kernel). A name without * and ?
matches any part; case does not matter. Without --out nothing is written. On the terminal a story has at
most 60 lines; --evidence and --out show all of them. With several GPUs, the busiest is described.

Exit codes:
  0  every input was described
  1  an input could not be read, or nothing fits the selection
  2  usage error)";

struct StoryArguments {
  std::vector<std::string> traces;
  OutputArguments output;
  std::string platform, repository;
  ScopeArguments scope;
  StorySelection selection;
  std::string step;
  ReadingArguments reading;
  bool evidence = false;
};

class StoryRun {
 public:
  StoryRun(StoryArguments arguments, const Terminal& terminal, const CodeHalf& half)
      : arguments_(std::move(arguments)), terminal_(terminal), half_(half) {}

  ExitCode run() {
    const Status done = tell_all();
    if (!done.ok()) complain(done.error().message);
    return done.ok() && !failed_ ? ExitCode::kOk : ExitCode::kFailed;
  }

 private:
  Status tell_all() {
    std::vector<std::string> traces;
    for (const std::string& path : arguments_.traces) {
      std::optional<CounterFile> file = TRY(open_counters(path));
      if (!file) {
        traces.push_back(path);
        continue;
      }
      counters_.push_back(std::move(*file));
    }
    if (!arguments_.platform.empty()) platform_ = TRY(open_platform(arguments_.platform));
    if (!arguments_.repository.empty())
      code_ =
          TRY(read_with_progress(half_.read, arguments_.repository, arguments_.reading, terminal_));
    is_list_ = traces.size() > 1;
    if (traces.empty()) {
      const RunStory story = TRY(tell_counters(counters_, options({})));
      return show(story, arguments_.traces.front());
    }
    for (const std::string& path : traces) {
      const Status done = tell_one(path);
      if (done.ok()) continue;
      complain(done.error().message);
      failed_ = true;
    }
    if (arguments_.output.json && is_list_) return print_output(told_ == 0 ? "[]\n" : "]\n");
    return Nothing{};
  }

  StoryOptions options(AnalyzeOptions analysis) const {
    analysis.threads = arguments_.reading.threads;
    analysis.code = code_.get();
    if (platform_) analysis.platform = &*platform_;
    return {analysis, arguments_.selection};
  }

  Status tell_one(const std::string& path) {
    const Trace trace = TRY(open_with_progress(path, arguments_.reading, terminal_));
    const Scope scope = TRY(make_scope(arguments_.scope, trace));
    std::vector<CounterFile> own = TRY(open_capture_counters(trace));
    const size_t others = counters_.size();
    for (CounterFile& file : own) counters_.push_back(std::move(file));
    const std::optional<StallSamples> samples = TRY(open_capture_samples(trace));
    AnalyzeOptions analysis;
    analysis.counters = &counters_;
    if (samples) analysis.samples = &*samples;
    const Result<RunStory> told = tell_story(trace, scope, options(analysis));
    counters_.resize(others);  // the capture's own are of it only
    return show(TRY(told), path);
  }

  Status show(const RunStory& story, const std::string& path) {
    const OutputArguments& output = arguments_.output;
    std::string written;
    if (!output.out.empty() && output.writes()) {
      const std::filesystem::path directory =
          is_list_ ? std::filesystem::path(output.out) /
                         (default_report_directory(path).filename().string())
                   : std::filesystem::path(output.out);
      const OutputPlace place{directory,
                              {"story", subject_of(path, directory),
                               scope_text(arguments_.scope, arguments_.reading.max_size)},
                              output.force};
      TRY(OutputDirectory::check(place));
      tell(TRY(write_story(story, arguments_.evidence, arguments_.output.writes_page(), place)),
           arguments_.reading.quiet);
      written = "Report  " +
                report_words(shown_directory(directory).string(), output.writes_page(),
                             "story.md, story.json") +
                "\n";
    }
    const std::string between = told_++ == 0 ? "" : "\n";
    if (output.json)
      return print_output((is_list_ ? (told_ == 1 ? "[" : ",") : "") + story_json(story));
    if (arguments_.reading.quiet) return Nothing{};
    return print_output(
        between +
        story_text(story, {terminal_.color, false, terminal_.width}, arguments_.evidence) +
        written);
  }

  StoryArguments arguments_;
  const Terminal& terminal_;
  const CodeHalf& half_;
  std::vector<CounterFile> counters_;
  std::unique_ptr<const KnownCode> code_;
  std::optional<Platform> platform_;
  bool is_list_ = false, failed_ = false;
  size_t told_ = 0;
};

}  // namespace

void add_story_command(CLI::App& app, const Terminal& terminal, ExitCode& code,
                       const CodeHalf& half) {
  CLI::App* command = app.add_subcommand(
      "story",
      "Describe what ran and how the hardware behaved: phases, timeline, transitions, summary");
  command->footer(kStoryExamples);
  auto a = std::make_shared<StoryArguments>();
  command
      ->add_option("TRACE", a->traces,
                   "Traces and captures (see fathom analyze --help), or - for standard input; "
                   "with them, or alone, hardware counters (ncu CSV or .ncu-rep, rocprof CSV)")
      ->required();
  const auto selects = [&](const char* option, std::string& value, const char* text) {
    command->add_option(option, value, text)
        ->check([](const std::string& pattern) {
          return pattern.empty() ? std::string("expected a name or a pattern") : std::string();
        })
        ->option_text("NAME");
  };
  selects("--phase", a->selection.phase, "Show only phases of this name, such as decode");
  command->add_option("--step", a->step, "Show only this step: a number from 0, or a step's name")
      ->option_text("STEP");
  selects("--op", a->selection.op, "Show only GPU work of ops of this name, such as aten::mm");
  selects("--kernel", a->selection.kernel,
          "Show only kernels of this name, with everything known about the longest three");
  selects("--module", a->selection.module,
          "Show only GPU work below Python modules of this name (needs recorded stacks)");
  command
      ->add_option("--repo", a->repository,
                   "Repository of the kernels: adds their source locations")
      ->option_text("DIR");
  add_platform_option(*command, a->platform);
  command->add_flag(
      "--evidence", a->evidence,
      "Show under each line the sheet, counters, events, source or formula behind it");
  add_output_options(*command, a->output,
                     {"Directory for report.html, story.md and story.json (default: print only)",
                      "Print the story as JSON, a list for several traces",
                      "Print only, write nothing (the default)"});
  add_page_option(*command, a->output);
  add_scope_options(*command, a->scope);
  command->get_option("--step")->excludes("--steps");
  add_reading_options(*command, a->reading);
  command->add_flag("-q,--quiet", a->reading.quiet,
                    "Print nothing but errors and what --json prints");
  command->callback([a, &terminal, &code, &half] {
    if (!a->repository.empty() && !half.is_here()) {
      code = hand_over(half);
      return;
    }
    if (!a->step.empty()) a->scope.steps = a->step;
    a->selection.steps = a->scope.steps;
    code = check_output(a->output) ? StoryRun(*a, terminal, half).run() : ExitCode::kUsage;
  });
}

}  // namespace fathom
