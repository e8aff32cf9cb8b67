#pragma once

#include <string_view>

namespace fathom {

// A constant of data/stories/assumptions.tsv. A name that is not there is our bug.
double assumption(std::string_view name);
// Where it comes from: "assumed: …".
std::string_view assumption_source(std::string_view name);

}  // namespace fathom
