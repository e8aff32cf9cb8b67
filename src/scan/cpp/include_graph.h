#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace fathom::cpp {

// Which files of a repository see which others through #include.
class IncludeGraph {
 public:
  struct File {
    std::string path;                   // relative to the repository
    std::vector<std::string> includes;  // as written, with or without "" or <>
  };

  explicit IncludeGraph(const std::vector<File>& files);

  // Whether `from` is or includes `to`, directly or not.
  bool sees(uint32_t from, uint32_t to) const;
  // Whether some file that includes `from` sees `to`: a header often relies on what stands before
  // it where it is included.
  bool may_see(uint32_t from, uint32_t to) const;

 private:
  using Kept = std::unordered_map<uint32_t, std::vector<uint32_t>>;  // sorted files, by file

  void follow(const std::vector<std::vector<uint32_t>>& edges, std::vector<uint32_t>& files) const;
  const std::vector<uint32_t>& keep(Kept& kept, uint32_t from, std::vector<uint32_t> files) const;
  const std::vector<uint32_t>& closure(uint32_t from) const;
  const std::vector<uint32_t>& context(uint32_t from) const;

  std::vector<std::vector<uint32_t>> includes_, included_by_;
  // Worked out when asked for: of all files together they may be the square of their number.
  mutable Kept closures_, contexts_;
  mutable std::vector<uint32_t> seen_in_;  // the last round that met a file
  mutable uint32_t round_ = 0;
  mutable size_t steps_left_, kept_members_ = 0;
};

}  // namespace fathom::cpp
