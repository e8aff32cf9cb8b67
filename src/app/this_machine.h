#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "doctor/machine.h"

namespace fathom {

// This machine with this process's variables.
Machine this_machine();
// "NAME=value", as this process has them.
std::vector<std::string> this_environment();
// The program that runs.
std::filesystem::path this_program();

}  // namespace fathom
