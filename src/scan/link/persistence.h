#pragma once

#include <vector>

#include "scan/facts/code_facts.h"

namespace fathom {

// A kernel whose blocks step through the work by the size of the grid is persistent where a
// launcher sizes the grid by the GPU's SMs; else it is an ordinary grid-stride loop, and stays one.
void recognise_persistence(std::vector<KernelFacts>& kernels);

}  // namespace fathom
