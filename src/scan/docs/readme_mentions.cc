#include "scan/docs/readme_mentions.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/tsv.h"
#include "scan/docs/doc_text.h"
#include "scan/docs/readme.h"
#include "scan/facts/text_lines.h"
#include "scan/files/source_text.h"

namespace fathom {
namespace {

constexpr size_t kMaxGap = 60, kMaxSaid = 160;

// Sections that speak of others, or of how to work on the project.
constexpr std::array<std::string_view, 18> kOtherSections = {
    "acknowledg", "citation", "cite",  "contribut",  "fork",    "adoption",
    "license",    "contact",  "media", "roadmap",    "news",    "related",
    "learn more", "discuss",  "todo",  "experiment", "sponsor", "used by"};
// What follows these is said not to be there; a sentence with one of the others says so as a whole.
constexpr std::array<std::string_view, 7> kDenials = {
    " not ", "n't ", "n’t ", " no ", " without ", "instead of ", "rather than "};
constexpr std::array<std::string_view, 10> kPromises = {
    "not supported", "not yet",     "not implemented", "unsupported", "planned",
    "we plan",       "coming soon", "will be",         "would be",    "in progress"};
constexpr std::array<std::string_view, 22> kClaimWords = {
    "support",   "implement", "provid", "offer",      "includ",  " use ",   "uses ",    " we ",
    "using",     "integrat",  "enabl",  "feature",    "optimi",  "written", "compatib", "released",
    "relies on", "rely on",   "launch", "comes with", "we have", "based on"};

// Where the sentence begins to say what there is not; its end: nowhere.
size_t denial_in(std::string_view sentence) {
  size_t first = sentence.size();
  for (const std::string_view denial : kDenials) first = std::min(first, sentence.find(denial));
  return first;
}

bool is_folded_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
}

// Of the same length as the text: small letters, blanks for what joins words.
std::string folded(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if (c == '-' || c == '_') c = ' ';
  }
  return out;
}

enum class BlockKind : uint8_t { kProse, kItem, kHeading };

// A paragraph, an item of a list or a heading, as plain text with the line of each of its pieces.
struct Block {
  BlockKind kind = BlockKind::kProse;
  size_t section = 0;
  std::string text;
  using Piece = std::pair<size_t, uint32_t>;
  std::vector<Piece> lines;  // from which position of the text: its line

  uint32_t line_at(size_t position) const {
    const auto after = std::ranges::upper_bound(lines, position, {}, &Piece::first);
    if (after == lines.begin()) return lines.empty() ? 0 : lines.front().second;
    return std::prev(after)->second;
  }
};

class MentionReader {
 public:
  std::vector<Block> read(std::string_view text, bool markdown) {
    for (const DocLine& line : read_doc(text, markdown)) {
      if (line.code) {
        open_ = false;
      } else {
        take(line.text, line.line);
      }
    }
    return std::move(blocks_);
  }

 private:
  void take(std::string_view raw, uint32_t line) {
    std::string_view content = without_blanks_around(raw);
    if (in_comment_ || content.starts_with("<!--")) {
      in_comment_ = !holds(content, "-->");
      return;
    }
    if (content.starts_with('>')) content = without_blanks_around(content.substr(1));
    if (content.empty() || content.starts_with('|') || !opened_fence(content).empty()) {
      open_ = false;
      return;
    }
    const size_t level = std::min(content.find_first_not_of('#'), content.size());
    if (level > 0 && level < 7 && level < content.size() && content[level] == ' ') {
      heading(content.substr(level), level, line);
      return;
    }
    if (other_level_ > 0) return;
    const size_t marker = item_marker(content);
    if (marker > 0 || !open_) begin(marker > 0 ? BlockKind::kItem : BlockKind::kProse);
    add(content.substr(marker), line);
  }

  void heading(std::string_view text, size_t level, uint32_t line) {
    ++section_;
    open_ = false;
    if (other_level_ > 0 && level > other_level_) return;
    other_level_ = holds_any(folded(text), kOtherSections) ? level : 0;
    if (other_level_ > 0) return;
    begin(BlockKind::kHeading);
    add(text, line);
    open_ = false;
  }

  // How long "- ", "* " or "12. " is at the start; 0: no item begins here.
  static size_t item_marker(std::string_view content) {
    if (content.starts_with("- ") || content.starts_with("* ") || content.starts_with("+ "))
      return 2;
    const size_t digits = std::min(content.find_first_not_of("0123456789"), content.size());
    const bool numbered = digits > 0 && digits < 3 && digits + 1 < content.size() &&
                          (content[digits] == '.' || content[digits] == ')') &&
                          content[digits + 1] == ' ';
    return numbered ? digits + 2 : 0;
  }

  void begin(BlockKind kind) {
    blocks_.push_back({kind, section_, "", {}});
    open_ = true;
  }

  void add(std::string_view content, uint32_t line) {
    Block& block = blocks_.back();
    if (!block.text.empty()) block.text += ' ';
    block.lines.emplace_back(block.text.size(), line);
    block.text += plain_text(content);
  }

  std::vector<Block> blocks_;
  size_t section_ = 0, other_level_ = 0;
  bool open_ = false, in_comment_ = false;
};

struct Phrase {
  std::string_view words;
  uint32_t claim;
};

class MentionFinder {
 public:
  MentionFinder(std::string_view name, const FeatureRules& rules) {
    const std::string own = folded(name);
    for (uint32_t i = 0; i < rules.claims().size(); ++i) {
      for (const std::string_view words : rules.claims()[i].phrases) {
        if (words != own) phrases_.push_back({words, i});
      }
    }
    for (const Phrase& phrase : phrases_) shortest_ = std::min(shortest_, phrase.words.size() - 1);
    // The longer ones first, so that they take their words before the shorter ones look.
    std::ranges::stable_sort(phrases_, std::ranges::greater{},
                             [](const Phrase& phrase) { return phrase.words.size(); });
  }

