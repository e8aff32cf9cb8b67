#include <algorithm>

#include "report/trace/run_story.h"

namespace fathom {
namespace {

constexpr size_t kMarkWidth = 22, kLeastText = 30, kMostLines = 4;

// Words on lines of a width; a word that is longer is cut.
std::vector<std::string> story_words(const std::string& text, size_t width) {
  std::vector<std::string> lines = {""};
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find(' ', at);
    if (end == std::string::npos) end = text.size();
    std::string word = text.substr(at, end - at);
    at = end + 1;
    std::string& line = lines.back();
    const size_t used = screen_width(line), more = screen_width(word);
    if (!line.empty() && used + 1 + more > width) {
      lines.emplace_back();
    } else if (!line.empty()) {
      line += ' ';
    }
    if (more > width) word = fit_left(word, width);
    lines.back() += word;
  }
  if (lines.size() > kMostLines) {
    lines.resize(kMostLines);
    lines.back() = fit_left(lines.back() + " …", width);
    while (lines.back().ends_with(' ')) lines.back().pop_back();
  }
  return lines;
}

class StoryScreen {
 public:
  StoryScreen(const TerminalStyle& style)
      : screen_(style), width_(std::max<size_t>(style.width, 60)) {}

  void section(const StorySection& section) {
    if (!is_first_) screen_.line("");
    is_first_ = false;
    const std::string title = section.title + (section.after.empty() ? "" : "  ");
    const size_t room = width_ > screen_width(title) + 8 ? width_ - screen_width(title) : 8;
    const std::vector<std::string> after = story_words(section.after, room);
    for (size_t i = 0; i < after.size(); ++i)
      screen_.line(i == 0 ? screen_.bold(title) + after[i]
                          : std::string(screen_width(title), ' ') + after[i]);
    nodes(section.nodes, "");
  }

  std::string take() { return screen_.take(); }

 private:
  void nodes(const std::vector<StoryNode>& all, const std::string& before) {
    for (size_t i = 0; i < all.size(); ++i) {
      const bool is_last = i + 1 == all.size();
      const std::string below = before + (is_last ? "    " : "│   ");
      node(all[i], before + (is_last ? "└── " : "├── "), below);
      nodes(all[i].below, below);
    }
  }

  void node(const StoryNode& node, const std::string& first, const std::string& next) {
    const size_t indent = screen_width(first);
    const size_t used = indent + (node.mark.empty() ? 0 : kMarkWidth);
    const size_t room = width_ > used + kLeastText ? width_ - used : kLeastText;
    const std::vector<std::string> lines = story_words(node.text, room);
    const std::string rest = next + (node.below.empty() ? "" : "│   ");
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i > 0 || node.mark.empty()) {
        screen_.line((i == 0 ? first : rest) + lines[i]);
        continue;
      }
      screen_.line(first + fit_left(lines[i], room) + "  " + screen_.dim(node.mark));
    }
    if (node.evidence.empty()) return;
    for (const std::string& line :
         story_words(node.evidence, width_ > indent + 2 ? width_ - indent : 40))
      screen_.line(rest + screen_.dim(line));
  }

  Screen screen_;
  size_t width_;
  bool is_first_ = true;
};

}  // namespace

std::string story_text(const RunStory& story, const TerminalStyle& style, bool with_evidence) {
  StoryScreen screen(style);
  for (const StorySection& section : story_outline(story, screen_safe, with_evidence))
    screen.section(section);
  return screen.take();
}

}  // namespace fathom
