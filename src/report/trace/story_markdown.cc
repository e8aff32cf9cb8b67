#include <fmt/format.h>

#include "report/markdown.h"
#include "report/trace/run_story.h"

namespace fathom {
namespace {

void write_nodes(const std::vector<StoryNode>& nodes, size_t depth, std::string& out) {
  for (const StoryNode& node : nodes) {
    out += fmt::format("{:{}}- {}", "", 2 * depth, node.text);
    if (!node.mark.empty()) out += fmt::format(" *({})*", node.mark);
    out += '\n';
    if (!node.evidence.empty())
      out += fmt::format("{:{}}  <br>Evidence: {}\n", "", 2 * depth, node.evidence);
    write_nodes(node.below, depth + 1, out);
  }
}

}  // namespace

std::string story_extract_markdown(const RunStory& story) {
  std::string out;
  const std::string phases = story_phases_text(story, md_text);
  if (!phases.empty()) out += fmt::format("- Phases: {}\n", phases);
  const auto add = [&out](std::string_view title, const std::vector<StoryLine>& lines) {
    if (lines.empty()) return;
    out += fmt::format("- {}: {} *({})*\n", title, story_sentence(lines.front(), md_text),
                       mark_text(lines.front().mark));
  };
  add("Bottleneck", story.bottlenecks);
  add("Hardware", story.insights);
  return out + "- Timeline, transitions and evidence: [story.md](story.md)\n";
}

std::string story_markdown(const RunStory& story, bool with_evidence) {
  std::string out;
  for (const StorySection& section : story_outline(story, md_text, with_evidence)) {
    out += fmt::format("{}{} {}{}{}\n\n", out.empty() ? "" : "\n", out.empty() ? "#" : "##",
                       section.title, section.after.empty() ? "" : ": ", section.after);
    write_nodes(section.nodes, 0, out);
  }
  return out;
}

}  // namespace fathom
