#pragma once

#include <string>

#include "base/json_writer.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// The section of features.md on what the README claims: where the code shows it, what a dependency
// brings along, what nothing shows. Empty where it claims nothing.
std::string claims_markdown(const CodeFacts& facts);

// The value of scan.json's key `readme_claims`: an array, the key being written.
void write_readme_claims(JsonWriter& json, const CodeFacts& facts);

}  // namespace fathom
