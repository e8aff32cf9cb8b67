#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/path_ends.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// The paths of a repository, and the programs that its documentation can tell people to run.
class DocPrograms {
 public:
  DocPrograms(const std::string& root, const CodeFacts& facts);

  // Where the own program's name ends among a command's words: what follows are its arguments.
  // None: it runs somebody else's program.
  std::optional<size_t> own_program(const std::vector<std::string>& words,
                                    std::string_view doc_folder) const;
  // The .py file that a command runs and the repository has not, where its folder is the
  // repository's.
  std::optional<std::string> missing_script(const std::vector<std::string>& words,
                                            std::string_view doc_folder) const;
  // A file or folder, from the root, from the folder of the document, or the end of some path.
  bool exists(std::string_view path, std::string_view doc_folder) const;
  bool exists_from(std::string_view path, std::string_view folder) const;
  bool is_folder(std::string_view path) const { return folders_.contains(path); }

 private:
  std::string root_;
  std::set<std::string, std::less<>> files_, folders_, names_, modules_;
  PathEnds ends_;
};

// "a/./b/../c" → "a/c"; empty: it leads out.
std::string normal_path(std::string_view path);

}  // namespace fathom
