#include "scan/cpp/device_patterns.h"

#include <algorithm>
#include <tuple>

#include "base/glob.h"
#include "base/text_parts.h"
#include "scan/cpp/asm_text.h"
#include "scan/cpp/python_tokens.h"
#include "scan/cpp/token_pattern.h"
#include "scan/cpp/tree/body_trees.h"

namespace fathom::cpp {
namespace {

// The statements that an `if constexpr` decides about.
struct ConditionalRange {
  size_t first = 0, last = 0;
  std::string condition;
};

std::string_view operand_text(std::string_view operands) {
  return operands.substr(0, operands.find(','));
}

class PatternFinder {
 public:
  PatternFinder(const TokenRange& range, PatternScope scope)
      : table_(PatternTable::built_in()),
        source_(range.source),
        first_(range.first),
        last_(std::min(range.last, range.source.size())),
        around_(range.around),
        scope_(scope),
        cpp_(scope == PatternScope::kDevice || scope == PatternScope::kHost) {}

  std::vector<PatternHit> run() {
    if (around_.tree != nullptr) find_conditions();
    for (size_t i = first_; i < last_;) i = step(i);
    for (const StructureHit& hit : find_structures({source_, first_, last_, around_}, scope_)) {
      add_structure(hit);
    }
    return finish();
  }

 private:
  size_t step(size_t i) {
    switch (source_.tokens[i].kind) {
      case TokenKind::kDirective:
        pragma(i);
        break;
      case TokenKind::kIdentifier:
        if (cpp_ && opens_asm(source_, i)) return assembler(i);
        names(i, source_.at(i));
        break;
      case TokenKind::kPunctuator:
        if (source_.is(i, "(") || source_.is(i, ".")) names(i, source_.at(i));
        break;
      case TokenKind::kString:
      case TokenKind::kCharacter:
        if (!cpp_) quoted_name(i);
        break;
      default:
        break;
    }
    return i + 1;
  }

  void names(size_t i, std::string_view name) {
    candidates_.clear();
    table_.matchers_of_name(name, scope_, candidates_);
    for (uint16_t row : candidates_) {
      const PatternMatcher& matcher = table_.matchers()[row];
      const bool is_token = source_.is_name(i) || matcher.kind == MatchKind::kTokens;
      // {'BLOCK_M': 64}: a string is a name only where it is a key.
      if (!is_token && matcher.kind != MatchKind::kConstant) continue;
      const auto match = match_at(source_, i, last_, matcher, scope_);
      if (!match) continue;
      Certainty certainty = matcher.certainty;
      if (!match->literal) certainty = std::max(certainty, Certainty::kLikely);
      add(row, fill_detail(matcher.detail, source_, *match), i, source_.tokens[i].line, certainty);
    }
  }

  void quoted_name(size_t i) {
    const std::string_view token = source_.at(i);
    if (token.size() > 2 && source_.is(i + 1, ":")) names(i, token.substr(1, token.size() - 2));
  }

  void pragma(size_t i) {
    std::string_view text = source_.at(i);
    if (!text.starts_with('#')) return;
    text.remove_prefix(std::min(text.find_first_not_of(" \t", 1), text.size()));
    if (!text.starts_with("pragma")) return;
    text.remove_prefix(std::min(text.find_first_not_of(" \t", 6), text.size()));
    for (uint16_t row : table_.matchers_of_kind(MatchKind::kPragma, scope_)) {
      const PatternMatcher& matcher = table_.matchers()[row];
      if (!text.starts_with(matcher.patterns[0])) continue;
      std::string_view rest = text.substr(matcher.patterns[0].size());
      rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
      add(row, std::string(matcher.detail == "{rest}" ? rest : matcher.detail), i,
          source_.tokens[i].line, matcher.certainty);
    }
  }

  size_t assembler(size_t i) {
    const AsmStatement statement = read_asm(source_, i);
    for (const AsmInstruction& instruction : statement.instructions) {
      for (uint16_t row : table_.matchers_of_kind(MatchKind::kPtx, scope_)) {
        const PatternMatcher& matcher = table_.matchers()[row];
        const bool matches = std::any_of(
            matcher.patterns.begin(), matcher.patterns.end(),
            [&](std::string_view glob) { return glob_matches(glob, instruction.mnemonic); });
        if (!matches) continue;
        add(row, asm_detail(matcher.detail, instruction, statement.values), i, instruction.line,
            matcher.certainty);
        if (matcher.detail == "{bytes}") {
          const uint32_t bytes = bytes_moved(instruction, statement.values);
          if (bytes > 0) hits_.back().bytes = bytes;
        }
      }
    }
    return std::max(statement.end, i + 1);
  }

  static std::string asm_detail(std::string_view detail, const AsmInstruction& instruction,
                                const std::vector<std::string>& values) {
    const std::string shape = matrix_shape(instruction.mnemonic);
    std::string out(detail);
    const auto put = [&](std::string_view key, std::string_view value) {
      const size_t at = out.find(key);
      if (at != std::string::npos) out.replace(at, key.size(), value);
    };
    const uint32_t bytes = detail == "{bytes}" ? bytes_moved(instruction, values) : 0;
    put("{bytes}", bytes == 0 ? "" : std::to_string(bytes) + " bytes");
    put("{shape|mnemonic}", shape.empty() ? instruction.mnemonic : shape);
    put("{shape}", shape);
    put("{mnemonic}", instruction.mnemonic);
    put("{operands}", instruction.operands);
    std::string_view operand = operand_text(instruction.operands);
    if (operand.starts_with('%') && operand.size() == 2 && operand[1] >= '0' &&
        static_cast<size_t>(operand[1] - '0') < values.size()) {
      operand = values[operand[1] - '0'];
    }
    put("{operand1}", operand);
    return out;
  }

