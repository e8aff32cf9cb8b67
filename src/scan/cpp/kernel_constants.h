#pragma once

#include <map>
#include <string>
#include <vector>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/expressions.h"

namespace fathom::cpp {

// static constexpr auto store = store_kernel<N>; in a class or a namespace: the kernels that such a
// constant may be, by its name.
using KernelConstants = std::map<std::string, std::vector<std::string>, std::less<>>;

KernelConstants find_kernel_constants(const Code& code, const KnownNames& known);

}  // namespace fathom::cpp
