#pragma once

#include <vector>

#include "scan/facts/code_facts.h"
#include "scan/files/repository.h"

namespace fathom {

// What the documentation says of options, variables, paths and defaults that the code does not bear
// out. `facts` has its files, options and entry points. A claim is made only where the sentence or
// command is about this repository's own programs. `of_usage` are those about what the programs say
// of themselves, and stand among the others in order.
std::vector<DocClaim> find_doc_claims(const Repository& repository, const CodeFacts& facts,
                                      std::vector<DocClaim> of_usage);

}  // namespace fathom
