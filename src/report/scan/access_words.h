#pragma once

#include <string>

#include "scan/facts/code_facts.h"

namespace fathom {

// How the threads of a launch access an array, in the words of a profiler: "coalesced, one element
// per thread". scan.json has the names of access_pattern_text.
std::string access_words(const ArrayAccess& access);

}  // namespace fathom
