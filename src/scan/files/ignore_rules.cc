#include "scan/files/ignore_rules.h"

#include <algorithm>
#include <cctype>

#include "base/text_parts.h"

namespace fathom {
namespace {

// Blanks at the end do not count unless the last is escaped.
std::string_view without_blanks_at_end(std::string_view line) {
  size_t end = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
      end = std::min(i + 1, line.size());
    } else if (line[i] != ' ') {
      end = i + 1;
    }
  }
  return line.substr(0, end);
}

bool in_class(std::string_view name, unsigned char c) {
  if (name == "alpha") return std::isalpha(c) != 0;
  if (name == "digit") return std::isdigit(c) != 0;
  if (name == "alnum") return std::isalnum(c) != 0;
  if (name == "upper") return std::isupper(c) != 0;
  if (name == "lower") return std::islower(c) != 0;
  if (name == "space") return std::isspace(c) != 0;
  if (name == "blank") return c == ' ' || c == '\t';
  if (name == "punct") return std::ispunct(c) != 0;
  if (name == "xdigit") return std::isxdigit(c) != 0;
  if (name == "cntrl") return std::iscntrl(c) != 0;
  if (name == "print") return std::isprint(c) != 0;
  if (name == "graph") return std::isgraph(c) != 0;
  return false;
}

}  // namespace

std::optional<IgnorePattern> IgnorePattern::parse(std::string_view line) {
  if (line.starts_with('#')) return {};
  line = without_blanks_at_end(line);
  IgnorePattern pattern;
  if (line.starts_with('!')) {
    pattern.negated_ = true;
    line.remove_prefix(1);
  }
  if (line.ends_with('/')) {
    pattern.folders_only_ = true;
    line.remove_suffix(1);
  }
  // A slash anywhere else ties the pattern to the folder of its file.
  pattern.anchored_ = holds(line, '/');
  if (line.starts_with('/')) line.remove_prefix(1);
  if (line.empty()) return {};
  pattern.is_literal_ = line.find_first_of("*?[\\") == std::string_view::npos;
  if (pattern.is_literal_) {
    pattern.literal_ = line;
  } else {
    pattern.compile(line);
  }
  return pattern;
}

void IgnorePattern::compile(std::string_view pattern) {
  for (size_t i = 0; i < pattern.size() && !never_;) {
    const char c = pattern[i];
    if (c == '*') {
      const size_t first = i;
      while (i < pattern.size() && pattern[i] == '*') ++i;
      // git takes the text before the first wildcard off and matches the rest, so that the ** of
      // "a**/b" opens a pattern of its own.
      const bool opens =
          first == 0 || pattern[first - 1] == '/' || first == pattern.find_first_of("*?[\\");
      const bool is_double =
          i - first > 1 && anchored_ && opens && (i == pattern.size() || pattern[i] == '/');
      has_double_star_ = has_double_star_ || is_double;
      if (is_double && i == pattern.size()) {
        add_star(Step::kAnything);
      } else if (is_double) {
        add_star(Step::kAnyFolders);
        ++i;
      } else {
        add_star(Step::kAnyInName);
      }
    } else if (c == '?') {
      pieces_.push_back({Step::kAnyCharacter, 0, 0});
      ++i;
    } else if (c == '[') {
      i = compile_set(pattern, i);
    } else {
      if (c == '\\') ++i;
      never_ = i == pattern.size();  // a backslash that escapes nothing
      if (!never_) pieces_.push_back({Step::kCharacter, static_cast<unsigned char>(pattern[i]), 0});
      ++i;
    }
  }
}

// "**/**/" takes what "**/" does: no more than three pieces in a row take nothing.
void IgnorePattern::add_star(Step step) {
  if (pieces_.empty() || pieces_.back().step != step) pieces_.push_back({step, 0, 0});
}

// [a-z], [!a-z], [[:digit:]_]; a ] that comes first is a member. Returns where the pattern goes on.
size_t IgnorePattern::compile_set(std::string_view pattern, size_t at) {
  std::vector<bool> members(256, false);
  size_t i = at + 1;
  const bool inverted = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (inverted) ++i;
  unsigned before = 0;   // what a '-' may begin a range with; 0: nothing
  size_t class_end = 0;  // the next ":]", looked for once
  for (bool first = true; i < pattern.size() && (first || pattern[i] != ']'); first = false) {
    if (pattern.substr(i).starts_with("[:")) {
      if (class_end < i + 2) class_end = pattern.find(":]", i + 2);
      if (class_end != std::string_view::npos) {
        const std::string_view name = pattern.substr(i + 2, class_end - i - 2);
        for (unsigned c = 0; c < 256; ++c) {
          if (in_class(name, static_cast<unsigned char>(c))) members[c] = true;
        }
        before = 0;
        i = class_end + 2;
        continue;
      }
    }
    const bool is_range =
        pattern[i] == '-' && before != 0 && i + 1 < pattern.size() && pattern[i + 1] != ']';
    if (is_range) ++i;
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    const auto c = static_cast<unsigned char>(pattern[i++]);
    for (unsigned m = is_range ? before : c; m <= c; ++m) members[m] = true;
    before = is_range ? 0u : c;
  }
  if (i >= pattern.size()) {  // never closed
    never_ = true;
    return i;
  }
  if (inverted) members.flip();
  members['/'] = false;
  pieces_.push_back({Step::kSet, 0, static_cast<uint32_t>(sets_.size())});
  sets_.push_back(std::move(members));
  return i + 1;
}

