#pragma once

#include <map>
#include <vector>

#include "scan/link/readings.h"

namespace fathom {

// Which file of the repository an #include means, by the end of its path.
class IncludeGraph {
 public:
  explicit IncludeGraph(const Readings& readings);

  struct Include {
    uint32_t file;
    uint32_t line;
  };
  // Of those that the repository holds, in order of line.
  const std::vector<Include>& includes_of(uint32_t file) const { return includes_[file]; }
  // Whether `header` is included from `file`, through others too.
  bool reaches(uint32_t file, uint32_t header) const;

 private:
  const Readings& readings_;
  std::vector<std::vector<Include>> includes_;
  mutable std::map<uint32_t, std::vector<uint32_t>> closures_;  // sorted
};

}  // namespace fathom
