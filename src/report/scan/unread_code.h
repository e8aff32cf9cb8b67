#pragma once

#include <string>
#include <vector>

#include "scan/facts/code_facts.h"

namespace fathom {

// GPU code that the repository has and whose content was not read, a line for each kind, the most
// first: "82 FlyDSL kernels: positions only; bodies not read". Then submodules that are absent.
std::vector<std::string> unread_lines(const CodeFacts& facts);

}  // namespace fathom
