#include "scan/manifests/build_switches.h"

#include <set>

#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"
#include "scan/files/source_text.h"
#include "scan/manifests/cmake_text.h"

namespace fathom {
namespace {

constexpr size_t kMostSwitches = 2000, kMostFiles = 2000;
constexpr uint64_t kLargestFile = 4u << 20;

bool is_plain(std::string_view name) { return !name.empty() && !holds(name, '$'); }

// set(NAME value… CACHE TYPE "help"): a choice, unless it is internal.
std::optional<BuildSwitch> cached_variable(const CMakeCommand& command) {
  for (size_t i = 1; i + 2 < command.words.size(); ++i) {
    if (command.words[i].text != "CACHE") continue;
    if (!is_one_of(command.words[i + 1].text, {"BOOL", "STRING", "PATH", "FILEPATH"}))
      return std::nullopt;
    BuildSwitch found;
    found.name = command.words[0].text;
    for (size_t j = 1; j < i; ++j)
      (found.default_value += j == 1 ? "" : ";") += command.words[j].text;
    found.help = on_one_line(command.words[i + 2].text);
    found.at.line = command.line;
    return found;
  }
  return std::nullopt;
}

}  // namespace

std::vector<BuildSwitch> cmake_switches(std::string_view text) {
  std::vector<BuildSwitch> out;
  for (const CMakeCommand& command : cmake_commands(text)) {
    if (command.words.empty() || !is_plain(command.words[0].text) || out.size() == kMostSwitches)
      continue;
    if (command.name == "option" || command.name == "cmake_dependent_option") {
      BuildSwitch found;
      found.name = command.words[0].text;
      if (command.words.size() > 1) found.help = on_one_line(command.words[1].text);
      // option() without a value is OFF.
      found.default_value = command.words.size() > 2 ? command.words[2].text : "OFF";
      found.at.line = command.line;
      out.push_back(std::move(found));
    } else if (command.name == "set") {
      if (auto found = cached_variable(command)) out.push_back(std::move(*found));
    }
  }
  return out;
}

std::vector<BuildSwitch> find_build_switches(const Repository& repository) {
  std::vector<BuildSwitch> out;
  std::set<std::string> seen;
  size_t read = 0;
  for (uint32_t i = 0; i < repository.files.size(); ++i) {
    const SourceFile& file = repository.files[i];
    const bool cmake = file_name(file.path) == "CMakeLists.txt" || file.path.ends_with(".cmake");
    if (!cmake || file.origin != Origin::kOwn || !file.skipped.empty()) continue;
    if (file.size > kLargestFile || read++ == kMostFiles) continue;
    const Result<std::string> text = read_source_text(repository.root / file.path);
    if (!text.ok()) continue;
    for (BuildSwitch& found : cmake_switches(text.value())) {
      if (out.size() == kMostSwitches) return out;
      if (!seen.insert(found.name).second) continue;
      found.at.file = i;
      out.push_back(std::move(found));
    }
  }
  return out;
}

}  // namespace fathom
