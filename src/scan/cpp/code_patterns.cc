#include "scan/cpp/code_patterns.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/glob.h"
#include "base/text_parts.h"
#include "base/tsv.h"

extern const std::string_view code_patterns_tsv;
extern const std::string_view code_pattern_matches_tsv;

namespace fathom::cpp {
namespace {

template <size_t N>
uint8_t position_of(std::string_view word, const std::array<std::string_view, N>& words) {
  const auto found = std::find(words.begin(), words.end(), word);
  CHECK(found != words.end());
  return static_cast<uint8_t>(found - words.begin());
}

uint8_t scopes_of(std::string_view text) {
  constexpr std::array<std::string_view, kPatternScopes> names = {"device", "host", "triton",
                                                                  "cute", "python"};
  uint8_t scopes = 0;
  for (std::string_view word : split(text, ','))
    scopes = static_cast<uint8_t>(scopes | 1 << position_of(word, names));
  return scopes;
}

constexpr std::array<std::string_view, 10> kKinds = {"name",   "call",     "template", "qualified",
                                                     "tokens", "constant", "ptx",      "attribute",
                                                     "pragma", "structure"};
constexpr std::array<std::string_view, 3> kCertainties = {"certain", "likely", "unsure"};

// What a qualified name is looked up by: its last part, "std::mismatch" → "mismatch"; where that is
// any, the part before it, "wmma::*" → "wmma".
std::string_view anchor_of(std::string_view qualified) {
  size_t at = qualified.find_last_of(":.");
  if (at == std::string_view::npos) return qualified;
  if (qualified.substr(at + 1) != "*") return qualified.substr(at + 1);
  qualified = qualified.substr(0, qualified.find_last_not_of(":.", at) + 1);
  at = qualified.find_last_of(":.");
  return at == std::string_view::npos ? qualified : qualified.substr(at + 1);
}

// One bit for each character that a text has; those that share a bit are told apart later.
uint64_t letters_of(std::string_view text) {
  uint64_t letters = 0;
  for (const char c : text) {
    if (c != '*' && c != '?') letters |= uint64_t{1} << (static_cast<unsigned char>(c) & 63);
  }
  return letters;
}

// "16 bytes" → 16; none: another kind of detail.
std::optional<uint32_t> bytes_in(std::string_view detail) {
  uint32_t bytes = 0;
  const auto [end, error] = std::from_chars(detail.data(), detail.data() + detail.size(), bytes);
  const bool all =
      error == std::errc() && detail.substr(static_cast<size_t>(end - detail.data())) == " bytes";
  return all ? std::optional(bytes) : std::nullopt;
}

}  // namespace

PatternTable::PatternTable(std::string_view patterns_tsv, std::string_view matches_tsv) {
  for (const auto& row : read_tsv(patterns_tsv, 4)) {
    CHECK(find(row[0]) == nullptr);
    patterns_.push_back({row[0], row[2], row[3], scopes_of(row[1])});
  }
  for (const auto& row : read_tsv(matches_tsv, 6)) {
    const CodePattern* pattern = find(row[0]);
    CHECK(pattern != nullptr);
    PatternMatcher matcher;
    matcher.pattern = static_cast<uint16_t>(pattern - patterns_.data());
    matcher.scopes = scopes_of(row[1]);
    CHECK((matcher.scopes & ~pattern->scopes) == 0);
    matcher.kind = static_cast<MatchKind>(position_of(row[2], kKinds));
    const bool one = matcher.kind == MatchKind::kPragma || matcher.kind == MatchKind::kStructure;
    matcher.patterns = one ? std::vector{row[3]} : split(row[3], ' ');
    CHECK(!matcher.patterns.empty());
    matcher.detail = row[4];
    matcher.bytes = bytes_in(row[4]);
    matcher.certainty = static_cast<Certainty>(position_of(row[5], kCertainties));
    matchers_.push_back(std::move(matcher));
  }
  for (size_t i = 0; i < matchers_.size(); ++i) index(static_cast<uint16_t>(i));
}

const PatternTable& PatternTable::built_in() {
  static const PatternTable table(code_patterns_tsv, code_pattern_matches_tsv);
  return table;
}

const CodePattern* PatternTable::find(std::string_view id) const {
  const auto found = std::find_if(patterns_.begin(), patterns_.end(),
                                  [&](const CodePattern& row) { return row.id == id; });
  return found == patterns_.end() ? nullptr : &*found;
}

void PatternTable::index(uint16_t matcher) {
  const PatternMatcher& row = matchers_[matcher];
  for (size_t scope = 0; scope < kPatternScopes; ++scope) {
    if (!row.in(static_cast<PatternScope>(scope))) continue;
    NameIndex& names = names_[scope];
    switch (row.kind) {
      case MatchKind::kPtx:
      case MatchKind::kAttribute:
      case MatchKind::kPragma:
      case MatchKind::kStructure:
        names.by_kind[static_cast<size_t>(row.kind)].push_back(matcher);
        break;
      case MatchKind::kTokens:
        for (std::string_view first : split(row.patterns[0], '|')) add_name(names, first, matcher);
        break;
      default:
        for (std::string_view name : row.patterns) add_name(names, anchor_of(name), matcher);
    }
  }
}

void PatternTable::add_name(NameIndex& names, std::string_view pattern, uint16_t matcher) {
  if (pattern.size() == 1 || !holds(pattern, '*')) {
    auto& exact = names.exact[pattern];
    if (exact.empty() || exact.back() != matcher) exact.push_back(matcher);
  } else if (pattern[0] == '*') {
    names.others.globs.push_back({pattern, letters_of(pattern), matcher});
  } else {
    CHECK(static_cast<unsigned char>(pattern[0]) < 128);
    names.by_first_character[pattern[0]].globs.push_back({pattern, letters_of(pattern), matcher});
  }
}

void PatternTable::matchers_of_name(std::string_view name, PatternScope scope,
                                    std::vector<uint16_t>& out) const {
  const NameIndex& names = names_[static_cast<size_t>(scope)];
  const size_t before = out.size();
  if (const auto found = names.exact.find(name); found != names.exact.end()) {
    out.insert(out.end(), found->second.begin(), found->second.end());
  }
  const uint64_t letters = letters_of(name);
  const auto add_globs = [&](const Globs& list) {
    for (const Glob& glob : list.globs) {
      if ((glob.letters & ~letters) != 0) continue;
      if (glob_matches(glob.pattern, name)) out.push_back(glob.matcher);
    }
  };
  if (static_cast<unsigned char>(name[0]) < 128) add_globs(names.by_first_character[name[0]]);
  add_globs(names.others);
  if (out.size() - before < 2) return;
  std::sort(out.begin() + before, out.end());
  out.erase(std::unique(out.begin() + before, out.end()), out.end());
}

const std::vector<uint16_t>& PatternTable::matchers_of_kind(MatchKind kind,
                                                            PatternScope scope) const {
  return names_[static_cast<size_t>(scope)].by_kind[static_cast<size_t>(kind)];
}

}  // namespace fathom::cpp
