#pragma once

#include <string>

#include "report/screen.h"
#include "report/trace/summary.h"

namespace fathom {

// Ranges and counters of a trace without GPU work.
void show_host(Screen& screen, const Summary::Host& host, size_t width);
std::string md_host(const Summary::Host& host);
// "▁▂▄█": means over time between a counter's least and most; a blank where there is no value.
std::string spark_line(const Summary::HostCounter& counter);

}  // namespace fathom
