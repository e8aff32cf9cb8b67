#include "record/record_settings.h"

#include <cstdio>
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
    const auto number_after = [word](std::string_view name) {
      return std::strtol(std::string(word.substr(name.size())).c_str(), nullptr, 10);
    };
    if (word.starts_with(kWindow)) settings.window_ms = number_after(kWindow);
    if (word.starts_with(kBefore)) settings.before_ms = number_after(kBefore);
    if (word.starts_with(kPmSampling)) settings.sampling_ns = number_after(kPmSampling);
    if (word == kNoClocks) settings.clocks = false;
    if (word.starts_with(kPcSampling)) {
      settings.pc_sampling = true;
      const std::string with_number = std::string(kPcSampling) + "=";
      if (word.starts_with(with_number))
        settings.pc_period = static_cast<uint32_t>(number_after(with_number));
    }
  }
  return settings;
}

std::vector<std::string> Settings::lines_of(const char* name) const {
  std::vector<std::string> lines;
  std::FILE* file = std::fopen((directory + "/" + name).c_str(), "r");
  if (file == nullptr) return lines;
  char* line = nullptr;
  size_t size = 0;
  while (getline(&line, &size, file) > 0) {
    std::string text = line;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (!text.empty()) lines.push_back(std::move(text));
  }
  std::free(line);
  std::fclose(file);
  return lines;
}

}  // namespace fathom::record
