#include "tree/phase_names.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/ascii.h"
#include "base/glob.h"
#include "base/hash.h"
#include "base/tsv.h"

extern const std::string_view phase_names_tsv;
extern const std::string_view phase_ops_tsv;

namespace fathom {
namespace {

// A longer name is text of the program's user; its beginning tells enough.
constexpr size_t kLongestName = 200;

constexpr bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

constexpr std::pair<std::string_view, PhaseKind> kKindWords[] = {
    {"prefill", PhaseKind::kPrefill},     {"decode", PhaseKind::kDecode},
    {"forward", PhaseKind::kForward},     {"backward", PhaseKind::kBackward},
    {"optimizer", PhaseKind::kOptimizer}, {"communication", PhaseKind::kCommunication},
};

struct NameRule {
  std::string pattern;
  NameMeaning meaning;
};

// The rules, found by one word of each: a name is compared with a few of them.
class NameRules {
 public:
  NameRules() {
    for (const auto& row : read_tsv(phase_names_tsv, 3)) {
      std::string_view longest;
      for (std::string_view word : split(row[0], ' ')) {
        if (word != "*" && word.size() > longest.size()) longest = word;
      }
      by_word_[longest].push_back(rules_.size());
      NameRule rule{pattern_of_words(row[0]), {}};
      if (const auto kind = phase_kind_of_word(row[1])) {
        rule.meaning = {NameRole::kPhase, *kind, false};
      } else if (row[1] == "collective") {
        rule.meaning = {NameRole::kPhase, PhaseKind::kCommunication, true};
      } else if (row[1] != "named") {
        rule.meaning.role = row[1] == "step" ? NameRole::kStep : NameRole::kPart;
        if (row[1] == "forward part") rule.meaning.kind = PhaseKind::kForward;
        if (row[1] == "backward part") rule.meaning.kind = PhaseKind::kBackward;
      }
      rules_.push_back(std::move(rule));
    }
  }

  NameMeaning meaning(const std::string& words) const {
    std::vector<size_t> candidates;
    for (std::string_view word : split(words, ' ')) {
      const auto found = by_word_.find(word);
      if (found == by_word_.end()) continue;
      candidates.insert(candidates.end(), found->second.begin(), found->second.end());
    }
    std::ranges::sort(candidates);
    for (size_t rule : candidates) {
      if (glob_matches(rules_[rule].pattern, words)) return rules_[rule].meaning;
    }
    return {};
  }

 private:
  std::vector<NameRule> rules_;
  std::unordered_map<std::string_view, std::vector<size_t>, TableHash> by_word_;
};

bool take_end(std::string& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.resize(text.size() - end.size());
  return true;
}

std::string without_numbers(std::string_view name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    if (!is_digit(name[i])) {
      text += name[i];
      continue;
    }
    while (i + 1 < name.size() && is_digit(name[i + 1])) ++i;
    // "H2D" is a word, "layer3" a counted one.
    const bool inside =
        i + 1 < name.size() && is_letter(name[i + 1]) && !text.empty() && is_letter(text.back());
    text += inside ? name[i] : '#';
  }
  constexpr std::string_view kSeparators = "#_ :-.,/";
  const auto is_separator = [&](char c) { return kSeparators.find(c) != std::string_view::npos; };
  for (bool more = true; more;) {
    while (!text.empty() && is_separator(text.back())) text.pop_back();
    more = false;
    for (std::string_view end : {"(#)", "[#]", "()", "[]"}) more = more || take_end(text, end);
  }
  text.erase(0, std::min(text.find_first_not_of(kSeparators), text.size()));
  return text.empty() ? "#" : text;
}

}  // namespace

std::optional<PhaseKind> phase_kind_of_word(std::string_view word) {
  for (const auto& [name, kind] : kKindWords) {
    if (name == word) return kind;
  }
  return std::nullopt;
}

std::string words_of_name(std::string_view name) {
  name = name.substr(0, kLongestName);
  std::string words;
  bool in_word = false;
  const auto end_word = [&] {
    if (in_word) words += ' ';
    in_word = false;
  };
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (is_digit(c)) {
      bool zero = c == '0';
      for (; i + 1 < name.size() && is_digit(name[i + 1]); ++i) zero = zero && name[i + 1] == '0';
      end_word();
      words += zero ? " 0 " : " # ";
      continue;
    }
    const bool after_small = in_word && !is_capital(name[i - 1]);
    if (!is_letter(c) || (is_capital(c) && after_small)) end_word();
    if (!is_letter(c)) continue;
    if (!in_word) words += ' ';
    in_word = true;
    words += small_letter(c);
  }
  end_word();
  return words;
}

std::string pattern_of_words(std::string_view words) {
  std::string pattern;
  for (std::string_view word : split(words, ' ')) {
    if (word == "*") {
      pattern += '*';
    } else {
      ((pattern += ' ') += word) += ' ';
    }
  }
  return pattern;
}

NameMeaning meaning_of_words(const std::string& words) {
  static const NameRules rules;
  return rules.meaning(words);
}

std::string text_of_name(std::string_view name) {
  return without_numbers(name.substr(0, kLongestName));
}

std::optional<PhaseKind> kind_of_code(NamedCode place, std::string_view name) {
  static const auto rows = read_tsv(phase_ops_tsv, 4);
  constexpr std::string_view kPlaces[] = {"op", "kernel", "frame", "marker"};
  for (const auto& row : rows) {
    if (row[0] == kPlaces[static_cast<size_t>(place)] && glob_matches(row[1], name)) {
      return phase_kind_of_word(row[2]);
    }
  }
  return std::nullopt;
}

}  // namespace fathom
