#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scan/files/repository.h"
#include "scan/link/request_entries.h"

namespace fathom {

// What the Python code blocks of a document call, by the names that their imports and assignments
// give it: "package.function", "package.Class.method" of an object. `from_readme` and the file are
// left to the caller.
std::vector<DocumentedCall> read_doc_examples(std::string_view text, bool markdown);

// Of the README, then of the documents at the root and in docs/ itself that introduce to the
// repository, in order of path.
std::vector<DocumentedCall> find_doc_examples(const Repository& repository, const CodeFacts& facts);

}  // namespace fathom
