#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "scan/index/symbol_index.h"
#include "scan/link/readings.h"

namespace fathom {

struct CppRef {
  uint32_t file = 0;
  uint32_t index = 0;  // in the file's functions
  friend auto operator<=>(const CppRef&, const CppRef&) = default;
};

// Which methods of C++ a call through an object can mean: by the class that the object is declared
// with, in the function or as a variable of its class, and by what that class inherits. What
// derived classes override is meant, too.
class CppReceivers {
 public:
  CppReceivers(const Readings& readings, const SymbolIndex& index);

  struct Method {
    CppRef function;
    Certainty certainty = Certainty::kCertain;
  };
  // None: whose object it is, is not known. Empty: another library's.
  std::optional<std::vector<Method>> methods(const cpp::Call& call, const CppRef& from) const;
  // The constructors that `Type name;` and `Type(…)` run; none where it names no class.
  std::vector<Method> constructors(const cpp::Call& call, const CppRef& from) const;

 private:
  const cpp::Function& function(const CppRef& ref) const {
    return readings_.readings[ref.file].cpp.functions[ref.index];
  }
  const cpp::Class& type(SymbolId id) const {
    const Symbol& symbol = index_.symbol(id);
    return readings_.readings[symbol.file].cpp.classes[symbol.index];
  }
  // The class and what it inherits from, the nearest first.
  std::vector<SymbolId> with_bases(SymbolId id) const;
  std::vector<SymbolId> derived_from(SymbolId id) const;
  // The methods of this very class: another one of its name is defined where its header is seen.
  std::vector<CppRef> find(SymbolId id, std::string_view method) const;
  // The type of an object that a function of a class uses, and the file that declares it.
  std::optional<std::pair<std::string, uint32_t>> field_type(std::string_view object,
                                                             const CppRef& from) const;

  const Readings& readings_;
  const SymbolIndex& index_;
  std::unordered_set<std::string_view> class_names_;
  // By class, name and the file that both stand in.
  std::map<std::tuple<std::string_view, std::string_view, uint32_t>, std::string_view> fields_;
  std::map<SymbolId, std::vector<SymbolId>> derived_;
};

}  // namespace fathom