  // A sentence is a claim where a list or heading stands, or where it says that something is done.
  void read(const Block& block) {
    const std::string text = folded(block.text);
    std::string taken = text;  // words that a phrase took are blanked here
    bool any = false;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(". ", begin), text.size());
      if (end - begin < shortest_) {
        begin = end + 2;
        continue;
      }
      const std::string sentence = " " + text.substr(begin, end - begin) + " ";
      const bool claims = block.kind != BlockKind::kProse || holds_any(sentence, kClaimWords);
      if (claims && !holds_any(sentence, kPromises)) {
        // The blank that the sentence got in front stands for the place before `begin`.
        const size_t denied = std::min(denial_in(sentence) + begin, end);
        any |= read_sentence(block, taken, begin, denied);
      }
      begin = end + 2;
    }
    if (block.kind != BlockKind::kItem) return;
    if (any) {
      sections_.insert(block.section);
    } else if (holds(text, ' ') && !text.ends_with(':') && denial_in(text) >= text.size()) {
      items_.push_back(&block);
    }
  }

  ReadmeMentions take() {
    ReadmeMentions out;
    for (auto& [claim, mention] : best_) out.known.push_back(std::move(mention.second));
    std::ranges::stable_sort(out.known, {}, &ReadmeMention::line);
    for (const Block* item : items_) {
      if (sections_.contains(item->section) && !item->text.empty())
        out.unknown.emplace_back(item->line_at(0), shortened(item->text));
    }
    return out;
  }

 private:
  bool read_sentence(const Block& block, std::string& taken, size_t begin, size_t end) {
    bool any = false;
    for (const Phrase& phrase : phrases_) {
      size_t length = 0;
      const size_t at = find_phrase(taken, phrase.words, begin, end, length);
      if (at == std::string::npos) continue;
      any = true;
      // Of a list with a gap the first word alone is used up: the others are claims of their own.
      const size_t gap = phrase.words.find(" … ");
      const size_t used = gap == std::string_view::npos ? length : gap;
      std::fill_n(taken.begin() + static_cast<ptrdiff_t>(at), used, '\x01');
      note(phrase.claim, block, at);
    }
    return any;
  }

  // Lists and headings say more plainly what there is than sentences do.
  void note(uint32_t claim, const Block& block, size_t at) {
    const bool plainly = block.kind != BlockKind::kProse;
    const ReadmeMention mention{claim, block.line_at(at), shortened(block.text)};
    const auto [entry, is_new] = best_.try_emplace(claim, plainly, mention);
    if (!is_new && plainly && !entry->second.first) entry->second = {plainly, mention};
  }

  static std::string shortened(const std::string& text) {
    if (text.size() <= kMaxSaid) return text;
    const size_t cut = text.rfind(' ', kMaxSaid);
    return text.substr(0, cut == std::string::npos ? kMaxSaid : cut) + " …";
  }

  static bool ends_word(std::string_view text, size_t at, bool any_end) {
    if (any_end || at >= text.size() || !is_folded_word(text[at])) return true;
    return text[at] == 's' && (at + 1 >= text.size() || !is_folded_word(text[at + 1]));
  }

  static size_t find_words(std::string_view text, std::string_view words, size_t from, size_t end) {
    const bool any_end = words.ends_with('*');
    if (any_end) words.remove_suffix(1);
    text = text.substr(0, end + words.size() + 2);  // a sentence, not all that follows it
    for (size_t at = text.find(words, from); at != std::string_view::npos && at < end;
         at = text.find(words, at + 1)) {
      if ((at == 0 || !is_folded_word(text[at - 1])) && ends_word(text, at + words.size(), any_end))
        return at;
    }
    return std::string_view::npos;
  }

  // Where the phrase stands between `begin` and `end`, and how long it is there.
  static size_t find_phrase(std::string_view text, std::string_view words, size_t begin, size_t end,
                            size_t& length) {
    constexpr std::string_view kGap = " … ";
    const size_t gap = words.find(kGap);
    if (gap == std::string_view::npos) {
      length = words.size();
      return find_words(text, words, begin, end);
    }
    const size_t first = find_words(text, words.substr(0, gap), begin, end);
    if (first == std::string_view::npos) return first;
    const size_t last = find_words(text, words.substr(gap + kGap.size()), first + gap, end);
    if (last == std::string_view::npos || last - first > kMaxGap) return std::string_view::npos;
    length = last - first;
    return first;
  }

  std::vector<Phrase> phrases_;
  size_t shortest_ = SIZE_MAX;  // of what a phrase can be in a sentence
  std::map<uint32_t, std::pair<bool, ReadmeMention>> best_;  // by claim
  std::vector<const Block*> items_;
  std::set<size_t> sections_;
};

}  // namespace

ReadmeMentions find_mentions(std::string_view text, bool markdown, std::string_view name,
                             const FeatureRules& rules) {
  const std::vector<Block> blocks = MentionReader().read(text, markdown);
  MentionFinder finder(name, rules);
  for (const Block& block : blocks) finder.read(block);
  return finder.take();
}

ReadmeMentions find_mentions(const Repository& repository, const CodeFacts& facts) {
  if (!facts.readme) return {};
  const std::string& path = repository.files[facts.readme->file].path;
  const auto text = read_source_text(repository.root / path);
  if (!text.ok()) return {};
  return find_mentions(text.value(), !path.ends_with(".rst"), repository.name);
}

}  // namespace fathom
