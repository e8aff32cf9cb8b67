#pragma once

#include <set>
#include <string>
#include <vector>

#include "scan/python/outline.h"

namespace fathom::python {

// A place where the environment is read or changed.
struct EnvironmentAccess {
  Site site;
  NodeId name = 0, default_value = 0;
  std::string via;
  bool written = false;
  bool only_tested = false;  // whether it is set, and not its value
};

// os.getenv, os.environ[…], .get, .setdefault, .pop, `in os.environ`, through any import and
// through `env = os.environ`; the environ of something else is none.
std::vector<EnvironmentAccess> find_environment_accesses(const Outline& outline);

// int, float or bool, from what the value is handed to; empty: it stays text.
std::string type_from_use(const Outline& outline, NodeId value);

// Whether it has a letter that is not filled in, and no space.
bool is_variable_name(std::string_view name);

}  // namespace fathom::python
