#pragma once

#include "base/toml_document.h"
#include "plan/ablate/suite.h"

namespace fathom::ablate {

// [[variant]]: what each changes, why, and what is expected of it.
void read_variants(TomlReader& root, TomlMistakes& mistakes, Suite& suite);
// [[flag]]: independent changes; the suite's variants are their combinations.
void read_flags(TomlReader& root, TomlMistakes& mistakes, Suite& suite);

}  // namespace fathom::ablate
