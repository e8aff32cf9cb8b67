#pragma once

#include <string>
#include <string_view>

#include "analyze/finding.h"
#include "analyze/traits.h"

namespace fathom {

// What advice depends on.
struct AdviceQuestion {
  std::string_view about;   // a category of the analysis, or a kind of finding
  std::string_view op;      // or what else the finding is about
  std::string_view bound;   // "compute", "memory"; empty: unknown
  std::string_view vendor;  // of the GPU; empty: unknown
  Traits traits;
  bool about_op = true;  // false: a kind of finding, which rows for any category do not speak of
};

struct Advice {
  std::string change_code, improve_kernel, counters;  // empty where there is nothing to say
};

// By data/analysis/advice.tsv, in the words of the vendor (tools.tsv).
Advice advice_for(const AdviceQuestion& question);

// Fills the advice of a finding that is not about one op, by its kind.
void advise(const Assessment& assessment, Finding& finding, const Traits& traits);

}  // namespace fathom
