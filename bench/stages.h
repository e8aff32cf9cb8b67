#pragma once

#include <string>

namespace fathom::bench {

// Prints how long each stage of an analysis takes, in this process. False: the trace is unreadable.
bool print_stages(const std::string& trace);

}  // namespace fathom::bench
