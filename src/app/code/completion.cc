#include "app/code/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/code/completion_scripts.h"
#include "base/check.h"

namespace fathom {
namespace {

struct Shell {
  std::string_view name;
  std::string (*script)(const CLI::App& app);
};
constexpr std::array<Shell, 3> kShells{
    {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}}};

}  // namespace

std::vector<std::string> completion_shells() {
  std::vector<std::string> names;
  names.reserve(kShells.size());
  for (const Shell& shell : kShells) names.emplace_back(shell.name);
  return names;
}

std::string completion(const CLI::App& app, std::string_view shell) {
  const auto* known = std::ranges::find(kShells, shell, &Shell::name);
  CHECK(known != kShells.end());
  return known->script(app);
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string fill_script(std::string_view script,
                        const std::vector<std::pair<std::string, std::string>>& texts) {
  std::string out(script);
  for (const auto& [name, text] : texts)
    out = replace_all(std::move(out), fmt::format("@{}@", name), text);
  return out;
}

std::string shell_quoted(std::string_view text) {
  return fmt::format("'{}'", replace_all(std::string(text), "'", R"('\'')"));
}

}  // namespace fathom
