#include "report/scan/kernel_story.h"

#include <fmt/format.h>

#include "report/markdown.h"
#include "report/scan/kernel_behaviour.h"
#include "report/scan/story_markdown.h"
#include "scan/cpp/code_patterns.h"
#include "scan/facts/fact_names.h"

namespace fathom {
namespace {

std::string place(const CodeFacts& facts, const CodePlace& at) {
  return md_code(place_text(facts, at));
}

std::string left_out_text(const CodeFacts& facts, size_t steps, const CodePlace& at,
                          uint32_t line_last) {
  if (steps == 0) return "";
  return fmt::format("\n{} more {} omitted; see {}.\n", steps, steps == 1 ? "step is" : "steps are",
                     md_code(fmt::format("{}-{}", place_text(facts, at), line_last)));
}

std::string call_part(const CodeFacts& facts, const Story& story) {
  return story.call.empty() ? "" : "\n**Call**\n\n" + story_list(facts, story.call);
}

// How often, and whether its time is waited for.
std::string program_part(const CodeFacts& facts, const Story& story, bool host) {
  std::string out = "\n**In the program**\n\n- How often: ";
  for (size_t i = 0; i < story.how_often.size(); ++i) {
    out += (i == 0 ? "" : "; ") + story_line(facts, story.how_often[i]);
  }
  if (story.how_often.empty()) {
    out += story.in_forward ? "once per forward pass of its caller; loops around it are unknown"
                            : "unknown from the code";
  }
  if (!story.only_where.empty()) out += ".\n- Only ";
  for (size_t i = 0; i < story.only_where.size(); ++i) {
    out += (i == 0 ? "" : " and ") + story_line(facts, story.only_where[i]);
  }
  out += host ? ".\n- Waited for or overlapped: " : ".\n- On the critical path or overlapped: ";
  for (size_t i = 0; i < story.overlapped.size(); ++i) {
    out += (i == 0 ? "" : "; ") + story_line(facts, story.overlapped[i]);
  }
  if (story.overlapped.empty()) out += "unknown from the code";
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
  StoryWriter(const CodeFacts& facts, const KernelFacts& kernel, const Story& story)
      : facts_(facts), kernel_(kernel), story_(story) {}

  std::string run() const {
    std::string out =
        "\n**Execution story** (code facts, in source order; derived values are marked)\n";
    if (story_.detail == StoryDetail::kStatements) {
      return out + call_part(facts_, story_) + launch_part() + device_part() +
             program_part(facts_, story_, false);
    }
    if (!story_.launch.steps.empty())
      out += "\n**Launch**\n\n" + story_list(facts_, story_.launch.steps);
    out += "\n**On the GPU** (from code evidence)\n\n" + evidence_part(facts_, kernel_.evidence);
    if (story_.detail == StoryDetail::kEvidence) return out;
    return out + fmt::format(
                     "\nOne of {} kernels; `fathom scan REPO --kernel NAME` writes "
                     "its full story.\n",
                     facts_.kernels.size());
  }

 private:
  std::string launch_part() const {
    std::string out = "\n**Checks and launch**\n\n";
    if (kernel_.launchers.empty()) return out + "No launch site found.\n";
    const LaunchStory& story = story_.launch;
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

  std::string device_part() const {
    if (!story_.body) {
      const std::string evidence = evidence_part(facts_, kernel_.evidence);
      return "\n**On the GPU**: the body could not be parsed into statements." +
             (evidence.empty() ? "\n" : " Code evidence:\n\n" + evidence);
    }
    const DeviceStory& body = *story_.body;
    return fmt::format("\n**On the GPU** {}\n\n", place(facts_, body.at)) +
           story_list(facts_, body.steps, body.at.file) +
           left_out_text(facts_, body.left_out, body.at, body.line_last);
  }

  const CodeFacts& facts_;
  const KernelFacts& kernel_;
  const Story& story_;
};

std::string host_part(const CodeFacts& facts, const HostFacts& host, const Story& story) {
  std::string out = call_part(facts, story) + "\n**On the CPU**\n\n";
  if (!story.body) {
    out += evidence_part(facts, host.evidence);
  } else {
    out += story_list(facts, story.body->steps, story.body->at.file);
    out += left_out_text(facts, story.body->left_out, story.body->at, story.body->line_last);
  }
  return out + program_part(facts, story, true);
}

}  // namespace

std::string kernel_story(const CodeFacts& facts, const KernelFacts& kernel, const KernelStory& told,
                         const Stories& stories) {
  return StoryWriter(facts, kernel, told.story).run() +
         kernel_behaviour(facts, kernel, told, stories);
}

std::string host_story(const CodeFacts& facts, const HostFacts& host, const HostStory& told) {
  const HostExpectation& expected = told.expected;
  std::string out = "\n**Execution story** (code facts, in source order)\n";
  out += told.story.detail == StoryDetail::kStatements ? host_part(facts, host, told.story)
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
