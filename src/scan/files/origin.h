#pragma once

#include <string_view>
#include <vector>

#include "scan/facts/code_facts.h"

namespace fathom {

// By data/features/vendored.tsv: whether a folder of this path holds other people's code, and
// whether a file's first lines say that a program wrote it.
bool is_vendored_folder(std::string_view path);
// Whether what a folder below the top holds makes it a copy of a whole repository.
bool is_copied_repository(const std::vector<std::string_view>& names);
bool says_generated(std::string_view beginning);

// "own", "vendored", "submodule", "generated".
std::string_view origin_name(Origin origin);

}  // namespace fathom