  void add_structure(const StructureHit& hit) {
    for (uint16_t row : table_.matchers_of_kind(MatchKind::kStructure, scope_)) {
      if (table_.matchers()[row].patterns[0] != hit.structure) continue;
      add(row, hit.text, hit.token, source_.tokens[hit.token].line,
          std::max(hit.certainty, table_.matchers()[row].certainty));
      hits_.back().subject = hit.subject;
      hits_.back().bytes = hit.bytes;
    }
  }

  void add(uint16_t row, std::string detail, size_t token, uint32_t line, Certainty certainty) {
    PatternHit hit;
    hit.id = table_.patterns()[table_.matchers()[row].pattern].id;
    hit.detail = std::move(detail);
    hit.condition = condition_at(token);
    hit.line = line;
    hit.certainty = certainty;
    hit.matcher = row;
    hit.bytes = table_.matchers()[row].bytes;
    hits_.push_back(std::move(hit));
  }

  void find_conditions() {
    const CodeTree& tree = *around_.tree;
    for (const uint32_t id : nodes_around(tree, first_, last_)) {
      const CodeNode& node = tree[id];
      if (node.kind != CodeKind::kIf || node.text != "constexpr" || node.children.size() < 2)
        continue;
      const CodeNode& then = tree[node.children[1]];
      const std::string condition =
          source_.source(node.first + 3, tree.code().past(node.first + 2) - 1);
      conditions_.push_back({then.first, then.last, condition});
      if (node.children.size() < 3 || tree[node.children[2]].kind == CodeKind::kIf) continue;
      const CodeNode& other = tree[node.children[2]];
      conditions_.push_back({other.first, other.last, "!(" + condition + ")"});
    }
    std::sort(conditions_.begin(), conditions_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  std::string condition_at(size_t token) const {
    const ConditionalRange* inner = nullptr;
    for (const ConditionalRange& range : conditions_) {
      if (range.first > token) break;
      if (token < range.last) inner = &range;
    }
    return inner == nullptr ? std::string() : inner->condition;
  }

  std::vector<PatternHit> finish() {
    const auto place = [](const PatternHit& hit) {
      return std::tie(hit.line, hit.id, hit.detail, hit.condition, hit.certainty, hit.matcher);
    };
    std::sort(hits_.begin(), hits_.end(),
              [&](const auto& a, const auto& b) { return place(a) < place(b); });
    const auto same = [](const PatternHit& a, const PatternHit& b) {
      return std::tie(a.line, a.id, a.detail, a.condition) ==
             std::tie(b.line, b.id, b.detail, b.condition);
    };
    hits_.erase(std::unique(hits_.begin(), hits_.end(), same), hits_.end());
    return std::move(hits_);
  }

  const PatternTable& table_;
  const TokenList& source_;
  const size_t first_, last_;
  const TokenRange::Surroundings around_;
  const PatternScope scope_;
  const bool cpp_;
  std::vector<uint16_t> candidates_;
  std::vector<ConditionalRange> conditions_;
  std::vector<PatternHit> hits_;
};

}  // namespace

std::vector<PatternHit> find_patterns(const TokenList& source, size_t first, size_t last,
                                      PatternScope scope, const TokenRange::Surroundings& around) {
  return PatternFinder({source, first, last, around}, scope).run();
}

std::vector<PatternHit> find_attribute_patterns(std::span<const std::string> attributes,
                                                uint32_t line, PatternScope scope) {
  const PatternTable& table = PatternTable::built_in();
  std::vector<PatternHit> hits;
  for (const std::string& attribute : attributes) {
    const TokenList source = lex(attribute);
    for (uint16_t row : table.matchers_of_kind(MatchKind::kAttribute, scope)) {
      const PatternMatcher& matcher = table.matchers()[row];
      for (size_t i = 0; i < source.size(); ++i) {
        const std::string_view name = source.at(i);
        if (!source.is_name(i) || !contains(matcher.patterns, name)) {
          continue;
        }
        hits.push_back({table.patterns()[matcher.pattern].id,
                        fill_detail(matcher.detail, source, {i, i + 1, {}, {}, true}),
                        {},
                        line,
                        matcher.certainty,
                        row});
      }
    }
  }
  return hits;
}

std::vector<PatternHit> find_python_patterns(std::string_view text, uint32_t line,
                                             PatternScope scope) {
  const std::string masked = mask_python(text);
  const TokenList source = lex(masked);
  std::vector<PatternHit> hits = find_patterns(source, 0, source.size(), scope);
  for (PatternHit& hit : hits) hit.line += line - 1;
  return hits;
}

std::vector<PatternHit> first_of_each(std::vector<PatternHit> hits) {
  const auto order = [](const PatternHit& hit) {
    return std::tie(hit.id, hit.detail, hit.condition, hit.certainty, hit.line);
  };
  std::sort(hits.begin(), hits.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  const auto same = [](const PatternHit& a, const PatternHit& b) {
    return std::tie(a.id, a.detail, a.condition) == std::tie(b.id, b.detail, b.condition);
  };
  hits.erase(std::unique(hits.begin(), hits.end(), same), hits.end());
  std::sort(hits.begin(), hits.end(), [](const PatternHit& a, const PatternHit& b) {
    return std::tie(a.line, a.id, a.detail, a.condition) <
           std::tie(b.line, b.id, b.detail, b.condition);
  });
  return hits;
}

}  // namespace fathom::cpp
