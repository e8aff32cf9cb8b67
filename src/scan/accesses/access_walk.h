#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_parts.h"
#include "scan/cpp/tree/code_tree.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// A function of the device that a walk may go through.
struct DeviceFunction {
  std::string name;
  std::string owner;  // the class or namespace around it; empty: none
  uint32_t file = 0;
  CodeTree tree;
  std::vector<CodeParameter> parameters;
  std::vector<std::string> template_parameters;

  bool is_template_parameter(std::string_view word) const {
    return contains(template_parameters, word);
  }
};

// What the walk must know of the code around.
struct WalkSurroundings {
  // How many accesses it lists at most.
  size_t max_sites = 160;
  size_t max_work = 30000;  // expressions and statements
  // What all launches of the kernel give for parameters of its template, as far as that is numbers.
  std::map<std::string, std::string, std::less<>> template_arguments;
  // The function that a call means, by its name with qualifiers; none: not the repository's, or not
  // known which.
  std::function<const DeviceFunction*(std::string_view name, size_t arguments)> find;
  // The size of a type, through its aliases; none: unknown.
  std::function<std::optional<uint32_t>(std::string_view type)> bytes_of;
  // What a class says of its constant "Layout<64>::pitch", its template arguments filled in.
  std::function<std::optional<std::string>(std::string_view name)> member;
  // A constant of the code that is a whole number: WARP_SIZE.
  std::function<std::optional<double>(std::string_view name)> constant;
};

struct KernelAccesses {
  std::vector<ArrayAccess> accesses;  // in the order of the walk, each place once
  std::vector<ArrayTraffic> traffic;
  std::vector<UnresolvedAccess> unresolved;  // what the totals leave out
  std::string arithmetic;                    // formula; empty: not counted
  bool cut = false;  // there is more code than the walk goes through: no totals
};

// Goes through a kernel's code as a thread would, every branch once, and notes where it touches
// arrays. Bounded in work whatever the code is.
KernelAccesses walk_accesses(const DeviceFunction& kernel, const WalkSurroundings& around);

}  // namespace fathom
