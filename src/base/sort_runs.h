#pragma once

#include <algorithm>
#include <vector>

namespace fathom {

// Sorts what already lies in a few ascending runs, as a profiler's events do: merges them, in
// linear time when there is one, and in n log n at worst. Equal items keep their order.
template <typename T, typename Less>
void sort_runs(std::vector<T>& items, Less less) {
  std::vector<size_t> bounds = {0};
  for (size_t i = 1; i < items.size(); ++i) {
    if (less(items[i], items[i - 1])) bounds.push_back(i);
  }
  bounds.push_back(items.size());
  std::vector<T> merged;
  while (bounds.size() > 2) {
    merged.clear();
    merged.reserve(items.size());
    std::vector<size_t> merged_bounds = {0};
    const auto at = [&](size_t run) {
      return items.begin() + static_cast<std::ptrdiff_t>(bounds[std::min(run, bounds.size() - 1)]);
    };
    for (size_t run = 0; run + 1 < bounds.size(); run += 2) {
      std::merge(at(run), at(run + 1), at(run + 1), at(run + 2), std::back_inserter(merged), less);
      merged_bounds.push_back(merged.size());
    }
    items.swap(merged);
    bounds.swap(merged_bounds);
  }
}

}  // namespace fathom
