#pragma once

#include <string>
#include <vector>

#include "base/table.h"
#include "story/story.h"

namespace fathom {

// What is expected of one kernel, in a row: every value is estimated, or "unknown".
struct ExpectedRow {
  uint32_t kernel = 0;  // position in CodeFacts::kernels
  std::string launch;   // "64 × 128": blocks × threads, derived
  std::string bytes;    // read and written
  std::string time, side;
  bool known = false;  // a time or the bytes are
};

// Of the kernels that `--kernel` names, else of all; dead ones left out.
std::vector<ExpectedRow> expected_rows(const CodeFacts& facts, const Stories& stories);

}  // namespace fathom
