#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/code_patterns.h"
#include "scan/cpp/code_structures.h"
#include "scan/cpp/tokens.h"

namespace fathom::cpp {

// A line that shows something of data/features/code_patterns.tsv.
struct PatternHit {
  std::string_view id;
  std::string detail;     // "16 bytes", "m64n128k16"; may be empty
  std::string condition;  // of the `if constexpr` around it: "kUnit == 16"; empty: none
  uint32_t line = 0;
  Certainty certainty = Certainty::kCertain;
  uint16_t matcher = 0;                // the row of code_pattern_matches.tsv that found it
  std::string subject = {};            // as of CodeEvidence
  std::optional<uint32_t> bytes = {};  // as of CodeEvidence
};

// What the tokens from `first` to before `last` do, in order of line. Linear in their number.
std::vector<PatternHit> find_patterns(const TokenList& source, size_t first, size_t last,
                                      PatternScope scope,
                                      const TokenRange::Surroundings& around = {});
// The same of what stands before a function's body: "__launch_bounds__(128, 2)".
std::vector<PatternHit> find_attribute_patterns(std::span<const std::string> attributes,
                                                uint32_t line, PatternScope scope);
// The same of Python text, with its decorators; `line` is that of its first byte.
std::vector<PatternHit> find_python_patterns(std::string_view text, uint32_t line,
                                             PatternScope scope);

// The first line of each id, detail and condition, the surest where several say the same.
std::vector<PatternHit> first_of_each(std::vector<PatternHit> hits);

}  // namespace fathom::cpp
