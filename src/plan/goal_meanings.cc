#include "plan/goal_meanings.h"

#include <algorithm>

#include "base/tsv.h"
#include "plan/goal.h"

extern const std::string_view plan_questions_tsv;
extern const std::string_view plan_synonyms_tsv;
extern const std::string_view plan_plain_words_tsv;

namespace fathom {

const GoalTables& goal_tables() {
  static const GoalTables tables = [] {
    GoalTables out;
    for (const auto& row : read_tsv(plan_questions_tsv, 3)) {
      for (const Question question : kAllQuestions) {
        if (question_name(question) != row[0]) continue;
        for (const std::string_view words : split(row[1], '|'))
          out.questions.emplace_back(GoalPhrase(words), question);
      }
    }
    for (const auto& row : read_tsv(plan_synonyms_tsv, 2)) {
      for (const std::string_view words : split(row[0], '|'))
        out.meanings.push_back({GoalPhrase(words), split(row[1], ' ')});
    }
    for (const auto& row : read_tsv(plan_plain_words_tsv, 1)) {
      for (const std::string_view words : split(row[0], '|')) out.plain.emplace_back(words);
    }
    return out;
  }();
  return tables;
}

const std::vector<std::pair<Meaning, const ClaimRule*>>& claim_meanings() {
  static const std::vector<std::pair<Meaning, const ClaimRule*>> meanings = [] {
    std::vector<std::pair<Meaning, const ClaimRule*>> out;
    for (const ClaimRule& claim : FeatureRules::built_in().claims()) {
      for (const std::string_view words : claim.phrases)
        out.push_back({{GoalPhrase(words), {}}, &claim});
    }
    return out;
  }();
  return meanings;
}

std::vector<std::string> metrics_in_words(std::string_view text) {
  const GoalText words = goal_text(text.substr(0, 400));
  std::vector<std::string> metrics;
  for (size_t at = 0; at < words.words.size();) {
    const Meaning* best = nullptr;
    size_t weight = 0, taken = 0;
    for (const Meaning& meaning : goal_tables().meanings) {
      const size_t count = meaning.phrase.match(words.words, at);
      if (count == 0 || meaning.phrase.weight() <= weight) continue;
      best = &meaning;
      weight = meaning.phrase.weight();
      taken = count;
    }
    for (const std::string_view target :
         best != nullptr ? best->targets : std::vector<std::string_view>{}) {
      // A line of a program is of one thing: words with several meanings do not tell of which.
      if (!target.starts_with("metric:") || best->targets.size() > 1) continue;
      const std::string id(target.substr(7));
      if (std::ranges::find(metrics, id) == metrics.end()) metrics.push_back(id);
    }
    at += std::max<size_t>(taken, 1);
  }
  return metrics;
}

}  // namespace fathom
