#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "scan/python/name_meanings.h"
#include "scan/python/python_file.h"

namespace fathom::python {

// Kernels that a program compiles from texts and asks for by name: cupy.RawKernel(text, "name"),
// module.get_function("name") of CuPy and PyCUDA, and functions of the file around such calls.
class RawKernels {
 public:
  RawKernels(const Outline& outline, NameMeanings& names);

  // The calls that made what is launched: those that a name or a member of self was set to, or the
  // one that is launched where it stands.
  std::vector<NodeId> makers(const Site& site, NodeId callee);
  // The names that they ask for; nothing where one is not written there.
  void name(const std::vector<NodeId>& makers, Launch& launch) const;

 private:
  void find_helpers();
  // Where a call has the kernel's name, by position; null: it makes none.
  const size_t* name_place(NodeId call) const;

  const Outline& outline_;
  const Tree& tree_;
  NameMeanings& names_;
  bool has_any_ = false;
  std::map<std::string_view, size_t> places_;  // of the name among the arguments, by function
};

}  // namespace fathom::python
