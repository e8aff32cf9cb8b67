#include "scan/docs/readme.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "base/check.h"
#include "base/tsv.h"
#include "scan/docs/doc_text.h"
#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"
#include "scan/files/source_text.h"
#include "scan/manifests/structured_text.h"

extern const std::string_view readme_words_tsv;

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
    if (opens && end <= i) end = line.find('>', i);
    if (!opens || end == std::string_view::npos) {
      out += line[i];
    } else {
      i = end;
    }
  }
  return out;
}

// HTML's names of characters that READMEs use.
std::string with_characters(std::string_view text) {
  struct Entity {
    std::string_view name, character;
  };
  constexpr std::array<Entity, 9> entities = {{{"&nbsp;", " "},
                                               {"&amp;", "&"},
                                               {"&lt;", "<"},
                                               {"&gt;", ">"},
                                               {"&quot;", "\""},
                                               {"&#39;", "'"},
                                               {"&mdash;", "—"},
                                               {"&middot;", "·"},
                                               {"&bull;", "·"}}};
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto found =
        text[i] == '&'
            ? std::ranges::find_if(
                  entities, [&](const Entity& e) { return text.substr(i).starts_with(e.name); })
            : entities.end();
    if (found == entities.end()) {
      out += text[i++];
    } else {
      out += found->character;
      i += found->name.size();
    }
  }
  return out;
}

// Tags and comments that span lines become spaces, so that every line keeps its number. Code blocks
// are left alone.
std::string without_long_tags(std::string_view text) {
  constexpr size_t kLongestTag = 4000;
  std::string out(text);
  std::string fence;  // of the block of code around, empty outside
  for (size_t i = 0; i < out.size(); ++i) {
    const bool line_begins = i == 0 || out[i - 1] == '\n';
    if (line_begins) {
      const std::string_view rest(out.data() + i, std::min(out.find('\n', i), out.size()) - i);
      if (fence.empty()) {
        fence = opened_fence(rest);
      } else if (rest.starts_with(fence)) {
        fence.clear();
      }
    }
    if (!fence.empty() || out[i] != '<' || i + 1 >= out.size()) continue;
    const bool comment = out.compare(i, 4, "<!--") == 0;
    const bool tag = out[i + 1] == '/' || (out[i + 1] >= 'A' && out[i + 1] <= 'z');
    if (!comment && !tag) continue;
    const size_t longest = std::min(out.size(), i + kLongestTag);
    const std::string_view rest = std::string_view(out).substr(i, longest - i);
    const size_t close = rest.find(comment ? "-->" : ">"), line_ends = rest.find('\n');
    if (close == std::string_view::npos || line_ends == std::string_view::npos || close < line_ends)
      continue;
    // A "<" of prose is not followed by a ">" before the paragraph ends.
    const size_t blank = rest.find("\n\n");
    if (!comment && blank < close) continue;
    for (size_t at = i; at < i + close + (comment ? 3 : 1); ++at) {
      if (out[at] != '\n') out[at] = ' ';
    }
  }
  return out;
}

// How many words of a line stand outside its links and addresses.
size_t words_beside_links(std::string_view line) {
  size_t words = 0, letters = 0, depth = 0;
  for (size_t i = 0; i <= line.size(); ++i) {
    const std::string_view rest = line.substr(i);
    if (depth == 0 && (rest.starts_with("https://") || rest.starts_with("http://"))) {
      letters = 0;
      i = std::min(line.find_first_of(" \t)>", i), line.size());
    }
    const char c = i < line.size() ? line[i] : ' ';
    // [text](address), <a href=…>text</a>
    if (c == '[' || (c == '(' && i > 0 && line[i - 1] == ']') || line.substr(i).starts_with("<a "))
      ++depth;
    const bool closes = c == ']' || c == ')' || line.substr(i).starts_with("</a");
    if (closes && depth > 0) --depth;
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
    if (letter && depth == 0) {
      ++letters;
    } else {
      words += letters >= 2 ? 1 : 0;
      letters = 0;
    }
  }
  return words;
}

