#pragma once

#include <cstdint>
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
  // `path` is relative to the folder of the .gitignore.
  bool matches(std::string_view path, bool is_folder) const;

 private:
  enum class Step : uint8_t { kCharacter, kAnyCharacter, kSet, kAnyInName, kAnyFolders, kAnything };
  struct Piece {
    Step step = Step::kCharacter;
    unsigned char character = 0;
    uint32_t set = 0;  // in sets_
  };

  void compile(std::string_view pattern);
  size_t compile_set(std::string_view pattern, size_t at);
  bool accepts(const Piece& piece, unsigned char c) const;
  bool names_match(std::string_view text) const;
  bool folders_match(std::string_view text) const;

  bool negated_ = false, folders_only_ = false, anchored_ = false;
  bool never_ = false;  // malformed: fits nothing
  bool has_double_star_ = false;
  std::string literal_;  // all of a pattern that has no wildcard
  bool is_literal_ = false;
  std::vector<Piece> pieces_;
  std::vector<std::vector<bool>> sets_;  // 256 each
};

// A .gitignore or .git/info/exclude. The last pattern that fits decides.
class IgnoreRules {
 public:
  // Beyond this a file is no list of patterns that somebody wrote.
  static constexpr size_t kMaxPatterns = 20000;

  explicit IgnoreRules(std::string_view text);

  // Nothing: no pattern says anything about it.
  std::optional<bool> ignores(std::string_view path, bool is_folder) const;
  bool too_many() const { return too_many_; }

 private:
  std::vector<IgnorePattern> patterns_;
  bool too_many_ = false;
};

}  // namespace fathom
