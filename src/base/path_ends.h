#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// Paths by their ends, as #include and documents write them: "kernels/a.h" is "src/kernels/a.h".
// However many files have one name, a question costs the logarithm of it.
class PathEnds {
 public:
  explicit PathEnds(std::vector<std::string_view> paths);

  // Whether some path ends with "/" and this.
  bool has_below_folder(std::string_view end) const;
  // The position of the path that is this or ends with "/" and this; of several the first of those
  // that share most of their beginning with `near`.
  std::optional<uint32_t> nearest(const std::string& end, std::string_view near);

 private:
  const std::vector<uint32_t>& all_with(const std::string& end);

  std::vector<std::string_view> paths_;
  std::vector<std::pair<std::string, uint32_t>> reversed_;  // written from behind, sorted
  std::map<std::string, std::vector<uint32_t>> asked_;      // by end: in order of path
};

}  // namespace fathom
