#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// Paths of one kind, told as one note however many they are.
struct PassedPaths {
  size_t count = 0;
  std::set<std::string> first;  // by name, so that the order of the walk does not show

  void add(const std::string& path) {
    constexpr size_t kNamed = 3;
    ++count;
    first.insert(path);
    if (first.size() > kNamed) first.erase(std::prev(first.end()));
  }
  void tell(std::string_view one, std::string_view several, std::vector<std::string>& notes) const {
    if (count == 0) return;
    notes.push_back(fmt::format("{} {}: {}{}", count, count == 1 ? one : several,
                                fmt::join(first, ", "), count > first.size() ? " …" : ""));
  }
};

}  // namespace fathom
