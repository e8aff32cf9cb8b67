#include "app/this_machine.h"

#include <unistd.h>

namespace fathom {

std::vector<std::string> this_environment() {
  std::vector<std::string> lines;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    lines.emplace_back(*variable);
  return lines;
}

Machine this_machine() {
  Machine machine;
  for (const std::string& line : this_environment()) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos)
      machine.variables.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return machine;
}

std::filesystem::path this_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

}  // namespace fathom
