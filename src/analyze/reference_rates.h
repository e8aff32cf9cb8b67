#pragma once

#include <optional>
#include <string_view>

#include "cost/cost.h"
#include "platform/platform.h"

namespace fathom {

// An op with a cost, as far as its usual time depends on it.
struct UsualQuestion {
  std::string_view op;
  const Cost* cost = nullptr;
  bool gradient = false;  // its cost was worked out from the forward op
};

// How long the vendor's libraries take for such work at such a size, by
// data/platforms/reference_rates.tsv: products and attention from the measured shapes around this
// one, other ops from their bytes. Nothing where no measured size is near.
struct UsualTime {
  double seconds = 0;
  bool estimated = false;  // measured on another GPU, scaled by the limits of both
};
std::optional<UsualTime> usual_time(const UsualQuestion& question, const Platform& platform);

}  // namespace fathom
