#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "duck/duckdb_calls.h"

namespace fathom {

// Where DuckDB's library may lie, in the order in which it is looked for.
struct DuckPlaces {
  // A library or the folder it is in; empty: not given. Nowhere else is looked then.
  std::filesystem::path chosen;
  std::vector<std::filesystem::path> folders;
  bool system = true;  // where the dynamic linker looks, last
};

struct DuckLibrary {
  duck::Calls calls;
  std::string path;     // as it was found; a bare name is the system's
  std::string version;  // "v1.5.6"
};

// Loads it, once for each place; it stays loaded. Fails with the command that gets it.
Result<const DuckLibrary*> load_duckdb(const DuckPlaces& places);

}  // namespace fathom
