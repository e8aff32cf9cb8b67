#include "plan/server_load.h"

#include <algorithm>
#include <set>

#include "plan/goal_words.h"
#include "plan/ranks.h"

namespace fathom {
namespace {

// Files of programs that are told where a server is.
std::set<uint32_t> files_with_address(const CodeFacts& facts) {
  constexpr std::string_view kNames[] = {"port",      "host",   "url",     "baseurl", "endpoint",
                                         "serverurl", "apiurl", "address", "apibase"};
  std::set<uint32_t> files;
  for (const OptionFacts& option : facts.options) {
    const bool names = std::ranges::find(kNames, squashed(option.name)) != std::end(kNames);
    if (option.kind == OptionKind::kCli && names) files.insert(option.at.file);
  }
  return files;
}

}  // namespace

void find_load(const CodeFacts& facts, const CommandOfEntry& command_of, Program& program) {
  if (!program.server) return;
  for (const OptionFacts& option : facts.options) {
    double port = 0;
    if (squashed(option.name) != "port" || !option.default_value ||
        !read_number(*option.default_value, port) || port < 1 || port > 65535)
      continue;
    // The server's own option; a client has one of the same name.
    const bool own = std::ranges::any_of(program.options,
                                         [&](uint32_t i) { return &facts.options[i] == &option; });
    if (own || !program.port) program.port = static_cast<int64_t>(port);
    if (own) break;
  }
  const std::set<uint32_t> with_address = files_with_address(facts);
  double best = 0;
  for (uint32_t i = 0; i < facts.entry_points.size(); ++i) {
    const EntryPoint& entry = facts.entry_points[i];
    const SourceFile& file = facts.files[entry.at.file];
    const bool runs = entry.kind == EntryKind::kMain || entry.kind == EntryKind::kBenchmark ||
                      entry.kind == EntryKind::kExample;
    if (!runs || file.origin != Origin::kOwn || file.language != Language::kPython ||
        program.file == entry.at.file)
      continue;
    // A client is told where the server is. A longer name is of something more particular.
    const double score = name_rank("load", file.path) +
                         (with_address.contains(entry.at.file) ? 8 : -6) -
                         0.1 * static_cast<double>(std::ranges::count(file.path, '/')) -
                         0.5 * static_cast<double>(std::ranges::count(file.path, '_'));
    if (score <= best + 0.001) continue;
    const DocumentedCommand* documented = command_of(i);
    std::vector<std::string> words = documented != nullptr ? documented->words
                                     : !entry.command.empty()
                                         ? words_of_command(entry.command)
                                         : std::vector<std::string>{"python", file.path};
    // Documents of a folder are written from there; the plan's commands run in the root.
    for (std::string& word : words) {
      if (word.ends_with(".py") && file.path.ends_with("/" + word)) word = file.path;
    }
    best = score;
    program.load = std::move(words);
    program.load_where = code_place_text(facts, entry.at);
  }
}

}  // namespace fathom
