#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace fathom {

// The innermost function around each line of a file: of those that begin last, the last one.
// Generated files have thousands of functions and ask for each.
class FunctionsByLine {
 public:
  template <typename Functions>
  explicit FunctionsByLine(const Functions& functions) {
    std::vector<std::pair<uint32_t, uint32_t>> starts;  // a function's first line and number
    std::set<uint32_t> lines;                           // where the answer may change
    for (uint32_t i = 0; i < functions.size(); ++i) {
      if (functions[i].line_last < functions[i].line_first) continue;
      starts.emplace_back(functions[i].line_first, i);
      lines.insert({functions[i].line_first, functions[i].line_last + 1});
    }
    std::sort(starts.begin(), starts.end());
    std::vector<uint32_t> open;  // that began and may have ended, the innermost last
    size_t next = 0;
    for (const uint32_t line : lines) {
      while (next < starts.size() && starts[next].first <= line)
        open.push_back(starts[next++].second);
      while (!open.empty() && functions[open.back()].line_last < line) open.pop_back();
      from_.emplace_back(line, open.empty() ? std::nullopt : std::optional(open.back()));
    }
  }

  std::optional<uint32_t> at(uint32_t line) const {
    const auto after =
        std::upper_bound(from_.begin(), from_.end(), line,
                         [](uint32_t wanted, const auto& part) { return wanted < part.first; });
    return after == from_.begin() ? std::nullopt : std::prev(after)->second;
  }

 private:
  std::vector<std::pair<uint32_t, std::optional<uint32_t>>> from_;
};

}  // namespace fathom
