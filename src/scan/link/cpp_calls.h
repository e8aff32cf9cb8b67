#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "scan/index/class_tree.h"
#include "scan/index/function_places.h"
#include "scan/index/symbol_index.h"

namespace fathom {

struct CppStep {
  SymbolId to;
  uint32_t line = 0;
  Certainty certainty = Certainty::kCertain;
  size_t specialisations = 1;  // of one template, for which this one stands
  bool constructs = false;     // it is a constructor
};

// Which host functions of C++ a function calls. Names are the index's; this adds the methods that a
// call through an object can mean: by the class that the object is declared with, in the function
// or as a variable of its class, by what that class inherits, and what derived classes override.
class CppCalls {
 public:
  CppCalls(const SymbolIndex& index, const ClassTree& classes);

  // `unit`: the sources that the function is compiled with, whose includes can define what the
  // function's own file only declares; empty: not known.
  std::vector<CppStep> calls_of(const FunctionNode& function,
                                const std::vector<uint32_t>& unit = {}) const;
  enum class Of : uint8_t { kHost, kAnyKind };
  // The functions that a binding's target can mean, in order of file; `from`: the file that binds.
  std::vector<FunctionNode> named(std::string_view written, uint32_t from, Of of = Of::kHost) const;
  // Those whose qualified names end so.
  std::vector<FunctionNode> ending_with(std::string_view written) const;
  FunctionNode node(SymbolId id) const {
    return {true, index_.symbol(id).file, index_.symbol(id).index};
  }

 private:
  using Ids = std::vector<SymbolId>;

  void add_member(const cpp::Reference& call, SymbolId from, std::vector<CppStep>& out) const;
  bool add_constructors(const cpp::Reference& call, SymbolId from, std::vector<CppStep>& out) const;
  void add_beside(const cpp::Reference& call, SymbolId from, const std::vector<uint32_t>& unit,
                  size_t first, std::vector<CppStep>& out) const;
  void keep_by_arguments(const cpp::Reference& call, Ids& candidates) const;
  bool are_specialisations(const Ids& functions) const;

  // None: whose object it is, is not known. Empty: another library's.
  std::optional<std::vector<CppStep>> methods(const cpp::Reference& call, SymbolId from) const;
  // The methods of this very class: another one of its name is defined where its header is seen.
  Ids methods_of(SymbolId type, std::string_view method) const;
  // The type of an object that a function of a class uses, and the file that declares it.
  std::optional<std::pair<std::string, uint32_t>> field_type(std::string_view object,
                                                             SymbolId from) const;

  const SymbolIndex& index_;
  const ClassTree& classes_;
  std::unordered_map<std::string_view, Ids> by_name_;  // host functions with a body
  // By class, name and the file that both stand in.
  std::map<std::tuple<std::string_view, std::string_view, uint32_t>, std::string_view> fields_;
};

}  // namespace fathom
