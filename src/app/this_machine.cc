#include "app/this_machine.h"

#include <string_view>

extern char** environ;

namespace fathom {

Machine this_machine() {
  Machine machine;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      machine.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return machine;
}

}  // namespace fathom
