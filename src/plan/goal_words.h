#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// A word of a goal or of a log line. "prefill/decode" and "page-size" are two words of one token.
struct GoalWord {
  std::string text;    // in small letters
  uint32_t token = 0;  // position in GoalText::tokens
  bool taken = false;  // something was read from it
};

// At most kMaxGoalBytes of a text, as words.
struct GoalText {
  std::vector<std::string> tokens;  // as written, without the punctuation around them
  std::vector<GoalWord> words;
  bool cut = false;  // it was longer

  // The words as they were written.
  std::string said(size_t at, size_t count) const;
  void take(size_t at, size_t count);
};
inline constexpr size_t kShortestName = 4;  // letters of a word that may be a part of a name
inline constexpr size_t kMaxGoalBytes = 4000, kMaxGoalWords = 300;
GoalText goal_text(std::string_view text);

// Words of a phrase in data/plan: "tokens per second", "optimi*", "does … help".
class GoalPhrase {
 public:
  explicit GoalPhrase(std::string_view text);
  // How many words from `at` on it takes; 0: it does not match there.
  size_t match(const std::vector<GoalWord>& words, size_t at) const;
  size_t weight() const { return weight_; }  // letters: the longer phrase says more

 private:
  struct Part {
    std::string text;
    bool prefix = false;  // any end
    bool gap = false;     // up to three words
  };
  bool part_matches(const Part& part, const std::string& word) const;
  size_t match_from(const std::vector<GoalWord>& words, size_t at, size_t part) const;

  std::vector<Part> parts_;
  size_t weight_ = 0;
};

// Small letters and digits alone: "RadixCache", "radix_cache" and "radix-cache" are one.
std::string squashed(std::string_view text);

// A number that takes the whole text: "20", "1e-3", "0.5".
bool read_number(std::string_view text, double& number);

}  // namespace fathom
