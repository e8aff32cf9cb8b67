#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "scan/cpp/code_structures.h"

namespace fathom::cpp {

// The names that are pointers where a function's body runs: its parameters, the fields of the class
// around it, and what the body declares itself. Worked out at the first question, since few bodies
// ask one.
class PointerNames {
 public:
  explicit PointerNames(const TokenRange& range) : range_(range) {}

  // Whether what the pointer points to is const; none: it is no pointer that we know of.
  std::optional<bool> points_to_const(std::string_view name) const;

 private:
  void read() const;
  void read_declarations(const TokenList& source, size_t first, size_t last) const;

  const TokenRange& range_;
  mutable bool known_ = false;
  mutable std::map<std::string, bool, std::less<>> names_;
};

}  // namespace fathom::cpp
