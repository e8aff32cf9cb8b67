#include "report/scan/kernel_story.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/markdown.h"
#include "report/scan/kernel_behaviour.h"
#include "report/scan/story_markdown.h"
#include "scan/cpp/code_patterns.h"
#include "scan/facts/fact_names.h"
#include "story/expectation.h"
#include "story/host_expectation.h"
#include "story/integration.h"
#include "story/launch_story.h"
#include "story/python_story.h"

namespace fathom {
namespace {

// Steps of one part that somebody still reads.
constexpr size_t kMostHostSteps = 34;
// Repositories with more kernels have their stories told in short, unless some are asked for:
// nobody reads a thousand, and they would take as long as the scan.
constexpr size_t kToldInFull = 200;

std::string place(const CodeFacts& facts, const CodePlace& at) {
  return md_code(place_text(facts, at));
}

std::string left_out_text(const CodeFacts& facts, size_t steps, const CodePlace& at,
                          uint32_t line_last) {
  if (steps == 0) return "";
  return fmt::format("\n{} more {} omitted; see {}.\n", steps, steps == 1 ? "step is" : "steps are",
                     md_code(fmt::format("{}-{}", place_text(facts, at), line_last)));
}

std::string call_part(const CodeFacts& facts, const Integration& integration, size_t callers,
                      const std::vector<PathHop>& path) {
  if (path.empty() && integration.callers.empty()) return "";
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
  return "\n**Call**\n\n" + story_list(facts, steps);
}

// How often, and whether its time is waited for.
std::string program_part(const CodeFacts& facts, const Integration& integration, bool host) {
  std::string out = "\n**In the program**\n\n- How often: ";
  for (size_t i = 0; i < integration.how_often.size(); ++i) {
    out += (i == 0 ? "" : "; ") + story_line(facts, integration.how_often[i]);
  }
  if (integration.how_often.empty()) {
    const bool forward =
        std::any_of(integration.callers.begin(), integration.callers.end(), in_forward_pass);
    out += forward ? "once per forward pass of its caller; loops around it are unknown"
                   : "unknown from the code";
  }
  if (!integration.only_where.empty()) out += ".\n- Only ";
  for (size_t i = 0; i < integration.only_where.size(); ++i) {
    out += (i == 0 ? "" : " and ") + story_line(facts, integration.only_where[i]);
  }
  out += host ? ".\n- Waited for or overlapped: " : ".\n- On the critical path or overlapped: ";
  for (size_t i = 0; i < integration.overlapped.size(); ++i) {
    out += (i == 0 ? "" : "; ") + story_line(facts, integration.overlapped[i]);
  }
  if (integration.overlapped.empty()) out += "unknown from the code";
  return out + ".\n";
}

// Where the source is not at hand: what the scan saw.
std::string evidence_part(const CodeFacts& facts, const std::vector<CodeEvidence>& evidence) {
  std::vector<StoryStep> steps;
  for (const CodeEvidence& e : evidence) {
    if (e.certainty == Certainty::kUnsure) continue;
    const cpp::CodePattern* pattern = cpp::PatternTable::built_in().find(e.what);
    StoryStep step;
    if (pattern != nullptr) step.words.add({Phrase::kPatternTitle, pattern->id});
    if (!e.detail.empty()) step.code.push_back(e.detail);
    step.at = e.at;
    step.certainty = e.certainty;
    steps.push_back(std::move(step));
  }
  return story_list(facts, steps);
}

class StoryWriter {
 public:
  StoryWriter(const CodeFacts& facts, const KernelFacts& kernel, const StoryContext& context)
      : facts_(facts),
        kernel_(kernel),
        context_(context),
        expected_(expect_of(kernel, context.parameters, context.platform)) {}

  std::string run() {
    std::string out =
        "\n**Execution story** (code facts, in source order; derived values are marked)\n";
    if (context_.sources == nullptr) {
      out += "\n**On the GPU** (from code evidence)\n\n" + evidence_part(facts_, kernel_.evidence);
    } else {
      context_.sources->make_room();
      out += is_told_in_full() ? told(*context_.sources) : told_in_short(*context_.sources);
    }
    return out + kernel_behaviour(facts_, kernel_, expected_, context_);
  }

 private:
  std::string told(SourceOutlines& sources) const {
    const Integration integration =
        integration_of(facts_, kernel_.callers, kernel_.way_up, &kernel_, sources);
    std::string out = call_part(facts_, integration, kernel_.callers.size() + kernel_.way_up.size(),
                                kernel_.path);
    out += launch_part(sources);
    out += device_part(sources);
    return out + program_part(facts_, integration, false);
  }

