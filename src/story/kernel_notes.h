#pragma once

#include <string>
#include <vector>

#include "story/expectation.h"

namespace fathom {

// Something about a kernel that could be better, with the line that shows it.
struct KernelNote {
  std::string text;
  CodePlace at;
  std::string basis;  // "code fact", "derived", "estimated"
};

std::vector<KernelNote> notes_on(const KernelFacts& kernel, const Expectation& expected,
                                 const Parameters& parameters, const Platform* platform);

}  // namespace fathom
