#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace fathom {

// Which files of a repository see which others through #include.
class IncludeGraph {
 public:
  struct File {
    std::string path;                   // relative to the repository
    std::vector<std::string> includes;  // as written, with or without "" or <>
    std::vector<uint32_t> lines = {};   // of each of them; empty: nobody asks
  };

  explicit IncludeGraph(const std::vector<File>& files);

  struct Include {
    uint32_t file;
    uint32_t line;
  };
  // Of those that the repository holds, in order of line.
  const std::vector<Include>& includes_of(uint32_t file) const { return includes_[file]; }

  // Whether `from` is or includes `to`, directly or not.
  bool sees(uint32_t from, uint32_t to) const;
  // Whether some file that includes `from` sees `to`: a header often relies on what stands before
  // it where it is included.
  bool may_see(uint32_t from, uint32_t to) const;
  // All files that `from` sees, itself within, sorted.
  const std::vector<uint32_t>& seen_by(uint32_t from) const { return closure(from); }
  // Those, and what may_see adds.
  const std::vector<uint32_t>& around(uint32_t from) const { return context(from); }

 private:
  using Kept = std::unordered_map<uint32_t, std::vector<uint32_t>>;  // sorted files, by file

  void follow(const std::vector<std::vector<Include>>& edges, std::vector<uint32_t>& files) const;
  const std::vector<uint32_t>& keep(Kept& kept, uint32_t from, std::vector<uint32_t> files) const;
  const std::vector<uint32_t>& closure(uint32_t from) const;
  const std::vector<uint32_t>& context(uint32_t from) const;

  std::vector<std::vector<Include>> includes_, included_by_;
  // Worked out when asked for: of all files together they may be the square of their number.
  mutable Kept closures_, contexts_;
  mutable std::vector<uint32_t> seen_in_;  // the last round that met a file
  mutable uint32_t round_ = 0;
  mutable size_t steps_left_, kept_members_ = 0;
};

}  // namespace fathom
