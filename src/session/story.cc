#include "session/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "report/page/documents_page.h"
#include "report/trace/run_story.h"
#include "session/counted_run.h"
#include "session/counters.h"
#include "session/steady_input.h"
#include "session/summarize.h"

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

// GPUs that the scope has work of, the busiest first; empty where there is one.
std::vector<UsedGpu> used_gpus(const Trace& trace, Scope scope) {
  scope.device.reset();
  std::map<int32_t, std::vector<EventId>> work;
  const GpuSelection selection(trace.store, trace.tree, scope);
  const auto add = [&](const std::vector<EventId>& events) {
    for (const EventId e : events)
      if (const auto device = trace.store.gpu_work(e).device) work[*device].push_back(e);
  };
  add(selection.linked());
  if (scope.include_unlinked) add(selection.unlinked());
  std::vector<UsedGpu> gpus;
  if (work.size() < 2) return gpus;
  for (const auto& [device, events] : work)
    gpus.push_back({device, busy_time(trace.store, events), events.size()});
  std::ranges::stable_sort(gpus, std::greater{}, &UsedGpu::busy);
  return gpus;
}

void put_first(std::vector<UsedGpu>& gpus, int32_t device) {
  const auto place = std::ranges::find(gpus, device, &UsedGpu::device);
  if (place != gpus.end()) std::rotate(gpus.begin(), place, place + 1);
}

// A range may hold only other ranges, to which all the work belongs.
Status check_steps_have_work(const SheetInput& input, const std::string& path) {
  constexpr size_t kListed = 8;
  const CallTree& tree = input.tree;
  if (!input.scope.steps || !all_selected(input).empty()) return Nothing{};
  const Steps steps(input.store, input.scope.step_pattern);
  std::set<size_t> with_work;
  for (size_t i = 0; i < input.store.size(); ++i) {
    const EventId e(i);
    if (!is_gpu_work(input.store.kind(e))) continue;
    if (input.scope.device && input.store.gpu_work(e).device != input.scope.device) continue;
    if (const auto step = step_of(steps, input.store, tree, e)) with_work.insert(*step);
  }
  if (with_work.empty()) return Nothing{};
  std::string listed;
  size_t count = 0;
  for (const size_t step : with_work) {
    if (count++ == kListed) {
      listed += ", …";
      break;
    }
    listed += fmt::format("{}{}", listed.empty() ? "" : ", ", step);
  }
  return Error{fmt::format("the selected step of {} has no GPU work; steps with GPU work: {}", path,
                           listed)};
}

struct Told {
  const Trace& trace;
  const SheetInput& input;
  const StorySelection& selection;
  bool has_timeline = true;
  std::vector<UsedGpu> gpus = {};
  CodeSteps code_steps = {};
};

Result<RunStory> tell(const Told& told, const Assessment& assessment,
                      const std::vector<Finding>& findings,
                      const std::vector<KernelContext>& contexts) {
  const RunFacts facts{told.input,
                       assessment,
                       findings,
                       contexts,
                       std::filesystem::path(told.trace.path).filename().string(),
                       used_gpu_names(told.input),
                       software_of(told.trace),
                       told.selection,
                       told.has_timeline,
                       told.gpus,
                       told.code_steps};
  return tell_run(facts);
}

Result<RunStory> tell_whole(const Trace& trace, const Scope& scope, const StoryOptions& options,
                            bool has_timeline, std::vector<UsedGpu> gpus = {}) {
  const AnalyzeOptions& a = options.analysis;
  KernelMeasures measures =
      a.code != nullptr ? KernelMeasures(trace.store, a.code->facts()) : KernelMeasures();
  if (a.counters != nullptr && !a.counters->empty()) {
    if (has_timeline)
      measures.add_counters(trace.store, *a.counters);
    else
      add_own_counters(trace, *a.counters, measures);
  }
  if (a.samples != nullptr) measures.add_samples(*a.samples);
  const SheetInput whole(trace.store, trace.tree, scope, std::move(measures));
  TRY(check_scope(whole, trace.path));
  TRY(check_steps_have_work(whole, trace.path));
  const Platform* recorded_on = detect_platform(trace, scope.device);
  const Platform* platform = a.platform != nullptr ? a.platform : recorded_on;
  // The same window as the findings of `analyze`; what is asked for may lie outside of it.
  const auto steady = has_timeline && options.selection.empty() ? SteadyInput::of(whole) : nullptr;
  const SheetInput& input = steady ? steady->input : whole;
  std::optional<MeasuredOps> ops;
  if (!steady) ops.emplace(input, find_launchers(input));
  const Assessment assessment(input, steady ? steady->ops : *ops, platform);
  const CriticalPath path(input, assessment.base());
  const std::vector<Finding> findings = find_all(assessment, &path);
  const std::vector<KernelContext> contexts = launch_contexts(
      input, recorded_on != nullptr ? recorded_on : platform, kMostContexts, has_timeline);
  Told told{trace, input, options.selection, has_timeline, std::move(gpus), {}};
  if (a.code != nullptr && !options.selection.kernel.empty())
    told.code_steps = a.code->steps(input, platform);
  return tell(told, assessment, findings, contexts);
}

