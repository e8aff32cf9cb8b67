#include "story/tell_stories.h"

#include <algorithm>

#include "base/glob.h"
#include "scan/facts/fact_names.h"
#include "story/device_story.h"
#include "story/integration.h"
#include "story/launch_story.h"
#include "story/python_story.h"
#include "story/source_outlines.h"

namespace fathom {
namespace {

// Steps of one part that somebody still reads.
constexpr size_t kMostHostSteps = 34;
// Repositories with more kernels have their stories told in short, unless some are asked for:
// nobody reads a thousand, and they would take as long as the scan. Kernels whose bodies are not
// read have none to tell, so they do not count against the others.
constexpr size_t kToldInFull = 200;
// Of one file, and of the host's functions: pages do not show more.
constexpr size_t kMostOfFile = 400, kMostHostFunctions = 400;

std::vector<StoryStep> call_steps(const Integration& integration, size_t callers,
                                  const std::vector<PathHop>& path) {
  std::vector<StoryStep> steps = integration.callers;
  if (callers > steps.size() && !steps.empty()) {
    steps.back().remarks.push_back(
        {Words(Phrase::kMoreCallers, callers - steps.size()), "", {}, {}});
  }
  for (const PathHop& hop : path) {
    StoryStep step;
    step.code = {hop_text(hop)};
    step.at = hop.at;
    step.certainty = hop.certainty;
    steps.push_back(std::move(step));
  }
  return steps;
}

void add_integration(Integration integration, size_t callers, const std::vector<PathHop>& path,
                     Story& story) {
  story.call = call_steps(integration, callers, path);
  story.in_forward = std::ranges::any_of(integration.callers, in_forward_pass);
  story.how_often = std::move(integration.how_often);
  story.only_where = std::move(integration.only_where);
  story.overlapped = std::move(integration.overlapped);
}

class StoryTeller {
 public:
  StoryTeller(const CodeFacts& facts, const StoryContext& context, SourceOutlines* sources)
      : facts_(facts), context_(context), sources_(sources) {
    bodies_ = static_cast<size_t>(std::ranges::count_if(
        facts.kernels, [](const KernelFacts& kernel) { return kernel.body_read; }));
  }

  // `place`: how many kernels stand before it in its file.
  KernelStory kernel(const KernelFacts& kernel, size_t place) const {
    KernelStory told;
    told.expected = expect_of(kernel, context_.parameters, context_.platform);
    if (!context_.kernels.empty() && !glob_matches(context_.kernels, kernel.name)) {
      if (told.expected.launch) told.expected.launch->launcher = nullptr;
      return told;
    }
    told.notes = notes_on(kernel, told.expected, context_.parameters, context_.platform);
    const KernelLauncher* launcher = kernel.launchers.empty() ? nullptr : &kernel.launchers.front();
    if (told.expected.launch) launcher = std::exchange(told.expected.launch->launcher, nullptr);
    if (sources_ == nullptr) {
      told.story.detail = StoryDetail::kEvidence;
      return told;
    }
    sources_->make_room();
    const HostContext host{facts_, *sources_, context_.parameters, &kernel, launcher};
    if (place < kMostOfFile && is_told_in_full(kernel)) {
      tell_in_full(kernel, host, told.story);
    } else {
      told.story.detail = StoryDetail::kLaunch;
      if (launcher != nullptr) told.story.launch.steps = {launch_step(host)};
    }
    return told;
  }

  // `place`: how many host functions stand before it.
  HostStory host_function(const HostFacts& host, size_t place) const {
    HostStory told;
    told.expected = expect_of(host, context_.parameters, context_.platform);
    told.story.detail = StoryDetail::kEvidence;
    if (sources_ == nullptr || place >= kMostHostFunctions) return told;
    told.story.detail = StoryDetail::kStatements;
    sources_->make_room();
    add_integration(integration_of(facts_, host.callers, host.way_up, nullptr, *sources_),
                    host.callers.size() + host.way_up.size(), host.path, told.story);
    if (const CppBody* body = sources_->cpp_function(host.at)) {
      DeviceStory& on_cpu = told.story.body.emplace();
      on_cpu.at = host.at;
      on_cpu.line_last = host.line_last;
      on_cpu.steps = host_steps({facts_, *sources_, context_.parameters}, *body);
      on_cpu.left_out = shorten(on_cpu.steps, kMostHostSteps);
    }
    return told;
  }

 private:
  bool is_told_in_full(const KernelFacts& kernel) const {
    const size_t told = kernel.body_read ? bodies_ : facts_.kernels.size();
    return !context_.kernels.empty() || told <= kToldInFull;
  }

  void tell_in_full(const KernelFacts& kernel, const HostContext& host, Story& story) const {
    story.detail = StoryDetail::kStatements;
    add_integration(integration_of(facts_, kernel.callers, kernel.way_up, &kernel, *sources_),
                    kernel.callers.size() + kernel.way_up.size(), kernel.path, story);
    if (host.launcher != nullptr) story.launch = launch_story(host, kMostHostSteps);
    if (!kernel.body_read) return;
    DeviceStory body = is_python_kernel(kernel.kind)
                           ? python_device_story(kernel, *sources_)
                           : device_story(facts_, kernel, host.launcher, *sources_);
    if (!body.steps.empty()) story.body = std::move(body);
  }

  const CodeFacts& facts_;
  const StoryContext& context_;
  SourceOutlines* sources_;
  size_t bodies_ = 0;  // kernels whose bodies were read
};

}  // namespace

std::string_view detail_name(StoryDetail detail) {
  switch (detail) {
    case StoryDetail::kNotTold:
      return "not told";
    case StoryDetail::kEvidence:
      return "evidence";
    case StoryDetail::kLaunch:
      return "launch";
    case StoryDetail::kStatements:
      return "statements";
  }
  return "";
}

Stories tell_stories(const CodeFacts& facts, const StoryContext& context, SourceOutlines* sources) {
  Stories stories;
  stories.parameters = context.parameters;
  if (context.platform != nullptr) stories.platform = context.platform->name;
  stories.asked_for = context.kernels;
  const StoryTeller teller(facts, context, sources);
  size_t place = 0;
  for (size_t i = 0; i < facts.kernels.size(); ++i) {
    const bool same_file = i > 0 && facts.kernels[i].at.file == facts.kernels[i - 1].at.file;
    place = same_file ? place + 1 : 0;
    stories.kernels.push_back(teller.kernel(facts.kernels[i], place));
  }
  for (const HostFacts& host : facts.host_functions)
    stories.host_functions.push_back(teller.host_function(host, stories.host_functions.size()));
  return stories;
}

}  // namespace fathom
