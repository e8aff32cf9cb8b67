#pragma once

#include <vector>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/kernel_choice.h"

namespace fathom::cpp {

// A launch, and what its kernel comes down to.
struct FoundLaunch {
  Launch launch;
  KernelChoice choice;
};

// The launches of a file, in order of line.
std::vector<FoundLaunch> find_launches(const Code& code, const Definitions& definitions,
                                       const KnownNames& known);

// Whether a macro's body launches something by itself.
bool launches_directly(const Macro& macro);

// Whether a macro's body calls one of its parameters: EACH(F) F(float) F(half).
bool calls_parameter(const Macro& macro);

// Adds what functions return and which parameters they hand on: kernels, perhaps.
void find_handed_kernels(const Code& code, Definitions& out);

// The kernels that host functions and macros take by their address.
std::vector<TakenKernel> find_taken_kernels(const Code& code, const Definitions& definitions,
                                            const KnownNames& known);

// The functions and classes of a file that launch what they are given.
std::vector<LaunchHelper> find_launch_helpers(const Code& code, const Definitions& definitions);

}  // namespace fathom::cpp
