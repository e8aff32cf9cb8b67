#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// The files of a repository, in order of path: what .gitignore names and git does not track is
// left out (without git, code files stay), links are not followed, submodules and vendored folders
// are marked. Nothing in it is executed.
struct Repository {
  std::filesystem::path root;
  std::string name;
  std::vector<SourceFile> files;
  std::vector<std::string> notes;
  bool is_cut = false;  // a limit ended the listing; files have no sizes then
};

// Where a listing ends. Folders count as files.
struct ListLimits {
  size_t files = SIZE_MAX;
  uint64_t bytes = UINT64_MAX;
  std::filesystem::path except;  // a folder whose files do not count; empty: none
};

// Threads: 0 is as many as the machine has; their number changes nothing.
Result<Repository> list_repository(const std::filesystem::path& root, size_t threads = 0,
                                   const ListLimits& limits = {});

// Beyond this a file is data, whatever its name says.
inline constexpr uint64_t kMaxSourceBytes = 32u << 20;

}  // namespace fathom
