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

// What holds for most of the ops' time.
Traits traits_of(const Assessment& assessment, std::span<const AssessedOp* const> ops);
// What holds for the trace as a whole: whether graphs are launched, whether code is compiled.
Traits traits_of(const Assessment& assessment);

// The names of all traits that a trace can show, for the check of the data.
std::span<const std::string_view> trait_names();

}  // namespace fathom
