#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scan/facts/code_facts.h"

namespace fathom::cpp {

// Where a piece of code runs and in which language it is written.
enum class PatternScope : uint8_t { kDevice, kHost, kTriton, kCute, kPython };
constexpr size_t kPatternScopes = 5;

// Something that code can be seen to do: a row of data/features/code_patterns.tsv.
struct CodePattern {
  std::string_view id, title, hardware;
  uint8_t scopes = 0;  // one bit for each PatternScope
};

enum class MatchKind : uint8_t {
  kName,
  kCall,
  kTemplate,
  kQualified,
  kTokens,
  kConstant,
  kPtx,
  kAttribute,
  kPragma,
  kStructure
};

// One way to recognise it: a row of data/features/code_pattern_matches.tsv.
struct PatternMatcher {
  uint16_t pattern = 0;  // its row in code_patterns.tsv
  uint8_t scopes = 0;
  MatchKind kind = MatchKind::kName;
  std::vector<std::string_view> patterns;  // alternatives; for kTokens the elements in order
  std::string_view detail;
  std::optional<uint32_t> bytes;  // of a detail "16 bytes"
  Certainty certainty = Certainty::kCertain;

  bool in(PatternScope scope) const { return (scopes >> static_cast<int>(scope) & 1) != 0; }
};

// The two tables, and which rows a name can begin.
class PatternTable {
 public:
  // Views of the texts, which must outlive it. A malformed row is our bug.
  PatternTable(std::string_view patterns_tsv, std::string_view matches_tsv);
  static const PatternTable& built_in();

  const std::vector<CodePattern>& patterns() const { return patterns_; }
  const std::vector<PatternMatcher>& matchers() const { return matchers_; }
  const CodePattern* find(std::string_view id) const;

  // The matchers of a scope whose first token can be `name`, in order of the table, added to `out`.
  void matchers_of_name(std::string_view name, PatternScope scope,
                        std::vector<uint16_t>& out) const;
  // Those that nothing but their kind finds: kPtx, kAttribute, kPragma, kStructure.
  const std::vector<uint16_t>& matchers_of_kind(MatchKind kind, PatternScope scope) const;

 private:
  struct Glob {
    std::string_view pattern;
    uint64_t letters;  // that a name must have
    uint16_t matcher;
  };
  struct Globs {
    std::vector<Glob> globs;
  };
  struct NameIndex {
    std::unordered_map<std::string_view, std::vector<uint16_t>> exact;
    std::array<Globs, 128> by_first_character;
    Globs others;  // those that begin with *
    std::array<std::vector<uint16_t>, 10> by_kind;
  };

  void index(uint16_t matcher);
  static void add_name(NameIndex& names, std::string_view pattern, uint16_t matcher);

  std::vector<CodePattern> patterns_;
  std::vector<PatternMatcher> matchers_;
  std::array<NameIndex, kPatternScopes> names_;
};

}  // namespace fathom::cpp
