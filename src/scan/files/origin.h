#pragma once

#include <string_view>

#include "scan/facts/code_facts.h"

namespace fathom {

// By data/features/vendored.tsv: whether a folder of this path holds other people's code, and
// whether a file's first lines say that a program wrote it.
bool is_vendored_folder(std::string_view path);
bool says_generated(std::string_view beginning);

// "own", "vendored", "submodule", "generated".
std::string_view origin_name(Origin origin);

}  // namespace fathom
