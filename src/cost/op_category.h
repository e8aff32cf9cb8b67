#pragma once

#include <string_view>

namespace fathom {

// The category of an op in everything but the sheets, which keep those of the report they agree
// with: by data/op_families/categories.tsv, from its name, its category in the sheets and its cost
// function. `copied`: the copy engines did all of its work, and no kernel.
std::string_view op_category(std::string_view op, std::string_view report_category, bool copied);

}  // namespace fathom
