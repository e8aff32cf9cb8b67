#include "base/closest_names.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/utf8.h"

namespace fathom {
namespace {

constexpr size_t kLongest = 200;  // of what is compared: names of a trace may be of any length

// Characters added, left out, replaced, or swapped with their neighbour.
size_t changes_between(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> closest_names(std::string_view name, std::span<const std::string> names,
                                       size_t count) {
  name = name.substr(0, kLongest);
  std::vector<std::tuple<bool, size_t, size_t>> ranked;  // lacks it, changes, place
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view other = std::string_view(names[i]).substr(0, kLongest);
    const bool contains = !name.empty() && other.find(name) != std::string_view::npos;
    const size_t changes = changes_between(name, other);
    if (contains || changes <= (name.size() + 2) / 3) ranked.emplace_back(!contains, changes, i);
  }
  std::ranges::sort(ranked);
  if (ranked.size() > count) ranked.resize(count);
  std::vector<std::string> closest;
  for (const auto& [lacks, changes, place] : ranked) closest.push_back(names[place]);
  return closest;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> names) {
  const std::vector<std::string> closest = closest_names(name, names, 1);
  return closest.empty() ? std::string()
                         : "; did you mean '" + cut_to_bytes(closest.front(), 200) + "'?";
}

}  // namespace fathom
