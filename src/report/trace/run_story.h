#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/screen.h"
#include "story/run/run_story.h"

namespace fathom {

std::string story_time(double micros);    // "12.3 µs", "1.23 ms"
std::string story_percent(double value);  // "0.4 %", "40 %"

// How a text of the trace or the code is made inert; kernels' names are shortened before.
using NameStyle = std::function<std::string(std::string_view)>;

// A line as a sentence. Texts of the data (advice, titles of hypotheses) are written as they are.
std::string story_sentence(const StoryLine& line, const NameStyle& name);
// "counters of F: DRAM throughput (%); sheet kernels; events 12, 13; formula …"
std::string evidence_sentence(const StoryEvidence& evidence, const NameStyle& name);

// A story as an outline: what the terminal and Markdown show.
struct StoryNode {
  std::string text;
  std::string mark;      // empty: a heading
  std::string evidence;  // empty: not asked for
  std::vector<StoryNode> below;
  int rank = kKept;  // a short story leaves out the lowest ranks first

  static constexpr int kKept = 9;
};
struct StorySection {
  std::string title, after;  // after: beside the title
  std::vector<StoryNode> nodes;
};
std::vector<StorySection> story_outline(const RunStory& story, const NameStyle& name,
                                        bool with_evidence);

// A few lines for a report: the phases, the first bottleneck and insight.
std::string story_extract_markdown(const RunStory& story);
// "prefill 12 %, decode 87 % of the recording"; empty where there are no phases.
std::string story_phases_text(const RunStory& story, const NameStyle& name);

std::string story_text(const RunStory& story, const TerminalStyle& style, bool with_evidence);
std::string story_markdown(const RunStory& story, bool with_evidence);
// docs/story_json.md
std::string story_json(const RunStory& story);

}  // namespace fathom
