#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scan/index/file_code.h"

namespace fathom {

// A function of one of the two languages; a Python module that is run has kPythonModuleLevel.
struct FunctionNode {
  bool cpp = false;
  uint32_t file = 0, index = 0;
  friend auto operator<=>(const FunctionNode&, const FunctionNode&) = default;
};

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

// The same for all files of a repository, which must outlive it.
class FunctionPlaces {
 public:
  explicit FunctionPlaces(const std::vector<FileCode>& files) : files_(files) {}

  // The innermost function around a line; in a Python file a line may stand in a literal of C++.
  std::optional<FunctionNode> at(const CodePlace& place) const;
  // Its name with the scopes around it. Of a Python file also a function of C++ in a literal;
  // empty: the line stands in none.
  std::string name_at(const CodePlace& place) const;

 private:
  const FunctionsByLine& in(uint32_t file, bool cpp) const;

  const std::vector<FileCode>& files_;
  mutable std::map<std::pair<uint32_t, bool>, FunctionsByLine> known_;  // by file and language
};

}  // namespace fathom
