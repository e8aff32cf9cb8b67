// The same jobs on host memory, one row at a time: what the kernels are checked against. Version,
// stream and dependent_launch are ignored.
#pragma once

#include "rows.h"

namespace fathom::rows {

void index_rows_reference(const FathomRowIndex& job);
void store_rows_reference(const FathomRowStore& job);

}  // namespace fathom::rows
