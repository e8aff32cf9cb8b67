#pragma once

#include <string_view>
#include <vector>

namespace fathom {

// The category of the analysis that data/op_families/categories.tsv gives an op: by its name, by
// its category in the sheets, or by its cost function ("" for none).
std::string_view analysis_category(std::string_view op, std::string_view report_category,
                                   std::string_view cost_function);

}  // namespace fathom
