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

// What git tracks, by an index file. Paths are from the checkout's root and are kept as hashes: an
// index of version 4 stores only where each differs from the one before, and written out they may
// take a hundred times its size.
class TrackedPaths {
 public:
  // Nothing where it is no index that we can read.
  static std::optional<TrackedPaths> read(std::string_view index);

  bool has_file(std::string_view path) const;
  bool has_folder(std::string_view path) const;  // some file of it
  size_t size() const { return files_.size(); }

 private:
  static std::optional<TrackedPaths> read(std::string_view index, size_t hash_bytes);
  std::vector<uint64_t> files_, folders_;  // sorted
};

struct Submodule {
  std::string name, path, url, branch;
  uint32_t line = 0;
};
std::vector<Submodule> read_gitmodules(std::string_view text);

}  // namespace fathom
