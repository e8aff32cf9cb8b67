#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/capabilities.h"

namespace fathom {

std::string_view part_name(Part part);   // "record"
std::string_view part_title(Part part);  // "record kernels (CUPTI)"
std::string_view verdict_name(CanDo verdict);
std::string_view obstacle_name(Obstacle obstacle);  // of the JSON: "counters_restricted"
std::string obstacle_text(const Environment& environment, Obstacle obstacle);
// The command that removes the obstacle; empty: there is none.
std::string obstacle_fix(const Environment& environment, Obstacle obstacle);

std::string_view container_name(ContainerKind kind);  // "Docker"; empty: none

// The environment as lines of a label and a value, in the order of a report.
struct EnvironmentLine {
  std::string label, value;
  bool is_missing = false;  // a library or tool that was not found
};
std::vector<EnvironmentLine> environment_lines(const Environment& environment);

}  // namespace fathom