// Kernels of two GPUs on one timeline would hide each other's idle time: one is told, the busiest
// that has what was asked for.
Result<RunStory> tell_one_gpu(const Trace& trace, const Scope& scope, const StoryOptions& options,
                              std::vector<UsedGpu> gpus) {
  Scope of_one = scope;
  if (scope.device) {
    put_first(gpus, *scope.device);
    return tell_whole(trace, of_one, options, true, std::move(gpus));
  }
  constexpr size_t kMostTries = 16;
  std::optional<Error> first_error;
  for (size_t i = 0; i < std::min(gpus.size(), kMostTries); ++i) {
    of_one.device = gpus[i].device;
    std::vector<UsedGpu> ordered = gpus;
    put_first(ordered, gpus[i].device);
    Result<RunStory> story = tell_whole(trace, of_one, options, true, std::move(ordered));
    if (story.ok()) return story;
    if (!first_error) first_error = story.error();
    if (options.selection.empty()) break;
  }
  return *first_error;
}

}  // namespace

Result<RunStory> tell_story(const Trace& trace, const Scope& scope, const StoryOptions& options) {
  TRY(check_has_events(trace));
  std::vector<UsedGpu> gpus = used_gpus(trace, scope);
  if (gpus.size() > 1) return tell_one_gpu(trace, scope, options, std::move(gpus));
  return tell_whole(trace, scope, options, true);
}

Result<RunStory> tell_counters(const std::vector<CounterFile>& files, const StoryOptions& options) {
  const Trace trace = run_of_counters(files);
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
                            const std::vector<KernelContext>& contexts,
                            const AnalyzeOptions& options) {
  const Scope& scope = assessment.input().scope;
  std::vector<UsedGpu> gpus = used_gpus(trace, scope);
  if (gpus.size() > 1) return tell_one_gpu(trace, scope, {options, {}}, std::move(gpus));
  return tell({trace, assessment.input(), {}, true, {}, {}}, assessment, findings, contexts);
}

namespace {

// Phases by kind, and what lies between them.
PageBar phases_bar(const RunStory& story) {
  PageBar bar{"Time by phase", {}};
  for (const StoryPhase& phase : story.phases) {
    const std::string kind(phase_kind_name(phase.kind));
    const std::string name = phase.name.empty() ? kind : phase.name;
    bar.parts.push_back({"phase." + kind, name + ": busy", phase.busy});
    bar.parts.push_back({"idle.unknown", name + ": idle", phase.idle});
  }
  bar.parts.push_back({"other", "further phases", story.more_time});
  bar.parts.push_back({"idle.queued", "between phases", story.between});
  std::erase_if(bar.parts, [](const PageBar::Part& part) { return part.time.count <= 0; });
  return bar;
}

}  // namespace

Result<std::vector<std::string>> write_story(const RunStory& story, bool with_evidence, bool page,
                                             const OutputPlace& place) {
  OutputDirectory out = TRY(OutputDirectory::create(place));
  const std::string text = story_markdown(story, with_evidence);
  TRY(out.write_file("story.md", text));
  if (page) {
    DocumentsPage shown{"story", story.title, "", {{"story.md", text}}, {}, {}, {}};
    if (story.has_timeline) shown.bars.push_back(phases_bar(story));
    TRY(out.write_file("report.html", documents_page(shown)));
  }
  TRY(out.write_file("story.json", story_json(story)));
  return out.commit();
}

}  // namespace fathom
