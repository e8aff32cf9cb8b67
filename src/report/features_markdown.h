#pragma once

#include <string>

#include "base/json_writer.h"
#include "scan/code_facts.h"

namespace fathom {

// features.md: which techniques the code uses, what they mean for the hardware, which options
// affect them and what to measure; the overview first, a section for each feature below.
std::string features_markdown(const CodeFacts& facts);

// A table of the components, for the report about the architecture.
std::string components_table(const CodeFacts& facts);

// The values of scan.json's keys `components` and `features`: arrays, the keys being written.
void write_components(JsonWriter& json, const CodeFacts& facts);
void write_features(JsonWriter& json, const CodeFacts& facts);

}  // namespace fathom