// A line of HTML with links and nothing to read beside them.
bool is_links_alone(std::string_view line) {
  if (!line.starts_with('<') || !line.ends_with('>')) return false;
  size_t links = 0;
  for (size_t i = 0; i < line.size();) {
    const bool link = line.substr(i).starts_with("<a ");
    links += link ? 1 : 0;
    if (line[i] != '<' && line[i] != ' ') return false;
    const std::string_view end = link ? "</a>" : line[i] == '<' ? ">" : " ";
    const size_t at = line.find(end, i);
    if (at == std::string_view::npos) return false;
    i = at + end.size();
  }
  return links > 0;
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
  if (!holds(line, '[')) return std::string(line);
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
  std::string text = with_characters(without_tags(without_links(line)));
  std::erase_if(text, [](char c) { return c == '*' || c == '`'; });
  // _All of it is emphasised._
  const std::string_view inner = without_blanks_around(text);
  if (inner.size() > 2 && inner.front() == '_' && inner.back() == '_' && holds(inner, ' '))
    text = std::string(inner.substr(1, inner.size() - 2));
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
  return line.size() >= 3 && holds(signs, line[0]) &&
         std::ranges::all_of(line, [&line](char c) { return c == line[0]; });
}

// "Usage ##" → "Usage", but "C#"
std::string_view without_closing_signs(std::string_view heading) {
  const size_t last = heading.find_last_not_of('#');
  const bool closed = last != std::string_view::npos && heading[last] == ' ';
  return closed ? without_blanks_around(heading.substr(0, last)) : heading;
}

// ":rocket: Start" → "Start"
std::string without_emoji_names(std::string text) {
  constexpr size_t kLongest = 4000;  // each removal moves the rest
  if (text.size() > kLongest) return text;
  for (size_t open = text.find(':'); open != std::string::npos; open = text.find(':', open + 1)) {
    const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789+-", open + 1);
    if (end == std::string::npos || end == open + 1 || text[end] != ':') continue;
    const bool alone = open == 0 || text[open - 1] == ' ';
    if (!alone) continue;
    // With the blank before it.
    const size_t begin = open > 0 ? open - 1 : 0;
    text.erase(begin, end - begin + 1);
    open = begin;
  }
  return std::string(without_blanks_around(text));
}

enum class ReadmeRole : uint8_t { kNews, kGoesOn, kState, kAbout, kNoAbout, kAside };

const std::vector<std::string_view>& readme_words(ReadmeRole role) {
  static const auto words = [] {
    constexpr std::array<std::string_view, 6> roles = {"news",  "goes_on",  "state",
                                                       "about", "no_about", "aside"};
    std::array<std::vector<std::string_view>, 6> read;
    for (const auto& row : read_tsv(readme_words_tsv, 2)) {
      const auto role_of = std::ranges::find(roles, row[0]);
      CHECK(role_of != roles.end());
      read[static_cast<size_t>(role_of - roles.begin())].push_back(row[1]);
    }
    return read;
  }();
  return words[static_cast<size_t>(role)];
}

bool begins_with(std::string_view text, ReadmeRole role) {
  return starts_with_any(text, readme_words(role));
}

bool holds_word_of(std::string_view text, ReadmeRole role) {
  return holds_any(text, readme_words(role));
}

// News, warnings, and whose it is, which stand above what a project is.
bool is_announcement(std::string_view text) {
  if (begins_with(text, ReadmeRole::kNews) || begins_with(text, ReadmeRole::kGoesOn) ||
      holds_word_of(text.substr(0, 100), ReadmeRole::kState))
    return true;
  // [2024/05/01] and 2024-05-01
  const size_t digit = text.find_first_not_of("[( ");
  return digit != std::string_view::npos && text.substr(digit).starts_with("20") &&
         text.size() > digit + 5 &&
         (text[digit + 4] == '/' || text[digit + 4] == '-' || text[digit + 4] == '.');
}

// "Thing 2 is out!", "Welcome!": a call to the reader before what it is.
bool begins_with_a_call(std::string_view text) {
  const size_t end = text.find_first_of(".!?:");
  return end != std::string_view::npos && text[end] == '!' && end + 1 < text.size();
}

