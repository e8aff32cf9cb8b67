#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/code_patterns.h"
#include "scan/cpp/tokens.h"
#include "scan/cpp/tree/code_tree.h"

namespace fathom::cpp {

// What takes more than a few tokens in a row to see. `structure` is what the pattern column of a
// row of kind "structure" names.
struct StructureHit {
  std::string_view structure;
  std::string text;
  size_t token = 0;
  Certainty certainty = Certainty::kCertain;
  std::string subject = {};            // as of CodeEvidence
  std::optional<uint32_t> bytes = {};  // as of CodeEvidence
};

// Names that are pointers, and whether what they point to is const.
using DeclaredPointers = std::map<std::string, bool, std::less<>>;

struct TokenRange {
  // What a function's body sees beside itself.
  struct Surroundings {
    std::string_view parameters = {};  // the text of its parameter list
    bool is_kernel = false;            // its pointers point to the GPU's memory
    const CodeTree* tree = nullptr;    // of its body; none: the tokens are no body
    // Of the class around it, where there is one; and of its body, where somebody has read them.
    const DeclaredPointers* fields = nullptr;
    const DeclaredPointers* pointers = nullptr;
  };

  const TokenList& source;
  size_t first = 0, last = 0;
  Surroundings around = {};
};

// Arrays that a function declares: those in shared memory, and those in registers or local memory.
struct DeclaredArrays {
  std::map<std::string_view, bool> names;  // whether in shared memory
  bool is_declared(std::string_view name) const { return names.contains(name); }
  bool is_shared(std::string_view name) const;
};

// The nodes of a range, in order of the source.
struct NodeRange {
  explicit NodeRange(const TokenRange& given);
  const CodeNode& operator[](uint32_t id) const { return tree[id]; }

  const TokenRange& range;
  const TokenList& source;
  const CodeTree& tree;
  const std::vector<uint32_t> order;
};

// Shared memory: shared_static, shared_dynamic, shared_padding, shared_swizzle.
DeclaredArrays find_arrays(const NodeRange& nodes, std::vector<StructureHit>& out);
void find_swizzles(const NodeRange& nodes, const DeclaredArrays& arrays,
                   std::vector<StructureHit>& out);
// Addresses that come from memory: gather, scatter.
void find_indirections(const TokenRange& range, const DeclaredArrays& arrays,
                       std::vector<StructureHit>& out);
// Barriers of cooperative groups: block_group_sync, warp_group_sync, grid_group_sync,
// cluster_group_sync.
void find_group_barriers(const NodeRange& nodes, std::vector<StructureHit>& out);
// vector_pointer: what a parameter of a vector type points to is read or written.
void find_vector_pointers(const NodeRange& nodes, std::vector<StructureHit>& out);
// How work is shared out: block_stride, grid_stride, work_counter, warp_specialisation.
void find_work_sharing(const NodeRange& nodes, std::vector<StructureHit>& out);
// nccl: collectives, and which buffers they use. Few functions call one.
bool calls_collective(const TokenRange& range);
void find_collectives(const NodeRange& nodes, std::vector<StructureHit>& out);
// gather, scatter, block_stride and persistent in Triton.
void find_triton_structures(const TokenRange& range, std::vector<StructureHit>& out);

std::vector<StructureHit> find_structures(const TokenRange& range, PatternScope scope);

// Source text of a few tokens, cut where it is long.
std::string short_source(const TokenList& source, size_t first, size_t last);
// Whether a name holds a word, in any case: "kNumThreads" holds "thread".
bool name_holds(std::string_view name, std::string_view lower_case_word);
// Whether a loaded value tells where a run begins or ends, not which element to take.
bool names_segments(std::string_view array);
// The token after the statement or header part that an expression stands in.
size_t expression_end(const TokenRange& range, size_t begin);

}  // namespace fathom::cpp