  bool is_told_in_full() const {
    return !context_.kernels.empty() || facts_.kernels.size() <= kToldInFull;
  }

  // Of one kernel among very many: what the scan knows without reading its statements.
  std::string told_in_short(SourceOutlines& sources) const {
    std::string out;
    if (launcher() != nullptr) {
      const HostContext host{facts_, sources, context_.parameters, &kernel_, launcher()};
      out += "\n**Launch**\n\n" + story_list(facts_, {launch_step(host)});
    }
    out += "\n**On the GPU** (from code evidence)\n\n" + evidence_part(facts_, kernel_.evidence);
    return out + fmt::format(
                     "\nOne of {} kernels; `fathom scan REPO --kernel NAME` writes "
                     "its full story.\n",
                     facts_.kernels.size());
  }

  const KernelLauncher* launcher() const {
    if (expected_.launch) return expected_.launch->launcher;
    return kernel_.launchers.empty() ? nullptr : &kernel_.launchers.front();
  }

  std::string launch_part(SourceOutlines& sources) const {
    std::string out = "\n**Checks and launch**\n\n";
    if (launcher() == nullptr) return out + "No launch site found.\n";
    const HostContext host{facts_, sources, context_.parameters, &kernel_, launcher()};
    LaunchStory story = launch_story(host, kMostHostSteps);
    out += story_list(facts_, story.steps);
    if (story.left_out > 0) {
      out += fmt::format("\n{} more {} omitted: they neither check nor size the launch.\n",
                         story.left_out, story.left_out == 1 ? "step is" : "steps are");
    }
    if (kernel_.launchers.size() > 1) {
      out += fmt::format("\nOne of {} launch sites; the others are listed above.\n",
                         kernel_.launchers.size());
    }
    return out;
  }

  std::string device_part(SourceOutlines& sources) const {
    const bool python = kernel_.kind == KernelKind::kTriton || kernel_.kind == KernelKind::kCute;
    const DeviceStory story = python ? python_device_story(kernel_, sources)
                                     : device_story(facts_, kernel_, launcher(), sources);
    if (story.steps.empty()) {
      return "\n**On the GPU**: the body could not be parsed into statements. Code "
             "evidence:\n\n" +
             evidence_part(facts_, kernel_.evidence);
    }
    return fmt::format("\n**On the GPU** {}\n\n", place(facts_, story.at)) +
           story_list(facts_, story.steps, story.at.file) +
           left_out_text(facts_, story.left_out, story.at, story.line_last);
  }

  const CodeFacts& facts_;
  const KernelFacts& kernel_;
  const StoryContext& context_;
  const Expectation expected_;
};

std::string host_part(const CodeFacts& facts, const HostFacts& host, const StoryContext& context) {
  SourceOutlines& sources = *context.sources;
  const Integration integration =
      integration_of(facts, host.callers, host.way_up, nullptr, sources);
  std::string out =
      call_part(facts, integration, host.callers.size() + host.way_up.size(), host.path);
  const CppBody* body = sources.cpp_function(host.at);
  out += "\n**On the CPU**\n\n";
  if (body == nullptr) {
    out += evidence_part(facts, host.evidence);
  } else {
    std::vector<StoryStep> steps = host_steps({facts, sources, context.parameters}, *body);
    const size_t left_out = shorten(steps, kMostHostSteps);
    out += story_list(facts, steps, body->file);
    out += left_out_text(facts, left_out, host.at, host.line_last);
  }
  return out + program_part(facts, integration, true);
}

}  // namespace

std::string kernel_story(const CodeFacts& facts, const KernelFacts& kernel,
                         const StoryContext& context) {
  return StoryWriter(facts, kernel, context).run();
}

std::string host_story(const CodeFacts& facts, const HostFacts& host, const StoryContext& context) {
  const HostExpectation expected = expect_of(host, context.parameters, context.platform);
  std::string out = "\n**Execution story** (code facts, in source order)\n";
  out += context.sources != nullptr ? host_part(facts, host, context)
                                    : "\n" + evidence_part(facts, host.evidence);
  if (expected.estimates.empty()) return out;
  out += fmt::format("\n**Expected** (estimated from source, not measured): {}\n",
                     md_text(expected.title));
  if (!expected.missing.empty()) {
    out += fmt::format("\nUnknown without `--param`: {}.\n",
                       md_code(fmt::format("{}", fmt::join(expected.missing, ", "))));
  }
  out += "\n| quantity | expected | formula |\n|---|---:|---|\n";
  for (const Estimate& e : expected.estimates) {
    out += fmt::format("| {} | {} | {} |\n", md_cell(e.name), estimate_range(e),
                       md_code_cell(e.formula));
  }
  return out;
}

}  // namespace fathom
