#include <fmt/format.h>

#include <algorithm>

#include "base/count_text.h"
#include "report/trace/run_story.h"

namespace fathom {
namespace {

constexpr size_t kLeastText = 30, kMostLines = 4;
constexpr size_t kShortStory = 58;  // lines that are read in two minutes

// A number keeps its unit on its line.
bool is_unit(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(" ,;:)"));
  for (const std::string_view unit : {"%", "µs", "ms", "s", "×", "MHz", "W", "B", "B/s", "FLOP/B"})
    if (word == unit) return true;
  return false;
}

// Words on lines of a width, at most so many; a word that is longer is cut.
std::vector<std::string> story_words(const std::string& text, size_t width, size_t most) {
  std::vector<std::string> lines = {""};
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find(' ', at);
    while (end != std::string::npos && is_unit(std::string_view(text).substr(end + 1)))
      end = text.find(' ', end + 1);
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
  if (lines.size() > most) {
    lines.resize(most);
    lines.back() = fit_left(lines.back() + " …", width);
    while (lines.back().ends_with(' ')) lines.back().pop_back();
  }
  return lines;
}

class StoryScreen {
 public:
  // `mark`: columns of the marks; `most`: lines of one sentence.
  StoryScreen(const TerminalStyle& style, size_t mark, size_t most)
      : screen_(style), width_(std::max<size_t>(style.width, 60)), mark_(mark), most_(most) {}

  void section(const StorySection& section) {
    if (!is_first_) line("");
    is_first_ = false;
    const std::string title = section.title + (section.after.empty() ? "" : "  ");
    const size_t room = width_ > screen_width(title) + 8 ? width_ - screen_width(title) : 8;
    const std::vector<std::string> after = story_words(section.after, room, most_);
    for (size_t i = 0; i < after.size(); ++i)
      line(i == 0 ? screen_.bold(title) + after[i]
                  : std::string(screen_width(title), ' ') + after[i]);
    nodes(section.nodes, "");
  }

  void note(const std::string& text) {
    for (const std::string& part : story_words(text, width_, most_)) line(screen_.dim(part));
  }

  size_t lines() const { return lines_; }
  std::string take() { return screen_.take(); }

 private:
  void line(const std::string& text) {
    ++lines_;
    screen_.line(text);
  }

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
    const size_t used = indent + (node.mark.empty() ? 0 : mark_);
    const size_t room = width_ > used + kLeastText ? width_ - used : kLeastText;
    const std::vector<std::string> lines = story_words(node.text, room, most_);
    const std::string rest = next + (node.below.empty() ? "" : "│   ");
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i > 0 || node.mark.empty()) {
        line((i == 0 ? first : rest) + lines[i]);
        continue;
      }
      line(first + fit_left(lines[i], room) + "  " + screen_.dim(node.mark));
    }
    if (node.evidence.empty()) return;
    for (const std::string& text :
         story_words(node.evidence, width_ > indent + 2 ? width_ - indent : 40, kMostLines))
      line(rest + screen_.dim(text));
  }

  Screen screen_;
  size_t width_, mark_, most_, lines_ = 0;
  bool is_first_ = true;
};

size_t widest_mark(const std::vector<StoryNode>& nodes) {
  size_t widest = 0;
  for (const StoryNode& node : nodes)
    widest = std::max({widest, screen_width(node.mark), widest_mark(node.below)});
  return widest;
}

StoryScreen shown_story(const std::vector<StorySection>& story, const TerminalStyle& style,
                        size_t most) {
  size_t widest = 0;
  for (const StorySection& section : story) widest = std::max(widest, widest_mark(section.nodes));
  StoryScreen screen(style, widest + 2, most);
  for (const StorySection& section : story) screen.section(section);
  return screen;
}

size_t count_nodes(const StoryNode& node) {
  size_t count = 1;
  for (const StoryNode& below : node.below) count += count_nodes(below);
  return count;
}

// Removes the last node of a rank; how many nodes went with it.
size_t drop_last(std::vector<StoryNode>& nodes, int rank) {
  for (size_t i = nodes.size(); i-- > 0;) {
    if (const size_t dropped = drop_last(nodes[i].below, rank)) {
      const bool is_heading = nodes[i].mark.empty();
      if (is_heading && nodes[i].below.empty())
        nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(i));
      return dropped;
    }
    if (nodes[i].rank != rank) continue;
    const size_t dropped = count_nodes(nodes[i]);
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(i));
    return dropped;
  }
  return 0;
}

size_t drop_last(std::vector<StorySection>& story, int rank) {
  for (size_t i = story.size(); i-- > 0;) {
    const size_t dropped = drop_last(story[i].nodes, rank);
    if (dropped == 0) continue;
    if (story[i].nodes.empty()) story.erase(story.begin() + static_cast<std::ptrdiff_t>(i));
    return dropped;
  }
  return 0;
}

}  // namespace

std::string story_text(const RunStory& story, const TerminalStyle& style, bool with_evidence) {
  std::vector<StorySection> sections = story_outline(story, screen_safe, with_evidence);
  size_t most = kMostLines, dropped = 0;
  const auto is_long = [&] { return shown_story(sections, style, most).lines() > kShortStory; };
  if (!with_evidence) {
    // What matters least goes first, then the ends of long sentences.
    for (const auto& [ranks, lines] : {std::pair(2, size_t{4}),
                                       {3, size_t{3}},
                                       {5, size_t{3}},
                                       {5, size_t{2}},
                                       {7, size_t{1}}}) {
      if (!is_long()) break;
      most = lines;
      for (int rank = 0; rank <= ranks; ++rank) {
        while (is_long()) {
          const size_t more = drop_last(sections, rank);
          if (more == 0) break;
          dropped += more;
        }
      }
    }
  }
  StoryScreen screen = shown_story(sections, style, most);
  if (dropped > 0)
    screen.note(
        fmt::format("{} left out; --evidence shows all", counted(dropped, "line", "lines")));
  return screen.take();
}

}  // namespace fathom
