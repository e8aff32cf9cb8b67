#include "session/story.h"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_set>

#include "base/kernel_name.h"
#include "events/timeline_rows.h"
#include "report/trace/counters_report.h"
#include "report/trace/run_story.h"
#include "session/counters.h"
#include "session/summarize.h"
#include "story/tell_stories.h"

namespace fathom {
namespace {

std::string software_of(const Trace& trace) {
  const TraceMetadata& m = trace.store.metadata();
  std::string out;
  const auto version = m.cuda_runtime_version ? m.cuda_runtime_version : m.hip_runtime_version;
  if (m.cuda_runtime_version && *version >= 1000)
    out = fmt::format("CUDA {}.{}", *version / 1000, *version % 1000 / 10);
  if (!m.source.empty()) out += fmt::format("{}{}", out.empty() ? "" : " · ", m.source);
  return out;
}

// What the code of a kernel that was asked for shows, a few lines; the repository is told once.
class KernelCodeSteps {
 public:
  KernelCodeSteps(const SheetInput& input, const CodeFacts& code, const Platform* platform)
      : input_(input), code_(code) {
    StoryContext context;
    context.platform = platform;
    stories_ = tell_stories(code, context);
  }

  std::vector<CodeStep> operator()(const KernelContext& kernel) const {
    constexpr size_t kMostSteps = 6;
    std::vector<CodeStep> steps;
    const std::vector<size_t>& definitions = input_.kernels.code(kernel.first).definitions;
    // Of several definitions it is not known which one ran.
    if (definitions.size() != 1 || definitions[0] >= stories_.kernels.size()) return steps;
    for (const KernelNote& note : stories_.kernels[definitions[0]].notes) {
      if (steps.size() == kMostSteps) break;
      if (note.at.file >= code_.files.size()) continue;
      const StoryMark mark = note.basis == mark_text(StoryMark::kCodeFact)  ? StoryMark::kCodeFact
                             : note.basis == mark_text(StoryMark::kDerived) ? StoryMark::kDerived
                                                                            : StoryMark::kEstimated;
      steps.push_back(
          {note.text, fmt::format("{}:{}", code_.files[note.at.file].path, note.at.line), mark});
    }
    return steps;
  }

 private:
  const SheetInput& input_;
  const CodeFacts& code_;
  Stories stories_;
};

struct Told {
  const Trace& trace;
  const SheetInput& input;
  const StorySelection& selection;
  bool has_timeline = true;
  std::function<std::vector<CodeStep>(const KernelContext&)> code_steps = {};
};

Result<RunStory> tell(const Told& told, const Assessment& assessment,
                      const std::vector<Finding>& findings,
                      const std::vector<KernelContext>& contexts) {
  const RunFacts facts{told.input,
                       assessment,
                       findings,
                       contexts,
                       std::filesystem::path(told.trace.path).filename().string(),
                       gpu_names(told.trace.store.metadata().gpus),
                       software_of(told.trace),
                       told.selection,
                       told.has_timeline,
                       told.code_steps};
  return tell_run(facts);
}

Result<RunStory> tell_whole(const Trace& trace, const Scope& scope, const StoryOptions& options,
                            bool has_timeline) {
  const AnalyzeOptions& a = options.analysis;
  KernelMeasures measures =
      a.code != nullptr ? KernelMeasures(trace.store, *a.code) : KernelMeasures();
  if (a.counters != nullptr && !a.counters->empty())
    measures.add_counters(trace.store, *a.counters);
  if (a.samples != nullptr) measures.add_samples(*a.samples);
  const SheetInput input(trace.store, trace.tree, scope, std::move(measures));
  TRY(check_scope(input, trace.path));
  const Platform* recorded_on = detect_platform(trace);
  const Platform* platform = a.platform != nullptr ? a.platform : recorded_on;
  const std::vector<Launcher> launchers = find_launchers(input);
  const MeasuredOps ops(input, launchers);
  const Assessment assessment(input, ops, platform);
  const std::vector<Finding> findings = find_all(assessment);
  const std::vector<KernelContext> contexts =
      launch_contexts(input, recorded_on != nullptr ? recorded_on : platform, kMostContexts);
  Told told{trace, input, options.selection, has_timeline, {}};
  if (a.code != nullptr && !options.selection.kernel.empty())
    told.code_steps = KernelCodeSteps(input, *a.code, platform);
  return tell(told, assessment, findings, contexts);
}

// A kernel for each counted launch, one after the other: what order and gaps they had is not known.
class CountedRun {
 public:
  void add(const CounterFile& file) {
    std::unordered_set<std::string> added;
    for (size_t i = 0; i < file.set.size(); ++i) {
      const CounterRow& row = file.set.row(CounterRowId(i));
      const std::string_view name = file.set.text(row.kernel);
      const std::string known = normal_kernel_name(name).text;
      // Another file counts other metrics of the same kernels.
      if (known_.contains(known)) continue;
      added.insert(known);
      add_row(row, name);
    }
    known_.merge(added);
    const CounterOrigin& origin = file.set.origin();
    if (!gpus_.empty() || origin.gpu.empty()) return;
    GpuProperties gpu;
    gpu.name = origin.gpu;
    gpu.multiprocessors = origin.multiprocessors;
    gpus_.push_back(std::move(gpu));
  }

