#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sheets/unified_ops.h"

namespace fathom {

// The one category system of everything but the sheets that agree with another tool's: known ops by
// data/op_families/categories.tsv, other work by the names of its kernels (kernel_families.tsv).
// The sheets' own category of an op that nobody knows is that of its first kernel, whatever the
// others are: it is not used here.
class WorkCategories {
 public:
  explicit WorkCategories(const SheetInput& input);

  // Of an op that is not known, the category of the kernels that take most of its time.
  std::string_view of(const UnifiedOp& op);
  // Of one kernel of an op: the op's where it is known, else the kernel's own.
  std::string_view of(const UnifiedOp& op, EventId kernel);
  std::string_view of_kernel(EventId kernel);

 private:
  // Nothing where the op is not known.
  std::optional<std::string_view> of_known(const UnifiedOp& op) const;

  const SheetInput& input_;
  std::vector<std::optional<std::string_view>> kernels_;  // by name
};

}  // namespace fathom
