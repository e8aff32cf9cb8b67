#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "base/text_parts.h"
#include "scan/cpp/code_structures.h"

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

// Parameters that point to vectors, and the bytes of one.
std::map<std::string, uint32_t, std::less<>> vector_parameters(std::string_view parameters) {
  std::map<std::string, uint32_t, std::less<>> out;
  if (!holds(parameters, '*')) return out;
  for (CodeParameter& one : code_parameters(parameters)) {
    const std::string_view type = one.type;
    const uint32_t bytes = vector_bytes(type.substr(type.find_last_of(": ") + 1));
    if (one.pointers > 0 && bytes > 0) out.emplace(std::move(one.name), bytes);
  }
  return out;
}

}  // namespace

void find_vector_pointers(const NodeRange& nodes, std::vector<StructureHit>& out) {
  const auto vectors = vector_parameters(nodes.range.around.parameters);
  if (vectors.empty()) return;
  for (const uint32_t id : nodes.order) {
    const CodeNode& node = nodes[id];
    const bool reads =
        node.kind == CodeKind::kSubscript || (node.kind == CodeKind::kUnary && node.text == "*");
    if (!reads || node.children.empty()) continue;
    const CodeNode& base = nodes[node.children[0]];
    const auto found = vectors.find(base.text);
    if (base.kind != CodeKind::kName || found == vectors.end()) continue;
    // What a device function is given may lie in registers.
    out.push_back({"vector_pointer",
                   std::to_string(found->second) + " bytes",
                   base.first,
                   nodes.range.around.is_kernel ? Certainty::kCertain : Certainty::kLikely,
                   {},
                   found->second});
  }
}

}  // namespace fathom::cpp
