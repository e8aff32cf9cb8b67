#pragma once

#include <string_view>

#include "events/counter_set.h"

namespace fathom::ncu {

// What a metric tells of the launch itself: its shape, registers, shared memory, duration, passes.
// `value` is in base units. Other metrics change nothing.
void add_launch_fact(std::string_view metric, double value, CounterRow& row);

// "(132, 1, 1)"
std::optional<Dim3> parse_dims(std::string_view text);

// Dimensions gathered one by one are none where one of them is 0: a launch without clusters.
void finish_launch(CounterRow& row);

}  // namespace fathom::ncu