class ReadmeReader {
 public:
  explicit ReadmeReader(std::string_view text)
      : text_(without_long_tags(text)), lines_(lines_of(text_)) {}

  ReadmeFacts read() {
    for (size_t i = 0; i < lines_.size(); ++i) i = take(i);
    end_paragraph();
    // [name] of a link whose address stands elsewhere.
    for (const std::string& name : defined_) {
      const std::string written = "[" + name + "]";
      std::string& text = facts_.first_paragraph;
      for (size_t at; (at = text.find(written)) != std::string::npos;)
        text.replace(at, written.size(), name);
    }
    return std::move(facts_);
  }
  bool introduces() const { return worth_ > kWorthOfOtherSections; }

 private:
  // Returns the last line that it used.
  size_t take(size_t i) {
    const std::string_view line = lines_[i], content = without_blanks_around(line);
    const auto number = static_cast<uint32_t>(i + 1);
    if (const std::string_view fence = opened_fence(content); !fence.empty()) {
      end_paragraph();
      for (++i; i < lines_.size() && !without_blanks_around(lines_[i]).starts_with(fence);) ++i;
      return i;
    }
    if (content.starts_with("<!--")) {
      while (i < lines_.size() && !holds(lines_[i], "-->")) ++i;
      return i;
    }
    size_t level = 0;
    while (level < content.size() && content[level] == '#') ++level;
    if (level > 0 && level < 7 && level < content.size() && content[level] == ' ') {
      heading(plain_text(without_closing_signs(content.substr(level))), static_cast<int>(level),
              number);
      return i;
    }
    // A heading of HTML, or a line that is underlined.
    if (content.size() > 3 && content.starts_with("<h") && content[2] >= '1' && content[2] <= '6') {
      size_t end = i;
      std::string whole(content);
      while (!holds(whole, "</h") && end + 1 < lines_.size() && end < i + 5) {
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
    if (!is_indented_code(i)) add_text(content, number);
    return i;
  }

  // Four blanks behind an empty line are Markdown's other way to write code.
  bool is_indented_code(size_t i) {
    const std::string_view line = lines_[i];
    const bool indented = line.starts_with("    ") || line.starts_with('\t');
    const bool blank_before = i == 0 || without_blanks_around(lines_[i - 1]).empty();
    in_code_ = indented && (in_code_ || (blank_before && items_ == 0));
    return in_code_;
  }

  void heading(std::string text, int level, uint32_t line) {
    end_paragraph();
    if (text.empty() || facts_.headings.size() == kMaxHeadings) return;
    text = shortened_text(without_emoji_names(std::move(text)), kMaxHeading);
    if (text.empty()) return;
    // "Introduction" names nothing.
    const bool names =
        !is_one_of(text, {"Introduction", "Overview", "README", "About", "Description"});
    // What stands below the description is a part of the text.
    const bool above = worth_ < kWorthOfIntroduction;
    if (facts_.title.empty() && level == 1 && names && above) facts_.title = text;
    facts_.headings.push_back({std::move(text), level, line});
  }

  // "Thing is:" and a list of what it is: the first items belong to the sentence.
  bool add_item(std::string_view content) {
    constexpr size_t kItems = 3;
    const bool item =
        content.starts_with("- ") || content.starts_with("* ") || content.starts_with("+ ");
    if (!item || !paragraph_.ends_with(':') || paragraph_.size() > kMaxParagraph) {
      if (items_ == 0 || !item) return false;
    }
    if (items_++ >= kItems) return true;
    std::string text = without_emoji_names(plain_text(content.substr(2)));
    words_ += words_beside_links(content.substr(2));
    while (text.ends_with('.') || text.ends_with(';')) text.pop_back();
    paragraph_ = shortened_text(paragraph_ + (items_ == 1 ? " " : "; ") + text, kMaxParagraph);
    return true;
  }

  // "What is it?" and a list for an answer.
  bool begin_with_item(std::string_view content, uint32_t line) {
    const bool item = content.starts_with("- ") || content.starts_with("* ");
    if (!item || !paragraph_.empty() || worth_ >= kWorthOfAbout || !is_under_about()) return false;
    paragraph_ = ":";
    paragraph_line_ = last_line_ = line;
    add_item(content);
    paragraph_.erase(0, 2);
    return true;
  }

  // [name]: address, which links elsewhere in the text are given by.
  static bool is_link_definition(std::string_view content) {
    const size_t close = content.find("]:");
    return content.starts_with('[') && close != std::string_view::npos &&
           content.find(']') == close;
  }

  void add_text(std::string_view content, uint32_t line) {
    if (is_link_definition(content)) {
      const std::string_view name = content.substr(1, content.find(']') - 1);
      // [1] is a note.
      if (name.find_first_not_of("0123456789") != std::string_view::npos) defined_.emplace(name);
      return end_paragraph();
    }
    // Lists, tables, quotes and directives are no sentences.
    const bool is_prose = !content.empty() &&
                          std::string_view("|>-+:.").find(content[0]) == std::string_view::npos &&
                          !content.starts_with("* ") && !is_underline(content, "=-~^*_");
    if (add_item(content) || begin_with_item(content, line)) return;
    const std::string text = is_prose ? without_emoji_names(plain_text(content)) : "";
    if (text.empty()) {
      // A list may stand behind an empty line.
      if (content.empty() && !paragraph_.ends_with(':')) end_paragraph();
      return;
    }
    // <div><a href="README_fr.md">En français</a></div>: links on a line of HTML of their own.
    if (is_links_alone(content) && !is_in_sentence_) return end_paragraph();
    if (items_ > 0 || (paragraph_.ends_with(':') && last_line_ + 1 < line)) end_paragraph();
    last_line_ = line;
    const char last = content.back();
    is_in_sentence_ = last == ',' || (last >= 'a' && last <= 'z');
    if (paragraph_.empty()) paragraph_line_ = line;
    words_ += words_beside_links(content);
    if (paragraph_.size() >= kMaxParagraph) return;
    paragraph_ = shortened_text(paragraph_ + (paragraph_.empty() ? "" : " ") + text, kMaxParagraph);
  }

  // What stands under "About" says it better than an announcement above it.
  bool is_under_about() const {
    if (facts_.headings.empty()) return false;
    const std::string& text = facts_.headings.back().text;
    for (const std::string_view word : {"What is ", "What's ", "What’s "}) {
      if (text.starts_with(word)) return asks_what_it_is(text.substr(word.size()));
    }
    return begins_with(text, ReadmeRole::kAbout);
  }

  // "What is Thing?", but not "What's new" or "What is missing?".
  static bool asks_what_it_is(std::string_view rest) {
    const std::string word = small_letters(rest.substr(0, rest.find_first_of(" ?!:.,")));
    const std::vector<std::string_view>& others = readme_words(ReadmeRole::kNoAbout);
    return !contains(others, word);
  }

  // Sections that say how fast, how to get or whose it is, not what it is.
  bool is_beside_the_point() const {
    return !facts_.headings.empty() &&
           holds_word_of(small_letters(facts_.headings.back().text), ReadmeRole::kAside);
  }

  // A row of links to the project's pages is no paragraph: it must have a sentence's length, and
  // words beside them.
  void end_paragraph() {
    constexpr size_t kSentence = 40, kFewestWords = 4, kTagline = 15;
    const bool is_row = std::ranges::count(paragraph_, '|') >= 3 || words_ < kFewestWords;
    if (!is_row && paragraph_.size() >= kSentence) keep_best(false);
    // "LLM inference in C/C++": a few words under the title.
    if (!is_row && paragraph_.size() >= kTagline && paragraph_.size() < kSentence &&
        facts_.headings.size() <= 1)
      keep_best(true);
    paragraph_.clear();
    words_ = items_ = 0;
    is_in_sentence_ = false;
  }

  // What stands under the title is worth more than what is said of installing it; what is under
  // "About" most.
  void keep_best(bool is_tagline) {
    const bool introduces = facts_.headings.size() <= 1 || facts_.headings.back().level == 1;
    // "Times on an A6000:", "To compile it, run:" are about what stands below them.
    if (paragraph_.ends_with(':') && items_ == 0) return;
    const bool announces = is_announcement(paragraph_);
    const bool aside = facts_.headings.size() > 1 && is_beside_the_point();
    const int worth = announces || aside ? 1
                      : is_under_about() ? kWorthOfAbout - (begins_with_a_call(paragraph_) ? 1 : 0)
                      : is_tagline       ? 3
                      : introduces       ? kWorthOfIntroduction
                                         : kWorthOfOtherSections;
    // A later paragraph is about something else, unless all before it was news.
    const bool far = facts_.headings.size() > kMaxHeadingsBefore;
    if (worth <= worth_ || (far && worth_ > 0)) return;
    worth_ = worth;
    facts_.first_paragraph = without_links(paragraph_);  // one may span lines
    if (facts_.first_paragraph.ends_with(':')) facts_.first_paragraph.back() = '.';
    facts_.paragraph_line = paragraph_line_;
  }

  static constexpr size_t kMaxHeadingsBefore = 12;
  static constexpr int kWorthOfOtherSections = 2, kWorthOfIntroduction = 4, kWorthOfAbout = 5;
  const std::string text_;
  std::vector<std::string_view> lines_;
  ReadmeFacts facts_;
  std::string paragraph_;
  uint32_t paragraph_line_ = 0;
  size_t words_ = 0;               // of the paragraph, beside its links
  size_t items_ = 0;               // of a list that goes on with it
  uint32_t last_line_ = 0;         // of the paragraph
  bool is_in_sentence_ = false;    // that line ends within one
  int worth_ = 0;                  // of the paragraph that is kept
  bool in_code_ = false;           // the line before is code by its indentation
  std::set<std::string> defined_;  // names of links whose addresses stand elsewhere
};

// "Fast inference of language models", of pyproject.toml, Cargo.toml or package.json at the root.
void describe_by_manifest(const Repository& repository, ReadmeFacts& facts) {
  constexpr size_t kShortest = 12;
  for (const std::string_view name : {"pyproject.toml", "Cargo.toml", "package.json"}) {
    const auto found = std::ranges::lower_bound(repository.files, name, {}, &SourceFile::path);
    if (found == repository.files.end() || found->path != name || !found->skipped.empty()) continue;
    const Result<std::string> text = read_source_text(repository.root / found->path);
    if (!text.ok()) continue;
    bool done = false;
    const auto take = [&](const TextValue& value) {
      const bool describes = path_is(value, {"project", "description"}) ||
                             path_is(value, {"tool", "poetry", "description"}) ||
                             path_is(value, {"package", "description"}) ||
                             path_is(value, {"workspace", "package", "description"}) ||
                             path_is(value, {"description"});
      if (done || !describes || value.value.size() < kShortest) return;
      done = true;
      facts.first_paragraph = shortened_text(plain_text(value.value), kMaxParagraph);
      facts.paragraph_line = value.line;
      facts.manifest = static_cast<uint32_t>(found - repository.files.begin());
    };
    name.ends_with(".json") ? read_json_values(text.value(), take) : read_toml(text.value(), take);
    if (done) return;
  }
}

}  // namespace

ReadmeFacts read_readme(std::string_view text, bool* introduces) {
  ReadmeReader reader(text);
  ReadmeFacts facts = reader.read();
  if (introduces != nullptr) *introduces = reader.introduces();
  return facts;
}

std::optional<ReadmeFacts> find_readme(const Repository& repository) {
  for (const std::string_view name : {"README.md", "readme.md", "Readme.md", "README.rst",
                                      "README.markdown", "README.txt", "README"}) {
    const auto found = std::ranges::lower_bound(repository.files, name, {}, &SourceFile::path);
    if (found == repository.files.end() || found->path != name || !found->skipped.empty()) continue;
    const Result<std::string> text = read_source_text(repository.root / found->path);
    if (!text.ok()) return {};
    bool introduces = false;
    ReadmeFacts facts = read_readme(text.value(), &introduces);
    facts.file = static_cast<uint32_t>(found - repository.files.begin());
    if (!introduces) describe_by_manifest(repository, facts);
    return facts;
  }
  return {};
}

}  // namespace fathom
