#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/reading_options.h"
#include "app/scope_options.h"
#include "session/query/trace_model.h"

namespace fathom {

// How the commands that ask a trace open it, with what belongs to it.
struct ModelArguments {
  std::vector<std::string> counters;
  std::string repository, platform;
  ScopeArguments scope;
  ReadingArguments reading;
};
void add_model_options(CLI::App& command, ModelArguments& arguments);

Result<std::unique_ptr<TraceModel>> open_model(const std::string& trace,
                                               const ModelArguments& arguments,
                                               const Terminal& terminal);

}  // namespace fathom
