#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
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
  std::optional<uint32_t> find(std::string_view written, uint32_t from) const;

  const Readings& readings_;
  std::map<std::string_view, std::vector<uint32_t>> by_name_;
  std::vector<std::vector<Include>> includes_;
  mutable std::map<uint32_t, std::vector<uint32_t>> closures_;  // sorted
};

}  // namespace fathom