bool IgnorePattern::accepts(const Piece& piece, unsigned char c) const {
  switch (piece.step) {
    case Step::kCharacter:
      return c == piece.character;
    case Step::kAnyCharacter:
    case Step::kAnyInName:
      return c != '/';
    case Step::kSet:
      return sets_[piece.set][c];
    case Step::kAnyFolders:
    case Step::kAnything:
      return true;
  }
  return false;
}

// Most patterns fail at the first or the last character of a path already.
bool IgnorePattern::ends_fit(std::string_view text) const {
  const auto takes_one = [](const Piece& piece) {
    return piece.step == Step::kCharacter || piece.step == Step::kAnyCharacter ||
           piece.step == Step::kSet;
  };
  if (pieces_.empty() || text.empty()) return true;
  const Piece &first = pieces_.front(), &last = pieces_.back();
  return (!takes_one(first) || accepts(first, static_cast<unsigned char>(text.front()))) &&
         (!takes_one(last) || accepts(last, static_cast<unsigned char>(text.back())));
}

// Without ** a * stays within one name: when the pattern fails, only the last * can still take
// more.
bool IgnorePattern::names_match(std::string_view text, uint64_t& steps) const {
  size_t p = 0, t = 0;
  size_t star = pieces_.size(), resume = 0;
  for (; t < text.size(); ++steps) {
    if (p < pieces_.size() && pieces_[p].step == Step::kAnyInName) {
      star = p++;
      resume = t;
    } else if (p < pieces_.size() && accepts(pieces_[p], static_cast<unsigned char>(text[t]))) {
      ++p;
      ++t;
    } else if (star < pieces_.size() && text[resume] != '/') {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pieces_.size() && pieces_[p].step == Step::kAnyInName) ++p;
  return p == pieces_.size();
}

// Follows all ways at once. `open` holds the pieces that may take the next character, and behind
// the last one whether all are done; `inside` the ** that are within a folder's name.
bool IgnorePattern::folders_match(std::string_view text, uint64_t& steps) const {
  const size_t count = pieces_.size();
  std::vector<char> open(count + 1, 0), inside(count + 1, 0), next(count + 1, 0);
  // Reaching a piece that may take nothing reaches the next one too.
  const auto reach = [&](std::vector<char>& states, size_t piece) {
    for (;; ++piece) {
      states[piece] = 1;
      if (piece == count) return;
      const Step step = pieces_[piece].step;
      if (step != Step::kAnyInName && step != Step::kAnyFolders && step != Step::kAnything) return;
    }
  };
  reach(open, 0);
  bool any = true;
  for (size_t t = 0; t < text.size() && any; ++t) {
    const auto c = static_cast<unsigned char>(text[t]);
    std::ranges::fill(next, 0);
    any = false;
    steps += count;
    for (size_t i = 0; i < count; ++i) {
      const Piece& piece = pieces_[i];
      if (piece.step == Step::kAnyFolders) {
        if (open[i] != 0) inside[i] = 1;
        any |= inside[i] != 0;
        if (inside[i] != 0 && c == '/') reach(next, i + 1);  // whole folders only
        continue;
      }
      if (open[i] == 0 || !accepts(piece, c)) continue;
      const bool stays = piece.step == Step::kAnyInName || piece.step == Step::kAnything;
      reach(next, stays ? i : i + 1);
      any = true;
    }
    open.swap(next);
  }
  return any && open[count] != 0;
}

bool IgnorePattern::matches(std::string_view path, bool is_folder, uint64_t& steps) const {
  ++steps;
  if (folders_only_ && !is_folder) return false;
  const std::string_view text = anchored_ ? path : path.substr(path.rfind('/') + 1);
  if (is_literal_) return text == literal_;
  if (never_ || !ends_fit(text)) return false;
  return has_double_star_ ? folders_match(text, steps) : names_match(text, steps);
}

IgnoreRules::IgnoreRules(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (uint32_t number = 0; !text.empty();) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > kMaxPatternBytes) {
      too_long_ |= !line.starts_with('#');
      continue;
    }
    if (auto pattern = IgnorePattern::parse(line)) {
      too_many_ = number == kMaxPatterns;
      if (too_many_) return;
      add(std::move(*pattern), ++number);
    }
  }
}

void IgnoreRules::add(IgnorePattern pattern, uint32_t number) {
  if (!pattern.is_literal()) {
    wild_.push_back({number, std::move(pattern)});
    return;
  }
  Literals& all = pattern.is_anchored() ? (pattern.is_folders_only() ? folder_paths_ : paths_)
                                        : (pattern.is_folders_only() ? folder_names_ : names_);
  all[pattern.literal()] = {number, pattern.negated()};
}

IgnoreRules::Literal IgnoreRules::last_literal(std::string_view path, bool is_folder) const {
  Literal last;
  const auto look = [&last](const Literals& all, std::string_view text) {
    if (const auto found = all.find(text); found != all.end() && found->second.number > last.number)
      last = found->second;
  };
  const std::string_view name = path.substr(path.rfind('/') + 1);
  look(paths_, path);
  look(names_, name);
  if (is_folder) look(folder_paths_, path);
  if (is_folder) look(folder_names_, name);
  return last;
}

std::optional<bool> IgnoreRules::ignores(std::string_view path, bool is_folder,
                                         MatchBudget& budget) const {
  const Literal literal = last_literal(path, is_folder);
  for (auto at = wild_.rbegin(); at != wild_.rend() && at->number > literal.number; ++at) {
    if (budget.is_spent()) break;
    uint64_t steps = 0;
    const bool fits = at->pattern.matches(path, is_folder, steps);
    budget.spend(steps);
    if (fits) return !at->pattern.negated();
  }
  if (literal.number == 0) return {};
  return !literal.negated;
}

}  // namespace fathom
