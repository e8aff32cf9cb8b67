#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "duck/database.h"

namespace fathom {

// How much a question may use.
struct LimitArguments {
  uint64_t memory = uint64_t{2} << 30;
  std::string time = "60s";
};
void add_limit_options(CLI::App& command, LimitArguments& arguments);
DuckLimits limits_of(const LimitArguments& arguments, size_t threads);

// FATHOM_DUCKDB, beside the program, what tools/setup --query fetched, the system.
DuckPlaces duck_places();

}  // namespace fathom
