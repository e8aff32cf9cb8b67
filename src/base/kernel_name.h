#pragma once

#include <string>
#include <string_view>

namespace fathom {

// An Itanium-mangled name as c++filt shows it; any other text as it is.
std::string demangled(std::string_view name);

// A kernel's name in a form that is the same whichever profiler wrote it. Kineto and Nsight Systems
// show "void at::native::(anonymous namespace)::k<4, (bool)1, at::F{lambda(int)#1}>(int, char*)",
// Nsight Compute "void at::<unnamed>::k<(int)4, true, [lambda(int) (instance 1)]>(int, char *)" or
// the function alone, "k"; AMD's tools append ".kd". Scopes, return type, parameters, const and
// spelling are left out; template arguments stay: "k<4,1,lambda1>".
struct KernelName {
  std::string text;               // with template arguments
  std::string_view base() const;  // "k"
  bool has_arguments() const { return base().size() != text.size(); }
};
KernelName normal_kernel_name(std::string_view name);

}  // namespace fathom
