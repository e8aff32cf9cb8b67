#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// One pattern of a .gitignore as a list of steps. Matching takes at most pattern times text,
// whatever a repository writes there.
class IgnorePattern {
 public:
  // Nothing for an empty line or a comment.
  static std::optional<IgnorePattern> parse(std::string_view line);

  bool negated() const { return negated_; }
  // `path` is relative to the folder of the .gitignore. Adds to `steps` what it cost.
  bool matches(std::string_view path, bool is_folder, uint64_t& steps) const;

  // A pattern without wildcards fits one text alone: the whole path, or the name.
  bool is_literal() const { return is_literal_; }
  bool is_anchored() const { return anchored_; }
  bool is_folders_only() const { return folders_only_; }
  const std::string& literal() const { return literal_; }

 private:
  enum class Step : uint8_t { kCharacter, kAnyCharacter, kSet, kAnyInName, kAnyFolders, kAnything };
  struct Piece {
    Step step = Step::kCharacter;
    unsigned char character = 0;
    uint32_t set = 0;  // in sets_
  };

  void compile(std::string_view pattern);
  size_t compile_set(std::string_view pattern, size_t at);
  void add_star(Step step);
  bool accepts(const Piece& piece, unsigned char c) const;
  bool ends_fit(std::string_view text) const;
  bool names_match(std::string_view text, uint64_t& steps) const;
  bool folders_match(std::string_view text, uint64_t& steps) const;

  bool negated_ = false, folders_only_ = false, anchored_ = false;
  bool never_ = false;  // malformed: fits nothing
  bool has_double_star_ = false;
  std::string literal_;  // all of a pattern that has no wildcard
  bool is_literal_ = false;
  std::vector<Piece> pieces_;
  std::vector<std::vector<bool>> sets_;  // 256 each
};

// What all patterns of a scan may cost together: a fixed part that no list written by people needs,
// and a part for each path. Beyond it patterns with wildcards are passed over, and the scan says
// so.
class MatchBudget {
 public:
  explicit MatchBudget(uint64_t steps = 500'000'000) : left_(steps) {}
  void add_path() { left_ += kStepsForPath; }
  void spend(uint64_t steps) {
    is_spent_ |= steps > left_;
    left_ -= is_spent_ ? 0 : steps;
  }
  bool is_spent() const { return is_spent_; }

 private:
  static constexpr uint64_t kStepsForPath = 2'000;
  uint64_t left_;
  bool is_spent_ = false;
};

// A .gitignore or .git/info/exclude. The last pattern that fits decides.
class IgnoreRules {
 public:
  // Beyond this a file is no list of patterns that somebody wrote.
  static constexpr size_t kMaxPatterns = 20000;
  // Longer patterns fit no path that can be opened.
  static constexpr size_t kMaxPatternBytes = 4096;

  explicit IgnoreRules(std::string_view text);

  // Nothing: no pattern says anything about it.
  std::optional<bool> ignores(std::string_view path, bool is_folder, MatchBudget& budget) const;
  std::optional<bool> ignores(std::string_view path, bool is_folder) const {
    MatchBudget budget;
    return ignores(path, is_folder, budget);
  }
  bool too_many() const { return too_many_; }
  bool too_long() const { return too_long_; }

 private:
  struct Numbered {
    uint32_t number;
    IgnorePattern pattern;
  };
  struct Literal {
    uint32_t number = 0;  // of the last such pattern, counted from 1; 0: there is none
    bool negated = false;
  };
  using Literals = std::map<std::string, Literal, std::less<>>;

  void add(IgnorePattern pattern, uint32_t number);
  Literal last_literal(std::string_view path, bool is_folder) const;

  std::vector<Numbered> wild_;  // with wildcards, in order
  Literals paths_, names_, folder_paths_, folder_names_;
  bool too_many_ = false, too_long_ = false;
};

}  // namespace fathom
