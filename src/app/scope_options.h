#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "sheets/scope.h"

namespace fathom {

// The options that say which part of a trace a command is about.
struct ScopeArguments {
  std::string steps;
  std::string step_pattern{kProfilerSteps};
  std::optional<int32_t> device;
  bool include_unlinked = false;
};

void add_scope_options(CLI::App& command, ScopeArguments& arguments);

// Of arguments that were parsed without an error.
Scope make_scope(const ScopeArguments& arguments);

}  // namespace fathom
