#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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
  bool sees(uint32_t from, uint32_t to) const { return get(closure_, from, to); }
  // Whether some file that includes `from` sees `to`: a header often relies on what stands before
  // it where it is included.
  bool may_see(uint32_t from, uint32_t to) const { return get(context_, from, to); }

 private:
  using Row = std::vector<uint64_t>;  // a bit for each file

  static bool get(const std::vector<Row>& rows, uint32_t from, uint32_t to) {
    return (rows[from][to / 64] >> (to % 64) & 1) != 0;
  }

  std::vector<Row> closure_, context_;
};

}  // namespace fathom::cpp
