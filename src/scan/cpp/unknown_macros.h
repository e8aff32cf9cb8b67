#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/tokens.h"

namespace fathom::cpp {

// Tokens of a function's { and }.
struct BodyRange {
  const TokenList& source;
  size_t first, last;
};

// The macro of unknown definition before a function that can only be __global__: launch bounds
// stand beside it, or it is called like a kernel's and the body reads threadIdx. Empty: none is.
// Macros that `is_known` is true of are something else.
std::string unknown_kernel_macro(const Function& function, const BodyRange& body,
                                 const std::function<bool(std::string_view)>& is_known);

}  // namespace fathom::cpp
