#include "record/record_settings.h"

#include <cstdlib>
#include <string_view>

namespace fathom::record {

Settings read_settings() {
  Settings settings;
  if (const char* directory = std::getenv(kDirectoryVariable)) settings.directory = directory;
  if (const char* cupti = std::getenv(kCuptiVariable)) settings.cupti = cupti;
  const char* options = std::getenv(kOptionsVariable);
  std::string_view rest = options != nullptr ? options : "";
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    if (word == kGraphNodes) settings.graph_nodes = true;
    if (word == kAllocations) settings.allocations = true;
    if (word == kAllCalls) settings.all_calls = true;
    if (word == kDormant) settings.dormant = true;
    if (word == kCounters) settings.counters = true;
    if (word == kReplay) settings.replay = true;
    const auto number = [word](const char* name, long& out) {
      if (word.starts_with(name))
        out = std::strtol(std::string(word.substr(std::string_view(name).size())).c_str(), nullptr,
                          10);
    };
    number(kWindow, settings.window_ms);
    number(kBefore, settings.before_ms);
  }
  return settings;
}

}  // namespace fathom::record
