#pragma once

#include "scan/facts/code_facts.h"
#include "story/expected_launch.h"

namespace fathom {

// What one thread waits for, one load after the other: the rounds of its loops and the passes over
// its data. Where few threads have much to do each, this is what a kernel takes.
struct SerialWaits {
  double low = 0, high = 0;  // seconds of one thread
  bool known = true;         // false: some loop's rounds are not known
  double most_rounds = 0;    // of the longest loop
};
SerialWaits serial_waits(const KernelFacts& kernel, const KernelValues& values);

}  // namespace fathom
