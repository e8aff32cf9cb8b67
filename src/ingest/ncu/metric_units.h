#pragma once

#include <string>
#include <string_view>

namespace fathom::ncu {

// A unit as Nsight Compute prints it ("Gbyte/s", "us", "Ghz", "cycle/nsecond") in base units.
struct BaseUnit {
  std::string name;   // "byte/s", "ns", "hz"
  double factor = 1;  // a value times this is in that unit
};
BaseUnit base_unit(std::string_view printed);

// The base unit of a metric that comes without one, as in a report file, by the metric's name.
// Empty: a plain number, or not known.
std::string_view unit_by_name(std::string_view metric);

}  // namespace fathom::ncu
