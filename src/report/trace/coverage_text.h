#pragma once

#include <string>

#include "report/trace/summary.h"

namespace fathom {

// Where most was not assessed, that nothing was found means little.
bool mostly_assessed(const Summary& summary);
// "23.4 % of GPU time not assessed: kernels in graph launches 20.0 % (--capture TRACE names their
// ops), …"; empty: what was not assessed is under 1 %. Names are as in the trace: `safe` makes them
// inert.
std::string not_assessed_text(const Summary& summary, std::string (*safe)(std::string_view));
// What to say where no finding matters: "No finding above 1 % of the trace (94.0 % of GPU time
// assessed)".
std::string nothing_found_text(const Summary& summary);

}  // namespace fathom
