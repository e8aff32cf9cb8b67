#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/ablate/suite.h"

// The commands of a suite, with everything filled in: what is shown is what is run.
namespace fathom::ablate {

struct ReadyCommand {
  std::vector<std::string> words;  // of a shell: /bin/sh -c LINE
  std::string folder;              // below the tree
  Pairs environment;
  int64_t timeout_ms = 0;
};

// Variants with the same tree and the same build share one, named after the first of them.
struct BuildPlan {
  std::string name;
  std::vector<size_t> variants;
  const Changes* changes = nullptr;  // commit, patches and files of the tree
  std::string tree;                  // where commands run: the source in this tree
  ReadyCommand build;                // no words: nothing to build
};

struct VariantPlan {
  size_t build = 0;  // of SuitePlan::builds
  ReadyCommand check;
  std::vector<ReadyCommand> runs;  // by case
  ReadyCommand counted;            // what `fathom record` runs; of the first case
  // Hashes of everything that decides the outcome: a finished step of another hash is not used.
  uint64_t build_key = 0, check_key = 0, counters_key = 0;
  std::vector<uint64_t> run_keys;  // by case
};

struct SuitePlan {
  std::vector<BuildPlan> builds;
  std::vector<VariantPlan> variants;
};

// Where a suite is run, absolute.
struct Places {
  std::string trees;         // trees are folders in it
  std::string suite_folder;  // where the suite lies
  std::string below_root;    // of the source in its git repository: where a commit's tree has it
};

// {tree} and {suite} become folders; {macros} and {flags}, as words of their own, several words.
// Fails on a {name} that nobody gives a value. `contents` is a hash of the files that a variant's
// tree is made from.
Result<SuitePlan> plan_suite(const Suite& suite, const Places& places,
                             const std::vector<uint64_t>& contents);

// A command as a shell would read it, for people: words with odd characters are quoted.
std::string shell_text(const std::vector<std::string>& words);

}  // namespace fathom::ablate
