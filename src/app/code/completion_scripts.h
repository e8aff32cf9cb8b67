#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace fathom {

// One for each shell, each in its own file.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

std::string replace_all(std::string text, std::string_view from, std::string_view to);

// A script with every @name@ replaced by its text.
std::string fill_script(std::string_view script,
                        const std::vector<std::pair<std::string, std::string>>& texts);

// In single quotes, for bash and zsh.
std::string shell_quoted(std::string_view text);

}  // namespace fathom