  Trace take(const std::vector<CounterFile>& files) && {
    TraceMetadata metadata;
    metadata.gpus = std::move(gpus_);
    metadata.source = tool_text(files.front().set.origin());
    Trace trace;
    trace.path = files.front().name;
    trace.store = std::move(builder_).seal(std::move(metadata), 0);
    trace.tree = build_call_tree(trace.store);
    return trace;
  }

 private:
  void add_row(const CounterRow& row, std::string_view name) {
    const int64_t length = row.duration ? std::max<int64_t>(0, row.duration->count) : 0;
    if (length > INT64_MAX / 4 - now_) return;
    const auto common = rows_.event(EventKind::kKernel, rows_.text(name),
                                    rows_.stream(row.device, row.stream), now_, now_ + length);
    now_ += length;
    if (!common) return;
    GpuWork work = counted_work(row);
    if (!work.grid) work.grid = dimensions(row.grid_blocks, 1, 1);
    if (!work.block) work.block = dimensions(row.block_threads, 1, 1);
    builder_.add(*common, work);
  }

  EventStoreBuilder builder_;
  TimelineRows rows_{builder_};
  std::unordered_set<std::string> known_;
  std::vector<GpuProperties> gpus_;
  int64_t now_ = 0;
};

}  // namespace

Result<RunStory> tell_story(const Trace& trace, const Scope& scope, const StoryOptions& options) {
  TRY(check_has_events(trace));
  return tell_whole(trace, scope, options, true);
}

Result<RunStory> tell_counters(const std::vector<CounterFile>& files, const StoryOptions& options) {
  CountedRun run;
  for (const CounterFile& file : files) run.add(file);
  const Trace trace = std::move(run).take(files);
  if (trace.store.size() == 0)
    return Error{fmt::format("{} has no counted kernels", files.front().name)};
  StoryOptions with_files = options;
  with_files.analysis.counters = &files;
  Scope scope;
  scope.include_unlinked = true;
  return tell_whole(trace, scope, with_files, false);
}

Result<RunStory> tell_story(const Trace& trace, const Assessment& assessment,
                            const std::vector<Finding>& findings,
                            const std::vector<KernelContext>& contexts) {
  return tell({trace, assessment.input(), {}, true, {}}, assessment, findings, contexts);
}

Result<std::vector<std::string>> write_story(const RunStory& story, bool with_evidence,
                                             const OutputPlace& place) {
  OutputDirectory out = TRY(OutputDirectory::create(place));
  TRY(out.write_file("story.md", story_markdown(story, with_evidence)));
  TRY(out.write_file("story.json", story_json(story)));
  return out.commit();
}

}  // namespace fathom
