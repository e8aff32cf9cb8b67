#include "scan/readme.h"

#include <algorithm>
#include <array>

#include "scan/source_text.h"
#include "scan/text_lines.h"

namespace fathom {
namespace {

constexpr size_t kMaxHeadings = 200, kMaxParagraph = 2000;

// <a href="…"> and <!-- … --> are left out, on one line.
std::string without_tags(std::string_view line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool opens =
        line[i] == '<' && i + 1 < line.size() &&
        (line[i + 1] == '/' || line[i + 1] == '!' || (line[i + 1] >= 'A' && line[i + 1] <= 'z'));
    const size_t end = opens ? line.find('>', i) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out += line[i];
    } else {
      i = end;
    }
  }
  return out;
}

// ![image](address) is left out, [text](address) is its text.
std::string without_links(std::string_view line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool image = line[i] == '!' && i + 1 < line.size() && line[i + 1] == '[';
    const size_t open = image ? i + 1 : i;
    if (line[open] == '[') {
      int depth = 0;
      size_t close = open;
      for (; close < line.size(); ++close) {
        depth += line[close] == '[' ? 1 : line[close] == ']' ? -1 : 0;
        if (depth == 0) break;
      }
      const char next = close + 1 < line.size() ? line[close + 1] : '\0';
      const size_t end = next == '('   ? line.find(')', close)
                         : next == '[' ? line.find(']', close + 1)
                                       : std::string_view::npos;
      if (end != std::string_view::npos) {
        if (!image) out += without_links(line.substr(open + 1, close - open - 1));
        i = end;
        continue;
      }
    }
    out += line[i];
  }
  return out;
}

}  // namespace

std::string plain_text(std::string_view line) {
  std::string text = without_tags(without_links(line));
  std::erase_if(text, [](char c) { return c == '*' || c == '`'; });
  std::string out;
  for (const char c : without_blanks_around(text)) {
    if ((c == ' ' || c == '\t') && (out.empty() || out.back() == ' ')) continue;
    out += c == '\t' ? ' ' : c;
  }
  return out;
}

namespace {

bool is_underline(std::string_view line, std::string_view signs) {
  line = without_blanks_around(line);
  return line.size() >= 3 && signs.find(line[0]) != std::string_view::npos &&
         std::ranges::all_of(line, [&line](char c) { return c == line[0]; });
}

class ReadmeReader {
 public:
  explicit ReadmeReader(std::string_view text) : lines_(lines_of(text)) {}

  ReadmeFacts read() {
    for (size_t i = 0; i < lines_.size(); ++i) i = take(i);
    end_paragraph();
    return std::move(facts_);
  }

 private:
  // Returns the last line that it used.
  size_t take(size_t i) {
    const std::string_view line = lines_[i], content = without_blanks_around(line);
    const auto number = static_cast<uint32_t>(i + 1);
    if (content.starts_with("```") || content.starts_with("~~~")) {
      end_paragraph();
      const std::string_view fence = content.substr(0, 3);
      for (++i; i < lines_.size() && !without_blanks_around(lines_[i]).starts_with(fence);) ++i;
      return i;
    }
    if (content.starts_with("<!--")) {
      while (i < lines_.size() && lines_[i].find("-->") == std::string_view::npos) ++i;
      return i;
    }
    size_t level = 0;
    while (level < content.size() && content[level] == '#') ++level;
    if (level > 0 && level < 7 && level < content.size() && content[level] == ' ') {
      heading(plain_text(content.substr(level)), static_cast<int>(level), number);
      return i;
    }
    // A heading of HTML, or a line that is underlined.
    if (content.size() > 3 && content.starts_with("<h") && content[2] >= '1' && content[2] <= '6') {
      size_t end = i;
      std::string whole(content);
      while (whole.find("</h") == std::string::npos && end + 1 < lines_.size() && end < i + 5) {
        whole += ' ';
        whole += lines_[++end];
      }
      heading(plain_text(whole), content[2] - '0', number);
      return end;
    }
    if (!content.empty() && i + 1 < lines_.size() && paragraph_.empty() &&
        is_underline(lines_[i + 1], "=-~^\"#*+") && !is_underline(content, "=-~^\"#*+")) {
      heading(plain_text(content), lines_[i + 1].find('=') != std::string_view::npos ? 1 : 2,
              number);
      return i + 1;
    }
    add_text(content, number);
    return i;
  }

  void heading(std::string text, int level, uint32_t line) {
    end_paragraph();
    if (text.empty() || facts_.headings.size() == kMaxHeadings) return;
    if (facts_.title.empty() && level == 1) facts_.title = text;
    facts_.headings.push_back({std::move(text), level, line});
  }

  void add_text(std::string_view content, uint32_t line) {
    // Lists, tables, quotes and directives are no sentences.
    const bool is_prose = !content.empty() &&
                          std::string_view("|>-+:.").find(content[0]) == std::string_view::npos &&
                          !content.starts_with("* ") && !is_underline(content, "=-~^*_");
    const std::string text = is_prose ? plain_text(content) : "";
    if (text.empty()) {
      if (content.empty()) end_paragraph();
      return;
    }
    if (paragraph_.empty()) paragraph_line_ = line;
    if (paragraph_.size() < kMaxParagraph) paragraph_ += (paragraph_.empty() ? "" : " ") + text;
  }

  // What stands under "About" says it better than an announcement above it.
  bool is_under_about() const {
    if (facts_.headings.empty()) return false;
    const std::string& text = facts_.headings.back().text;
    return std::ranges::any_of(
        std::array<std::string_view, 5>{"About", "Introduction", "Overview", "What is", "What's"},
        [&text](std::string_view word) { return text.starts_with(word); });
  }

  // A row of links to the project's pages is no paragraph: it must have a sentence's length.
  void end_paragraph() {
    constexpr size_t kSentence = 40;
    const bool is_better = !has_about_ && is_under_about();
    if ((facts_.first_paragraph.empty() || is_better) && paragraph_.size() >= kSentence &&
        std::ranges::count(paragraph_, '|') < 3) {
      has_about_ = has_about_ || is_better;
      facts_.first_paragraph = paragraph_;
      facts_.paragraph_line = paragraph_line_;
    }
    paragraph_.clear();
  }

  std::vector<std::string_view> lines_;
  ReadmeFacts facts_;
  std::string paragraph_;
  uint32_t paragraph_line_ = 0;
  bool has_about_ = false;
};

}  // namespace

ReadmeFacts read_readme(std::string_view text) { return ReadmeReader(text).read(); }

std::optional<ReadmeFacts> find_readme(const Repository& repository) {
  for (const std::string_view name : {"README.md", "readme.md", "Readme.md", "README.rst",
                                      "README.markdown", "README.txt", "README"}) {
    const auto found = std::ranges::lower_bound(repository.files, name, {}, &SourceFile::path);
    if (found == repository.files.end() || found->path != name || !found->skipped.empty()) continue;
    const Result<std::string> text = read_source_text(repository.root / found->path);
    if (!text.ok()) return {};
    ReadmeFacts facts = read_readme(text.value());
    facts.file = static_cast<uint32_t>(found - repository.files.begin());
    return facts;
  }
  return {};
}

}  // namespace fathom
