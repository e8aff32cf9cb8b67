#include "scan/cpp/code_structures.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "scan/cpp/token_pattern.h"
#include "scan/cpp/tree/body_trees.h"

namespace fathom::cpp {

std::string short_source(const TokenList& source, size_t first, size_t last) {
  constexpr size_t kMostTokens = 24;
  std::string text = source.source(first, std::min(last, first + kMostTokens));
  if (last > first + kMostTokens) text += " ...";
  return text;
}

bool name_holds(std::string_view name, std::string_view lower_case_word) {
  if (name.size() < lower_case_word.size()) return false;
  for (size_t at = 0; at <= name.size() - lower_case_word.size(); ++at) {
    size_t same = 0;
    while (same < lower_case_word.size() && small_letter(name[at + same]) == lower_case_word[same])
      ++same;
    if (same == lower_case_word.size()) return true;
  }
  return false;
}

bool names_segments(std::string_view array) {
  constexpr auto words =
      std::to_array<std::string_view>({"indptr", "cu_seq", "cuseq", "offset", "len", "_end",
                                       "_start", "cumsum", "seqused", "numel", "num_tokens"});
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return name_holds(array, word); });
}

size_t expression_end(const TokenRange& range, size_t begin) {
  constexpr size_t kLongest = 80;
  size_t depth = 0;
  size_t i = begin;
  for (; i < std::min(range.last, begin + kLongest); ++i) {
    if (range.source.tokens[i].kind != TokenKind::kPunctuator) continue;
    const char c = range.source.text[range.source.tokens[i].begin];
    if (c == ';') break;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') {
      if (depth-- == 0) break;
    }
  }
  return i;
}

NodeRange::NodeRange(const TokenRange& given)
    : range(given),
      source(given.source),
      tree(*given.around.tree),
      order(nodes_between(tree, given.first, given.last)) {}

std::vector<StructureHit> find_structures(const TokenRange& range, PatternScope scope) {
  std::vector<StructureHit> out;
  if (scope == PatternScope::kTriton) find_triton_structures(range, out);
  if (range.around.tree == nullptr) return out;
  if (scope == PatternScope::kHost && !calls_collective(range)) return out;
  const NodeRange nodes(range);
  if (scope == PatternScope::kDevice) {
    const DeclaredArrays arrays = find_arrays(nodes, out);
    find_swizzles(nodes, arrays, out);
    find_indirections(range, arrays, out);
    find_work_sharing(nodes, out);
    find_group_barriers(nodes, out);
    find_vector_pointers(nodes, out);
  } else if (scope == PatternScope::kHost) {
    find_collectives(nodes, out);
  }
  return out;
}

}  // namespace fathom::cpp
