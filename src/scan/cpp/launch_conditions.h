#pragma once

#include <string>
#include <vector>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/tokens.h"

namespace fathom::cpp {

// What must hold for each launch to be reached inside its function, the outermost first: conditions
// of if, else and case around it, and of macros that choose a template argument:
// "arch == 90", "not (arch == 90)", "dtype == kHalf", "DISPATCH_HEAD_DIM(head_dim)". At most
// eight; loops are none.
std::vector<std::vector<std::string>> launch_conditions(const TokenList& source,
                                                        const std::vector<Launch>& launches);

}  // namespace fathom::cpp
