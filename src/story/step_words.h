#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "story/phrase.h"

namespace fathom {

// A row of data/stories/step_words.tsv: what a step says where its code shows a pattern.
struct StepPattern {
  std::string_view id;
  bool action = false;      // else a remark
  bool multiplies = false;  // an action that may add its products to what is there
};

// Null: a pattern that no story speaks of.
const StepPattern* step_pattern(std::string_view id);

// One thing that is said.
struct Saying {
  Phrase phrase = Phrase::kNone;
  std::string_view pattern = {};  // of kPattern and kPatternTitle: its id, which a table holds
  size_t count = 0;               // of phrases with a number in them
  friend bool operator==(const Saying&, const Saying&) = default;
};

// What a step or a remark says, as kinds. Nothing in story/ looks at the words that they become.
struct Words {
  Phrase lead = Phrase::kNone;  // before the list: "the test", "which"
  std::vector<Saying> list;
  Phrase tail = Phrase::kNone;  // behind it: "and accumulates", "…"

  Words() = default;
  Words(Phrase phrase, size_t count = 0);  // not explicit: most say one thing
  explicit Words(const StepPattern& pattern) : list{{Phrase::kPattern, pattern.id}} {}

  bool empty() const { return list.empty(); }
  // Whether the first thing that is said is this.
  bool is(Phrase phrase) const { return !list.empty() && list.front().phrase == phrase; }
  bool is_pattern(std::string_view id) const {
    return is(Phrase::kPattern) && list.front().pattern == id;
  }
  bool says(const Saying& saying) const;
  // Adds what is not said yet.
  void add(const Saying& saying);
  friend bool operator==(const Words&, const Words&) = default;
};

// The words themselves, by id.
class WordTable {
 public:
  // Of data/stories/phrases.tsv, step_words.tsv and data/features/code_patterns.tsv.
  static const WordTable& built_in();
  WordTable(std::map<std::string, std::string, std::less<>> phrases,
            std::map<std::string, std::string, std::less<>> patterns,
            std::map<std::string, std::string, std::less<>> titles)
      : phrases_(std::move(phrases)), patterns_(std::move(patterns)), titles_(std::move(titles)) {}

  std::string text(const Words& words) const;

 private:
  std::string text(const Saying& saying) const;

  std::map<std::string, std::string, std::less<>> phrases_, patterns_, titles_;
};

}  // namespace fathom
