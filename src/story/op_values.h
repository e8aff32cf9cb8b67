#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/op_args.h"
#include "scan/facts/code_facts.h"

namespace fathom {

class SourceOutlines;

// The op that launched a kernel, with what the trace tells of its arguments. All launches of one
// shape have the same, or it is not known.
struct LaunchingOp {
  std::string name;  // "tiny::rms_norm"
  OpArgs arguments;
};

// What the op's arguments are called where the kernel is launched: "x.size(1)" of a C++ function
// that is the op, or a parameter that a Python function fills with x.shape[1]. Nothing where the
// way from the op to the launch is not followed.
std::vector<NamedValue> values_of_op(const CodeFacts& facts, const KernelFacts& kernel,
                                     const KernelLauncher& launcher, const LaunchingOp& op,
                                     SourceOutlines& sources);

}  // namespace fathom
