#pragma once

#include <string>

#include "sheets/kernel_contexts.h"

// How the hardware behaved while a kernel ran, as parts of pages: those of a trace and of a scan.
namespace fathom {

// The values that a page shows, as a table.
std::string context_table(const KernelContext& kernel);
// Tables of what is confirmed, untested (with the command that tests it) and rejected.
std::string hypothesis_tables(const KernelContext& kernel);
// "Roofline: 0.25 FLOP/B at 812 GFLOP/s, 68 % of the memory roof"; empty where it is not known.
std::string roofline_text(const KernelContext& kernel);
// "long_scoreboard 62 %, wait 11 %": the most frequent; empty: none were counted.
std::string stalls_line(const KernelContext& kernel, size_t most);

// Empty where FLOPs, bytes or the GPU's rates are not known.
std::string roofline_svg(const KernelContext& kernel);
// Empty where no stalls were counted.
std::string stalls_svg(const KernelContext& kernel);

}  // namespace fathom
