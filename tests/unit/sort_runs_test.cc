#include "base/sort_runs.h"

#include <random>

#include "checks.h"

namespace fathom {
namespace {

struct Item {
  int key, place;
  bool operator==(const Item&) const = default;
};

TEST(SortRuns, IsAStableSort) {
  std::mt19937 random(1);
  for (int size = 0; size < 200; ++size) {
    for (int spread : {1, 3, 1000}) {
      std::vector<Item> items;
      for (int i = 0; i < size; ++i) items.push_back({static_cast<int>(random()) % spread, i});
      std::vector<Item> expected = items;
      const auto less = [](const Item& a, const Item& b) { return a.key < b.key; };
      std::ranges::stable_sort(expected, less);
      sort_runs(items, less);
      ASSERT_EQ(items, expected);
    }
  }
}

TEST(SortRuns, ComparesOrderedItemsOnce) {
  std::vector<int> items(1000);
  for (int i = 0; i < 1000; ++i) items[i] = i;
  int comparisons = 0;
  sort_runs(items, [&comparisons](int a, int b) { return ++comparisons, a < b; });
  EXPECT_EQ(comparisons, 999);
}

}  // namespace
}  // namespace fathom
