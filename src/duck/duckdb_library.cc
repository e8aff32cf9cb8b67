#include "duck/duckdb_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraryName = "libduckdb.so";

// Null where the file is no library, with the linker's reason.
std::unique_ptr<DuckLibrary> load_from(const std::string& path, std::string& why) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    why = reason != nullptr ? reason : "it cannot be loaded";
    return nullptr;
  }
  auto loaded = std::make_unique<DuckLibrary>();
  const char* missing = nullptr;
#define FATHOM_DUCKDB_LOOK_UP(result, name, parameters)                                \
  loaded->calls.name =                                                                 \
      reinterpret_cast<decltype(loaded->calls.name)>(dlsym(library, "duckdb_" #name)); \
  if (loaded->calls.name == nullptr && missing == nullptr) missing = "duckdb_" #name;
  FATHOM_DUCKDB_CALLS(FATHOM_DUCKDB_LOOK_UP)
#undef FATHOM_DUCKDB_LOOK_UP
  if (missing != nullptr) {
    why = fmt::format("{} has no function {}: it is too old or no DuckDB", path, missing);
    dlclose(library);
    return nullptr;
  }
  loaded->path = path;
  loaded->version = loaded->calls.library_version();
  return loaded;
}

constexpr const char* kHowToGet =
    "run tools/setup --query (it needs npm), or set FATHOM_DUCKDB to a libduckdb.so";

}  // namespace

Result<const DuckLibrary*> load_duckdb(const DuckPlaces& places) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<DuckLibrary>> loaded;
  const std::lock_guard lock(mutex);
  const auto load = [](const std::string& path, std::string& why) -> const DuckLibrary* {
    const auto known = loaded.find(path);
    if (known != loaded.end()) return known->second.get();
    std::unique_ptr<DuckLibrary> library = load_from(path, why);
    if (!library) return nullptr;
    return (loaded[path] = std::move(library)).get();
  };
  std::error_code error;
  std::string why;
  if (!places.chosen.empty()) {
    fs::path path = places.chosen;
    if (fs::is_directory(path, error)) path /= kLibraryName;
    // Without a slash the linker would look elsewhere.
    if (const DuckLibrary* library = load(fs::absolute(path, error).string(), why)) return library;
    return Error{fmt::format("FATHOM_DUCKDB: {}", why)};
  }
  std::string first_reason;
  for (const fs::path& folder : places.folders) {
    const fs::path path = folder / kLibraryName;
    if (!fs::exists(path, error)) continue;
    if (const DuckLibrary* library = load(path.string(), why)) return library;
    if (first_reason.empty()) first_reason = why;
  }
  if (places.system) {
    if (const DuckLibrary* library = load(kLibraryName, why)) return library;
  }
  if (!first_reason.empty())
    return Error{fmt::format("DuckDB's library cannot be loaded: {}; {}", first_reason, kHowToGet)};
  return Error{
      fmt::format("SQL and Parquet need DuckDB's library, which is not here: {}", kHowToGet)};
}

}  // namespace fathom
