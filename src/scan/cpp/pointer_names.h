#pragma once

#include <optional>
#include <string_view>

#include "scan/cpp/code_structures.h"
#include "scan/cpp/expressions.h"

namespace fathom::cpp {

// The pointers that a function's body declares, once for all questions about it.
DeclaredPointers declared_pointers(const CodeTree& tree);
// The pointers among the fields of the class whose { and } these are. What is in brackets between
// them is stepped over, so that nested classes are read once each.
DeclaredPointers field_pointers(const Code& code, size_t open, size_t close);

// The names that are pointers where a function's body runs: its parameters, the fields of the class
// around it, and what the body declares itself. What is not given is worked out at the first
// question, since few bodies ask one.
class PointerNames {
 public:
  explicit PointerNames(const TokenRange& range) : range_(range) {}

  // Whether what the pointer points to is const; none: it is no pointer that we know of.
  std::optional<bool> points_to_const(std::string_view name) const;

 private:
  void read() const;

  const TokenRange& range_;
  mutable bool known_ = false;
  mutable DeclaredPointers declared_, parameters_;
};

}  // namespace fathom::cpp
