#pragma once

#include <initializer_list>
#include <set>
#include <span>
#include <string_view>

#include "analyze/assessment.h"

namespace fathom {

// What a trace shows of ops beside their cost, by the names that data/analysis/advice.tsv uses.
class Traits {
 public:
  Traits() = default;
  Traits(std::initializer_list<std::string_view> names) : names_(names) {}

  void add(std::string_view name) { names_.insert(name); }
  bool has(std::string_view name) const { return names_.contains(name); }

 private:
  std::set<std::string_view> names_;
};

// The traits of ops; each op is looked at once, however many findings speak of it.
class OpTraits {
 public:
  explicit OpTraits(const Assessment& assessment);
  // What holds for most of the ops' time.
  Traits of(std::span<const AssessedOp* const> ops);

 private:
  uint32_t rules_of(const AssessedOp& op);

  const Assessment& a_;
  std::vector<bool> in_compiled_region_;        // by call
  std::vector<std::optional<uint32_t>> rules_;  // by op: a bit for each that holds
};
// What holds for the trace as a whole: whether graphs are launched, whether code is compiled.
Traits traits_of(const Assessment& assessment);

// The names of all traits that a trace can show, for the check of the data.
std::span<const std::string_view> trait_names();

}  // namespace fathom
