#pragma once

#include <set>
#include <string>
#include <vector>

#include "scan/files/repository.h"

namespace fathom {

// How the README starts the repository's own programs: the commands of its code blocks, else of its
// text, that run a script, module, console script or built program of the repository, in its order;
// where it has none, those of the first guide that does. Commands that install, build or test are
// left out.
std::vector<StartCommand> find_start_commands(const Repository& repository, const CodeFacts& facts);

// Options, environment variables and functions of the API that the README writes in code, for their
// in_readme.
void note_readme_names(const Repository& repository, CodeFacts& facts);

}  // namespace fathom
