#include "app/code/duck_options.h"

#include "app/option_rules.h"
#include "app/record_extras.h"
#include "app/this_machine.h"

namespace fathom {

void add_limit_options(CLI::App& command, LimitArguments& arguments) {
  command
      .add_option("--memory", arguments.memory,
                  "Memory that the query may use, such as 500MB or 8GB (default: 2 GiB)")
      ->transform(byte_size())
      ->option_text("SIZE");
  command
      .add_option("--time-limit", arguments.time,
                  "End the query after this long (default: 60s); a function that does not "
                  "stop then is ended 5 s later")
      ->check([](const std::string& text) {
        return duration_ms(text) ? std::string() : "expected a time such as 500ms, 10s or 2m";
      })
      ->option_text("TIME");
}

DuckLimits limits_of(const LimitArguments& arguments, size_t threads) {
  DuckLimits limits;
  limits.memory_bytes = static_cast<int64_t>(arguments.memory);
  limits.threads = static_cast<int64_t>(threads);
  limits.seconds = static_cast<double>(duration_ms(arguments.time).value_or(60'000)) / 1e3;
  return limits;
}

DuckPlaces duck_places() {
  const auto variables = this_machine().variables;
  const auto variable = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
  DuckPlaces places;
  places.chosen = variable("FATHOM_DUCKDB");
  places.folders.push_back(this_program().parent_path());
  const std::string cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (!cache.empty())
    places.folders.push_back(std::filesystem::path(cache) / "fathom/duckdb");
  else if (!home.empty())
    places.folders.push_back(std::filesystem::path(home) / ".cache/fathom/duckdb");
  return places;
}

}  // namespace fathom
