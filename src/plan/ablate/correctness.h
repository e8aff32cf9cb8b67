#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/ablate/suite.h"

// Whether a variant's output is right.
namespace fathom::ablate {

// The numbers of a text, in order: 1, -2.5e3, nan, inf. A number is a word of its own, or follows
// one of "=:,;([{" and precedes one of ",;)]}": "x=3" has one, "v3" and "3x" have none.
std::vector<double> numbers_in(std::string_view text);

struct Compared {
  bool right = false;
  std::string reason;                   // where wrong: what, where, by how much
  size_t count = 0;                     // of values compared
  std::optional<double> largest_error;  // absolute; with a norm: the relative norm
};

// |got − expected| ≤ absolute + relative · |expected| for each, or the relative norm. As many
// values on both sides; what is not a number fits only what is not a number.
Compared compare_output(std::string_view got, std::string_view expected, const Check& check);

}  // namespace fathom::ablate
