#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scan/index/python_names.h"
#include "scan/link/readings.h"

namespace fathom {

// Python functions that are registered as torch.ops.library.name: by @torch.library.custom_op and
// its kin, or by a call that is given the name and the function.
class PythonOps {
 public:
  PythonOps(const Readings& readings, const PythonNames& names);

  struct Op {
    std::string library, name;  // library empty: an object says it, which is not followed
    PythonRef function;
  };
  // Those that torch.ops.library.name can mean.
  std::vector<Op> named(std::string_view library, std::string_view name) const;
  // The ops that a function is registered as.
  const std::vector<Op>& of(const PythonRef& function) const;

 private:
  void read_decorators(uint32_t file, uint32_t function);
  void read_call(const python::Call& call, uint32_t file);
  void add(std::string_view text, const PythonRef& function);

  const Readings& readings_;
  const PythonNames& names_;
  std::map<std::string, std::vector<Op>, std::less<>> by_name_;
  std::map<PythonRef, std::vector<Op>> by_function_;
};

// Whether "torch.ops.mine.norm" means the "mine::norm" of a TORCH_LIBRARY; a library that is named
// by a macro, as TORCH_EXTENSION_NAME, may be any.
bool is_library_call(std::string_view callee, std::string_view exported);

}  // namespace fathom
