#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "scan/cpp/code_structures.h"
#include "scan/facts/text_lines.h"

namespace fathom::cpp {
namespace {

struct VectorType {
  std::string_view name;
  uint32_t bytes;
};

// Types that one instruction of a thread loads or stores; see vector_access in
// data/features/code_pattern_matches.tsv.
constexpr auto kVectors = std::to_array<VectorType>({{"bf16x8", 16},
                                                     {"double2", 16},
                                                     {"double4", 32},
                                                     {"float2", 8},
                                                     {"float4", 16},
                                                     {"half8", 16},
                                                     {"int128_t", 16},
                                                     {"int2", 8},
                                                     {"int4", 16},
                                                     {"longlong2", 16},
                                                     {"longlong4", 32},
                                                     {"short4", 8},
                                                     {"short8", 16},
                                                     {"uint128_t", 16},
                                                     {"uint2", 8},
                                                     {"uint4", 16},
                                                     {"ulonglong2", 16},
                                                     {"ulonglong4", 32},
                                                     {"ushort4", 8}});

uint32_t vector_bytes(std::string_view type) {
  const auto found = std::lower_bound(
      kVectors.begin(), kVectors.end(), type,
      [](const VectorType& row, std::string_view name) { return row.name < name; });
  return found != kVectors.end() && found->name == type ? found->bytes : 0;
}

std::string_view word_before(std::string_view text, size_t end) {
  while (end > 0 && text[end - 1] == ' ') --end;
  size_t begin = end;
  while (begin > 0 && is_word_character(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

std::string_view word_after(std::string_view text, size_t begin) {
  while (begin < text.size() && text[begin] == ' ') ++begin;
  size_t end = begin;
  while (end < text.size() && is_word_character(text[end])) ++end;
  return text.substr(begin, end - begin);
}

// Parameters that point to vectors, and the bytes of one. Read without a lexer: nearly every
// function of a repository comes by here, and few have one.
std::map<std::string_view, uint32_t> vector_parameters(std::string_view text) {
  std::map<std::string_view, uint32_t> out;
  for (size_t star = text.find('*'); star != text.npos; star = text.find('*', star + 1)) {
    std::string_view type = word_before(text, star);
    if (type == "const") type = word_before(text, static_cast<size_t>(type.data() - text.data()));
    const uint32_t bytes = vector_bytes(type);
    if (bytes == 0) continue;
    std::string_view name = word_after(text, star + 1);
    while (name == "const" || name.starts_with("__restrict")) {
      name = word_after(text, static_cast<size_t>(name.data() + name.size() - text.data()));
    }
    if (!name.empty()) out[name] = bytes;
  }
  return out;
}

}  // namespace

void find_vector_pointers(const TokenRange& range, std::vector<StructureHit>& out) {
  const auto vectors = vector_parameters(range.around.parameters);
  if (vectors.empty()) return;
  const TokenList& source = range.source;
  for (size_t i = range.first + 1; i + 1 < range.last; ++i) {
    if (!source.is_name(i) || source.is(i - 1, ".") || source.is(i - 1, "->")) continue;
    const auto found = vectors.find(source.at(i));
    if (found == vectors.end()) continue;
    // in[i] and *in; a product has a value before its *.
    const bool dereferenced = source.is(i - 1, "*") && i >= range.first + 2 &&
                              !source.is_name(i - 2) && !source.is(i - 2, ")") &&
                              !source.is(i - 2, "]");
    if (!source.is(i + 1, "[") && !dereferenced) continue;
    // What a device function is given may lie in registers.
    out.push_back({"vector_pointer",
                   std::to_string(found->second) + " bytes",
                   i,
                   range.around.is_kernel ? Certainty::kCertain : Certainty::kLikely,
                   {},
                   found->second});
  }
}

}  // namespace fathom::cpp
