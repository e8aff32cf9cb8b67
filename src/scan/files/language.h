#pragma once

#include <string_view>

#include "scan/facts/code_facts.h"

namespace fathom {

// By data/features/languages.tsv. `beginning` is the file's first bytes, for scripts whose names
// have no ending.
Language language_of(std::string_view path, std::string_view beginning);

// "CUDA", "C/C++"; of kNone "other".
std::string_view language_name(Language language);

// Whether it is what programs are written in, as opposed to settings, documents and data.
bool is_program_code(Language language);

}  // namespace fathom
