#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/string_pool.h"
#include "scan/cpp/code_unit.h"
#include "scan/cpp/device_patterns.h"
#include "scan/facts/code_facts.h"
#include "scan/index/class_tree.h"
#include "scan/index/symbol_index.h"

namespace fathom::cpp {

class NameResolver;

struct ReachedUnit {
  SymbolId unit;
  SymbolId from;      // the unit that uses it; itself for the first
  uint32_t line = 0;  // where that does
  uint32_t depth = 0;
  Certainty certainty = Certainty::kCertain;
};

// One function that a unit calls, and where.
struct CalledUnit {
  SymbolId from, unit;
  uint32_t line = 0;
  Certainty certainty = Certainty::kCertain;
};

struct Reach {
  std::vector<ReachedUnit> units;  // the first is where it began; the surest and nearest first
  // Who calls whom, as far as a story follows: those that are at most a few calls away.
  std::vector<CalledUnit> calls;
};

// What the functions, aliases and classes of a repository use, and which of them that means. Filled
// once, then only read.
class CallGraph {
 public:
  CallGraph(const SymbolIndex& index, const ClassTree& classes);

  // The symbol that it is of. What a function's own code uses is the file's usage.
  SymbolId add(uint32_t file, const CodeUnit& unit);
  // After the last add: what no symbol is named like is forgotten.
  void seal();
  const SymbolIndex& index() const { return index_; }

  // What a kernel's or function's code consists of. Deterministic; cycles are harmless; bounded in
  // depth and number.
  Reach reach(SymbolId unit) const;
  // The functions that a function itself calls, in order of line.
  std::vector<CalledUnit> calls(SymbolId unit) const;

 private:
  struct Use {
    StringId name;  // "warp::copy"
    StringId last;  // "copy"
    StringId type;  // of the object; the empty text: not known
    uint32_t line = 0;
    uint32_t arguments_first = 0;
    uint16_t arguments = 0;
    ReferenceKind kind = ReferenceKind::kCall;
  };
  struct Instance {  // a template with arguments, in a unit
    SymbolId unit;
    Use use;
  };
  struct Unit {
    uint32_t line = 0;
    uint32_t uses_first = 0, uses_last = 0;
    uint32_t parameters_first = 0, parameters_last = 0;
    bool first_use_kept = false;  // of an alias: what it stands for is the repository's
  };
  struct Found {
    SymbolId unit;
    Certainty certainty = Certainty::kCertain;
  };
  using Meaning = std::vector<Found>;
  friend class NameResolver;

  std::string_view class_of(std::string_view type) const;
  // The scopes around a unit's names.
  std::string_view inside(SymbolId unit) const;
  bool is_called(const Found& found) const;
  // Whose template parameter a name in a unit is, and which one; none: it is no parameter.
  std::pair<std::optional<SymbolId>, size_t> parameter_of(SymbolId unit,
                                                          std::string_view name) const;
  bool is_parameter(SymbolId unit, std::string_view name) const {
    return parameter_of(unit, name).first.has_value();
  }
  // The functions among a use's template arguments, as uses of their own.
  void keep_passed_functions(SymbolId unit, const Use& use, std::vector<Use>& kept);
  // Whether a use can mean something here, or is a parameter that leads on.
  bool matters(SymbolId unit, const Use& use) const;
  // The uses of a template with arguments, of those files that see it.
  const std::vector<const Instance*>& instances_of(SymbolId owner) const;
  // The aliases of a name in other files that see this one.
  const std::vector<SymbolId>& aliases_over(uint32_t file, std::string_view name) const;
  // What the use of this number in a unit means.
  const Meaning& meaning(const NameResolver& resolver, SymbolId unit, uint32_t use) const;

  const SymbolIndex& index_;
  const ClassTree& classes_;
  size_t work_of_one_ = 0;   // what following the calls of one function may look at
  size_t units_of_one_ = 0;  // and how many it may reach
  size_t added_ = 0;
  // What was asked for: the meanings of uses, and which files see which, for each use of a template
  // parameter asks for the same.
  mutable std::unordered_map<uint32_t, Meaning> meanings_;
  mutable std::unordered_map<uint32_t, std::vector<const Instance*>> instances_seen_;
  mutable std::map<std::pair<uint32_t, std::string_view>, std::vector<SymbolId>> aliases_seen_;
  StringPool names_;
  std::vector<Unit> units_;                       // by symbol
  std::map<SymbolId, std::string> local_scopes_;  // of functions with aliases of their own
  std::vector<Use> uses_;
  std::vector<StringId> parameters_, arguments_;
  std::unordered_map<std::string_view, std::vector<Instance>> instances_;  // by last name
};

// What a kernel's code does, from all that it reaches: the first line of each thing and detail,
// the kernel's own before those of what it calls; of several the surest, then one without a
// condition. `hits` are by symbol; null: none.
std::vector<CodeEvidence> collect_evidence(const SymbolIndex& index, const Reach& reach,
                                           const std::vector<const std::vector<PatternHit>*>& hits);

}  // namespace fathom::cpp
