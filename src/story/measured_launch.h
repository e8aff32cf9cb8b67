#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "events/event.h"
#include "scan/facts/code_facts.h"
#include "story/parameters.h"

// The numbers of a kernel's names for a launch that ran: what its grid, its block and its template
// arguments tell of them.
namespace fathom {

// A launch as it was measured.
struct MeasuredLaunch {
  std::string name;  // the profiler's, with template arguments where it has them
  std::optional<Dim3> grid, block;
  // What the op that launched it gives the names of a launch site; null: it is not known.
  std::function<std::vector<NamedValue>(const KernelLauncher&)> op_values = nullptr;
};

// A launch site with the measured numbers in place of its own, once for the least sizes that give
// such a grid and once for the largest: "(n + 255) / 256" blocks tell n up to 255.
struct LaunchValues {
  KernelLauncher least, most;
  std::map<std::string, double, std::less<>> own;  // template arguments; "sizeof(T)"

  // A name that the launch tells, for reports.
  struct Solved {
    std::string name;
    double least = 0, most = 0;
    std::string from;  // "grid x", "block x", "template argument", "op"
  };
  std::vector<Solved> solved;
  bool uses_parameters = true;  // of the user: they do not contradict the launch
};

// The launch sites of the kernel that can have made this launch; none: it is known to be another's,
// or the code has none.
std::vector<LaunchValues> fit_launch(const KernelFacts& kernel, const MeasuredLaunch& measured,
                                     const Parameters& parameters);

// The kernel's template arguments in a profiler's name: values by name, sizes of types as
// "sizeof(T)".
std::map<std::string, double, std::less<>> template_values(const KernelFacts& kernel,
                                                           std::string_view profiler_name);

}  // namespace fathom
