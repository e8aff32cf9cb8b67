#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "session/trace.h"
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

// The options that leave part of a trace out, as they were given; empty where there are none.
std::string scope_text(const ScopeArguments& arguments, uint64_t max_size);

// Fails where the trace has none of the steps asked for.
Result<Scope> make_scope(const ScopeArguments& arguments, const Trace& trace);

}  // namespace fathom
