#pragma once

#include <string>

#include "report/trace/summary.h"

namespace fathom {

// "SM clock 1,755 MHz and 412 W on average; power cap in 63.0 % of kernel time"
std::string clocks_text(const Summary::Clocks& clocks);
// Whether clocks were held back, by power or heat, in a notable share of kernel time.
bool is_throttled(const Summary::Clocks& clocks);

// "3,102,455 samples, one every 4,096 cycles of each SM, 98.2 % with a source line"
std::string stalls_text(const Summary::Stalls& stalls);

// A section of the report, with its heading; the lines where kernels wait most.
std::string md_stalls(const Summary::Stalls& stalls);

}  // namespace fathom
