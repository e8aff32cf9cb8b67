#include "scan/docs/readme.h"

#include <algorithm>
#include <array>
#include <vector>

#include "scan/facts/text_lines.h"
#include "scan/files/source_text.h"

namespace fathom {
namespace {

constexpr size_t kMaxHeadings = 200, kMaxHeading = 300, kMaxParagraph = 2000;

// <a href="…"> and <!-- … --> are left out, on one line.
std::string without_tags(std::string_view line) {
  std::string out;
  size_t end = 0;  // of the next tag, looked for once
  for (size_t i = 0; i < line.size(); ++i) {
    const bool opens =
        line[i] == '<' && i + 1 < line.size() &&
        (line[i + 1] == '/' || line[i + 1] == '!' || (line[i + 1] >= 'A' && line[i + 1] <= 'z'));
    if (opens && end < i) end = line.find('>', i);
    if (!opens || end == std::string_view::npos) {
      out += line[i];
    } else {
      i = end;
    }
  }
  return out;
}

// Where the links of a line end, worked out from its back in one go: a line may be all brackets.
class LinkEnds {
 public:
  explicit LinkEnds(std::string_view line) : line_(line), closing_(line.size(), kNone) {
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < line.size(); ++i) {
      if (line[i] == '[') open.push_back(i);
      if (line[i] != ']' || open.empty()) continue;
      closing_[open.back()] = i;
      open.pop_back();
    }
    round_.resize(line.size() + 1, kNone);
    square_.resize(line.size() + 1, kNone);
    for (size_t i = line.size(); i-- > 0;) {
      round_[i] = line[i] == ')' ? static_cast<uint32_t>(i) : round_[i + 1];
      square_[i] = line[i] == ']' ? static_cast<uint32_t>(i) : square_[i + 1];
    }
  }

  static constexpr uint32_t kNone = UINT32_MAX;
  // The ']' of the '[' there, and the last character of the address behind it; kNone: it is no
  // link.
  uint32_t closing(size_t open) const { return closing_[open]; }
  uint32_t end(size_t open) const {
    const size_t next = static_cast<size_t>(closing_[open]) + 1;
    if (closing_[open] == kNone || next >= line_.size()) return kNone;
    return line_[next] == '(' ? round_[next] : line_[next] == '[' ? square_[next] : kNone;
  }

 private:
  std::string_view line_;
  std::vector<uint32_t> closing_, round_, square_;
};

// ![image](address) is left out, [text](address) is its text, in which there may be more of them.
std::string without_links(std::string_view line) {
  if (line.find('[') == std::string_view::npos) return std::string(line);
  const LinkEnds links(line);
  struct Link {
    size_t closing, end;
  };
  std::vector<Link> inside;
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    if (!inside.empty() && i == inside.back().closing) {
      i = inside.back().end;
      inside.pop_back();
      continue;
    }
    const bool image = line[i] == '!' && i + 1 < line.size() && line[i + 1] == '[';
    const size_t open = image ? i + 1 : i;
    const uint32_t end = line[open] == '[' ? links.end(open) : LinkEnds::kNone;
    // An address ends within the text that it stands in.
    if (end == LinkEnds::kNone || (!inside.empty() && end >= inside.back().closing)) {
      out += line[i];
    } else if (image) {
      i = end;
    } else {
      inside.push_back({links.closing(open), end});
    }
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
    text = shortened_text(std::move(text), kMaxHeading);
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
    if (paragraph_.size() >= kMaxParagraph) return;
    paragraph_ = shortened_text(paragraph_ + (paragraph_.empty() ? "" : " ") + text, kMaxParagraph);
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
