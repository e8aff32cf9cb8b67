#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/ablate/commands.h"
#include "plan/ablate/suite.h"

// The trees that variants are built in: copies below the out folder. The source is only read.
namespace fathom::ablate {

struct SourceTree {
  std::filesystem::path folder;    // canonical
  std::filesystem::path git_root;  // empty: it is in no git repository
  std::string below_root;          // of the folder in it; empty: the root itself
  std::vector<std::string> files;  // as git sees them, below the folder
  uint64_t hash = 0;               // of their paths and contents
  uint64_t bytes = 0;
};

// What a copy of the source would have. Files below `out` are left out. Fails at the suite's size
// limit, before the rest is listed.
Result<SourceTree> list_source(const Suite& suite, const std::filesystem::path& out);

// For each variant, of the patches and files that change its tree.
Result<std::vector<uint64_t>> change_hashes(const Suite& suite);

// Without what points git at a repository: set in a hook, it would be the user's.
std::vector<std::string> without_git(std::vector<std::string> environment);

// A step of making a tree, as it is shown and run.
struct TreeCommand {
  std::vector<std::string> words;
  std::vector<std::string> environment;  // changes, "NAME=value"
};
std::vector<TreeCommand> tree_commands(const Suite& suite, const SourceTree& source,
                                       const BuildPlan& build, const std::filesystem::path& tree);

// Makes the tree anew; what is there is removed. A reason where it cannot be made: empty, it was.
// An error is ours.
Result<std::string> make_tree(const Suite& suite, const SourceTree& source, const BuildPlan& build,
                              const std::filesystem::path& tree,
                              const std::vector<std::string>& environment,
                              const std::filesystem::path& log);

// Whether a path below a tree leaves it, through a link on the way.
bool leads_out(const std::filesystem::path& tree, const std::string& name);

// A plain file's content, up to a limit; nothing where it cannot be read or is larger.
std::optional<std::string> read_plain_file(const std::filesystem::path& path, uint64_t limit);

// The files of a tree before anything is built in it, one path a line: diffs leave out the rest.
std::string tree_listing(const std::filesystem::path& tree);

// What a variant changes against another, as text for people. `listings` has tree_listing() of both
// trees; an empty text: all files are compared.
std::string change_text(const Suite& suite, const SuitePlan& plan, size_t parent, size_t variant,
                        const std::pair<std::string, std::string>& listings);

}  // namespace fathom::ablate
