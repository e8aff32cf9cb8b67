#pragma once

#include <string>
#include <vector>

#include "scan/facts/code_facts.h"

namespace fathom {

// The parts of a repository and their imports. Text that a repository chose is made inert.

// Boxes in rows, at most 100 columns wide: what imports stands above what is imported, as far as
// circles allow. For a code block.
std::string part_boxes(const CodeFacts& facts);
// A flowchart for a ```mermaid block; the most frequent imports only.
std::string part_mermaid(const CodeFacts& facts);

// The names of parts without the folders that all parts share: "engine".
class PartNames {
 public:
  explicit PartNames(const CodeFacts& facts);
  std::string of(size_t part) const;

 private:
  const std::vector<FolderFacts>& parts_;
  size_t shared_ = 0;  // the length of what all begin with
};

}  // namespace fathom
