#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "scan/index/symbol_index.h"

namespace fathom {

// What the classes of a repository inherit from one another, by the names that they write.
class ClassTree {
 public:
  explicit ClassTree(const SymbolIndex& index);

  // The classes that a name can mean where it stands, itself or through aliases.
  std::vector<Candidate> classes_of(std::string_view written, const NameScope& at) const;

  // The class and what it inherits from, the nearest first.
  std::vector<SymbolId> with_bases(SymbolId type) const;
  std::vector<SymbolId> derived_from(SymbolId type) const;

 private:
  using Ids = std::vector<SymbolId>;

  Ids bases_written(SymbolId type) const;

  const SymbolIndex& index_;
  std::map<SymbolId, Ids> bases_, derived_;
};

}  // namespace fathom
