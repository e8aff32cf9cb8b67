#pragma once

#include <map>
#include <string>
#include <vector>

#include "scan/link/cpp_receivers.h"

namespace fathom {

struct CppStep {
  CppRef to;
  uint32_t line = 0;
  Certainty certainty = Certainty::kCertain;
  size_t specialisations = 1;  // of one template, for which this one stands
  bool constructs = false;     // it is a constructor
};

// Which host functions of C++ a function calls.
class CppCalls {
 public:
  CppCalls(const Readings& readings, const SymbolIndex& index);

  // `unit`: the sources that the function is compiled with, whose includes can define what the
  // function's own file only declares; empty: not known.
  std::vector<CppStep> calls_of(const CppRef& function,
                                const std::vector<uint32_t>& unit = {}) const;
  enum class Of : uint8_t { kHost, kAnyKind };
  // The functions that a binding's target can mean, in order of file; `from`: the file that binds.
  std::vector<CppRef> named(std::string_view written, uint32_t from, Of of = Of::kHost) const;
  // Those whose qualified names end so.
  std::vector<CppRef> ending_with(std::string_view written) const;
  const cpp::Function& function(const CppRef& ref) const {
    return readings_.readings[ref.file].cpp.functions[ref.index];
  }

 private:
  void add_member(const cpp::Call& call, const CppRef& from, std::vector<CppStep>& out) const;
  void add_beside(const cpp::Call& call, const CppRef& from, const std::vector<uint32_t>& unit,
                  size_t first, std::vector<CppStep>& out) const;
  void keep_by_arguments(const cpp::Call& call, std::vector<CppRef>& candidates) const;
  bool are_specialisations(const std::vector<CppRef>& functions) const;
  bool sees(const std::vector<uint32_t>& unit, uint32_t file) const;
  bool all_called(const std::vector<CppRef>& functions, std::string_view name) const;

  const Readings& readings_;
  const SymbolIndex& index_;
  const CppReceivers receivers_;
  std::map<std::string_view, std::vector<CppRef>> by_name_;
};

}  // namespace fathom
