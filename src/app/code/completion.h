#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace fathom {

// The shells that `completion` knows.
std::vector<std::string> completion_shells();

// A script that teaches the shell the program's commands, options and what their values are, made
// from the definitions that --help prints. `shell` is one of those above.
std::string completion(const CLI::App& app, std::string_view shell);

}  // namespace fathom
