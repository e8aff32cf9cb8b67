#pragma once

#include <vector>

#include "scan/facts/code_facts.h"
#include "scan/files/repository.h"

namespace fathom {

// Leaves out the claims that an option or variable is absent which some code spells out, however it
// is read.
void drop_what_the_code_names(const Repository& repository, const std::vector<SourceFile>& files,
                              std::vector<DocClaim>& claims);

}  // namespace fathom
