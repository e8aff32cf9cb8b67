#pragma once

#include <cstdlib>

#include "checks.h"
#include "duck/duckdb_library.h"

namespace fathom::test {

// Where the program finds it; null where there is none.
inline const DuckLibrary* duckdb() {
  DuckPlaces places;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value != nullptr ? value : "");
  };
  places.chosen = variable("FATHOM_DUCKDB");
  places.folders.push_back((variable("XDG_CACHE_HOME").empty() ? variable("HOME") / ".cache"
                                                               : variable("XDG_CACHE_HOME")) /
                           "fathom/duckdb");
  const Result<const DuckLibrary*> loaded = load_duckdb(places);
  return loaded.ok() ? loaded.value() : nullptr;
}

}  // namespace fathom::test

#define NEEDS_DUCKDB()                               \
  if (fathom::test::duckdb() == nullptr)             \
  GTEST_SKIP() << "skipped: no DuckDB (tools/setup " \
                  "--query)"
