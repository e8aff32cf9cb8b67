#include <algorithm>
#include <array>
#include <map>

#include "scan/cpp/code_structures.h"

namespace fathom::cpp {
namespace {

struct VectorType {
  std::string_view name, bytes;
};

// Types that one instruction of a thread loads or stores; see vector_access in
// data/features/code_pattern_matches.tsv.
constexpr auto kVectors = std::to_array<VectorType>({{"bf16x8", "16 bytes"},
                                                     {"double2", "16 bytes"},
                                                     {"double4", "32 bytes"},
                                                     {"float2", "8 bytes"},
                                                     {"float4", "16 bytes"},
                                                     {"half8", "16 bytes"},
                                                     {"int128_t", "16 bytes"},
                                                     {"int2", "8 bytes"},
                                                     {"int4", "16 bytes"},
                                                     {"longlong2", "16 bytes"},
                                                     {"longlong4", "32 bytes"},
                                                     {"short4", "8 bytes"},
                                                     {"short8", "16 bytes"},
                                                     {"uint128_t", "16 bytes"},
                                                     {"uint2", "8 bytes"},
                                                     {"uint4", "16 bytes"},
                                                     {"ulonglong2", "16 bytes"},
                                                     {"ulonglong4", "32 bytes"},
                                                     {"ushort4", "8 bytes"}});

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view bytes_of(std::string_view type) {
  const auto found = std::lower_bound(
      kVectors.begin(), kVectors.end(), type,
      [](const VectorType& row, std::string_view name) { return row.name < name; });
  return found != kVectors.end() && found->name == type ? found->bytes : std::string_view();
}

std::string_view word_before(std::string_view text, size_t end) {
  while (end > 0 && text[end - 1] == ' ') --end;
  size_t begin = end;
  while (begin > 0 && is_name_character(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

std::string_view word_after(std::string_view text, size_t begin) {
  while (begin < text.size() && text[begin] == ' ') ++begin;
  size_t end = begin;
  while (end < text.size() && is_name_character(text[end])) ++end;
  return text.substr(begin, end - begin);
}

// Parameters that point to vectors, and the bytes of one. Read without a lexer: nearly every
// function of a repository comes by here, and few have one.
std::map<std::string_view, std::string_view> vector_parameters(std::string_view text) {
  std::map<std::string_view, std::string_view> out;
  for (size_t star = text.find('*'); star != text.npos; star = text.find('*', star + 1)) {
    std::string_view type = word_before(text, star);
    if (type == "const") type = word_before(text, static_cast<size_t>(type.data() - text.data()));
    const std::string_view bytes = bytes_of(type);
    if (bytes.empty()) continue;
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
    out.push_back({"vector_pointer", std::string(found->second), i,
                   range.around.is_kernel ? Certainty::kCertain : Certainty::kLikely});
  }
}

}  // namespace fathom::cpp
