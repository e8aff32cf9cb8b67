#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/string_pool.h"
#include "scan/cpp/code_unit.h"
#include "scan/cpp/device_patterns.h"
#include "scan/facts/code_facts.h"
#include "scan/index/include_graph.h"

namespace fathom::cpp {

class NameResolver;

struct ReachedUnit {
  uint32_t unit = 0;
  uint32_t from = 0;  // the unit that uses it; itself for the first
  uint32_t line = 0;  // where that does
  uint32_t depth = 0;
  Certainty certainty = Certainty::kCertain;
};

// Where following ended although there is more.
struct ReachStop {
  uint32_t unit = 0;
  uint32_t line = 0;
  std::string what;  // "mainloop.load"
  std::string why;   // "Mainloop is a template parameter"
};

// One function that a unit calls, and where.
struct CalledUnit {
  uint32_t from = 0, unit = 0, line = 0;
  Certainty certainty = Certainty::kCertain;
};

struct Reach {
  std::vector<ReachedUnit> units;  // the first is where it began; the surest and nearest first
  std::vector<ReachStop> stops;
  // Who calls whom, as far as a story follows: those that are at most a few calls away.
  std::vector<CalledUnit> calls;
};

// All units of a repository, and which a name in one of them means. Filled once, then only read;
// files are numbered by the caller, densely.
class CallGraph {
 public:
  explicit CallGraph(const IncludeGraph& includes) : includes_(includes) {}

  uint32_t add(const CodeUnit& unit);
  // After the last add: what no unit is named like is forgotten.
  void seal();

  size_t size() const { return units_.size(); }
  UnitKind kind(uint32_t unit) const { return units_[unit].kind; }
  uint32_t file(uint32_t unit) const { return units_[unit].file; }
  uint32_t index(uint32_t unit) const { return units_[unit].index; }
  std::string_view name(uint32_t unit) const { return names_.text(units_[unit].name); }
  std::string_view scope(uint32_t unit) const { return names_.text(units_[unit].scope); }

  // What a kernel's or function's code consists of. Deterministic; cycles are harmless; bounded in
  // depth and number.
  Reach reach(uint32_t unit) const;
  // The functions that a function itself calls, in order of line.
  std::vector<CalledUnit> calls(uint32_t unit) const;

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
    uint32_t unit = 0;
    Use use;
  };
  struct Unit {
    StringId name, scope;
    uint32_t file = 0, index = 0, line = 0;
    uint32_t uses_first = 0, uses_last = 0;
    uint32_t parameters_first = 0, parameters_last = 0;
    uint32_t owner = kNoUnit;  // the class that it is part of
    UnitKind kind = UnitKind::kDevice;
    bool first_use_kept = false;  // of an alias: what it stands for is the repository's
  };
  static constexpr uint32_t kNoUnit = UINT32_MAX;
  struct Found {
    uint32_t unit = 0;
    Certainty certainty = Certainty::kCertain;
  };
  struct Meaning {
    std::vector<Found> units;
    std::string stop;  // why it could not be followed; empty: it is none of the repository's
  };
  friend class NameResolver;

  std::string qualified(uint32_t unit) const;
  bool is_called(const Found& found) const;
  bool is_parameter(uint32_t unit, std::string_view name) const;
  void find_owners();
  // The functions among a use's template arguments, as uses of their own.
  void keep_passed_functions(uint32_t unit, const Use& use, std::vector<Use>& kept);
  // Whether a use can mean something here, or says where following ends.
  bool matters(uint32_t unit, const Use& use) const;
  const std::vector<uint32_t>& named(std::string_view name) const;
  // What the use of this number in a unit means.
  const Meaning& meaning(const NameResolver& resolver, uint32_t unit, uint32_t use) const;

  size_t work_of_one_ = 0;   // what following the calls of one function may look at
  size_t units_of_one_ = 0;  // and how many it may reach
  // What names mean, as far as it was asked: of a use, and of a plain name called in a file and a
  // scope, by the host or not.
  using PlainName = std::tuple<std::string_view, uint32_t, std::string_view, bool>;
  mutable std::unordered_map<uint32_t, Meaning> meanings_;
  mutable std::map<PlainName, Meaning> plain_meanings_;
  const IncludeGraph& includes_;
  StringPool names_;
  std::vector<Unit> units_;
  std::vector<Use> uses_;
  std::vector<StringId> parameters_, arguments_;
  std::unordered_map<std::string_view, std::vector<Instance>> instances_;  // by last name
  std::unordered_map<std::string_view, std::vector<uint32_t>> by_name_;
};

// What a kernel's code does, from all that it reaches: the first line of each thing and detail,
// the kernel's own before those of what it calls; of several the surest, then one without a
// condition. `hits` are by unit of the graph, file numbers those of the graph.
std::vector<CodeEvidence> collect_evidence(const CallGraph& graph, const Reach& reach,
                                           const std::vector<std::vector<PatternHit>>& hits);

}  // namespace fathom::cpp
