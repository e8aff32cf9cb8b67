#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace fathom {

class Assessment;

// A step that takes much longer than the others, and what most of the difference is: work of the
// GPU, or the name of an idle cause.
struct SlowStep {
  std::string name;
  Nanos wall, median;
  bool is_busy = false;
  std::string_view cause;
  Nanos more;
};
// Of three steps and more; none: they are alike.
std::optional<SlowStep> find_slow_step(const Assessment& assessment);

}  // namespace fathom
