#pragma once

#include <string>

#include "scan/facts/code_facts.h"

namespace fathom {

// What a kernel computes, in one sentence without a full stop: by its docstring, the words of its
// name or of its file's, its arrays, and the products and reductions in its code. Derived; empty:
// nothing tells.
std::string kernel_purpose(const CodeFacts& facts, const KernelFacts& kernel);

}  // namespace fathom
