#pragma once

#include <string>

#include "scan/code_facts.h"

namespace fathom {

// The parts of a repository and their imports. Text that a repository chose is made inert.

// Boxes in rows, at most 100 columns wide: what imports stands above what is imported, as far as
// circles allow. For a code block.
std::string part_boxes(const CodeFacts& facts);
// A flowchart for a ```mermaid block; the most frequent imports only.
std::string part_mermaid(const CodeFacts& facts);

// The name of a part without the folders that all parts share: "engine".
std::string short_part_name(const CodeFacts& facts, size_t part);

}  // namespace fathom
