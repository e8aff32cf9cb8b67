#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scan/facts/code_facts.h"

namespace fathom {

// What a kind of kernel must move and compute: a row of data/stories/kernel_models.tsv.
struct KernelModel {
  std::string_view id, title;
  std::vector<std::string_view> evidence, without, names;
  std::string_view flops, bytes_read, bytes_written;  // formulas of parameters
  int reads = 1;       // loads that wait for one another before the first result
  bool first = false;  // goes before what the kernel's own accesses say
};

// Why a total has no upper end.
struct OpenEnd {
  enum class Kind : uint8_t {
    kUnresolvedAccess,  // `what` is the access as written
    kUnresolvedExtent,  // `what` is the array
    kTileLoads,         // copies of the hardware whose tiles are not followed
    kByKind,            // the numbers are those of other kernels of this kind
    kAtomics,           // threads may wait for one another
    kUnknownRounds,     // a loop whose number of rounds is not known
    kTooWide,           // the upper bound is so far away that it tells nothing
  };
  Kind kind = Kind::kUnresolvedAccess;
  std::string what = {};
  CodePlace at = {};  // line 0: nowhere in particular
};

// The model that a kernel's numbers come from: its own accesses, or a row of the table.
struct ChosenModel {
  std::string id, title;
  Certainty certainty = Certainty::kLikely;      // never certain: it is a conclusion from patterns
  std::string because;                           // the evidence, name or accesses that chose it
  std::string flops, bytes_read, bytes_written;  // formulas; flops empty: not counted
  int reads = 1;
  bool by_accesses = false;             // the formulas are of the kernel's own names
  std::vector<OpenEnd> open_ends = {};  // empty: the totals have an upper end
};

// None where neither its accesses nor a row fits; `why` then says what is missing.
std::optional<ChosenModel> choose_model(const KernelFacts& kernel, std::string& why);

}  // namespace fathom
