#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// The git checkout around a folder. Only files are read; git itself is never run.
struct GitPlace {
  std::filesystem::path root;       // the folder that has .git
  std::filesystem::path directory;  // with the index; a linked checkout's lies elsewhere
  std::filesystem::path common;     // with info/exclude
};
std::optional<GitPlace> find_git(const std::filesystem::path& folder);

// What git tracks, by an index file: paths from the checkout's root, sorted; nothing where it is no
// index that we can read. A tracked file counts, whatever .gitignore says.
std::optional<std::vector<std::string>> tracked_paths(std::string_view index);

struct Submodule {
  std::string name, path, url, branch;
  uint32_t line = 0;
};
std::vector<Submodule> read_gitmodules(std::string_view text);

}  // namespace fathom
