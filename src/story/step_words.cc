#include "story/step_words.h"

#include "base/text_parts.h"
#include "base/tsv.h"
#include "scan/cpp/code_patterns.h"

extern const std::string_view phrases_tsv, step_words_tsv;

namespace fathom {
namespace {

void add_word_apart(std::string& out, const std::string& word) {
  if (word.empty()) return;
  if (!out.empty()) out += ' ';
  out += word;
}

}  // namespace

const StepPattern* step_pattern(std::string_view id) {
  static const std::map<std::string_view, StepPattern> table = [] {
    std::map<std::string_view, StepPattern> out;
    for (const auto& row : read_tsv(step_words_tsv, 3)) {
      const bool multiplies = row[1] == "product";
      out[row[0]] = {row[0], multiplies || row[1] == "action", multiplies};
    }
    return out;
  }();
  return find_value(table, id);
}

Words::Words(Phrase phrase, size_t count) {
  if (phrase != Phrase::kNone) list.push_back({phrase, {}, count});
}

bool Words::says(const Saying& saying) const { return contains(list, saying); }

void Words::add(const Saying& saying) {
  if (!says(saying)) list.push_back(saying);
}

const WordTable& WordTable::built_in() {
  static const WordTable table = [] {
    std::map<std::string, std::string, std::less<>> phrases, patterns, titles;
    for (const auto& row : read_tsv(phrases_tsv, 2)) phrases.emplace(row[0], row[1]);
    for (const auto& row : read_tsv(step_words_tsv, 3)) patterns.emplace(row[0], row[2]);
    for (const cpp::CodePattern& pattern : cpp::PatternTable::built_in().patterns())
      titles.emplace(pattern.id, pattern.title);
    return WordTable(std::move(phrases), std::move(patterns), std::move(titles));
  }();
  return table;
}

std::string WordTable::text(const Saying& saying) const {
  const bool pattern = saying.phrase == Phrase::kPattern,
             title = saying.phrase == Phrase::kPatternTitle;
  const auto& table = pattern ? patterns_ : title ? titles_ : phrases_;
  const auto found = table.find(pattern || title ? saying.pattern : phrase_id(saying.phrase));
  if (found == table.end()) return "";
  std::string out = found->second;
  if (const size_t number = out.find("{}"); number != std::string::npos)
    out.replace(number, 2, std::to_string(saying.count));
  return out;
}

std::string WordTable::text(const Words& words) const {
  std::string out = text(Saying{words.lead});
  for (size_t i = 0; i < words.list.size(); ++i) {
    if (i > 0) out += ',';
    add_word_apart(out, text(words.list[i]));
  }
  add_word_apart(out, text(Saying{words.tail}));
  return out;
}

}  // namespace fathom
