// Every path of the common prefix against a plain loop, and the radix tree against a model that
// keeps each prefix by itself.
#include <map>
#include <random>
#include <vector>

#include "checks.h"
#include "prefix.h"
#include "radix_tree.h"

namespace fathom::radix {
namespace {

template <class T>
size_t plain_prefix(std::span<const T> a, std::span<const T> b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  return i;
}

TEST(CommonPrefix, EveryPathFindsTheFirstDifferenceAtEveryOffset) {
  std::mt19937 random(20261115);
  std::vector<char> a(1200), b;
  for (char& byte : a) byte = static_cast<char>(random());
  b = a;
  for (const PrefixPath path : {PrefixPath::kPortable, PrefixPath::kAvx2, PrefixPath::kAvx512}) {
    if (!supports(path)) continue;
    const FirstDifference find = first_difference(path);
    for (const size_t shift : {0, 1, 4, 31}) {
      for (size_t bytes = 0; bytes < 700; bytes += bytes < 300 ? 1 : 37) {
        ASSERT_EQ(find(&a[shift], &b[shift], bytes), bytes) << name_of(path);
        // What lies behind the end must not count.
        b[shift + bytes] = static_cast<char>(~b[shift + bytes]);
        ASSERT_EQ(find(&a[shift], &b[shift], bytes), bytes) << name_of(path) << " " << bytes;
        b[shift + bytes] = a[shift + bytes];
        if (bytes == 0) continue;
        for (const size_t at : {size_t{0}, bytes / 2, bytes - 1}) {
          b[shift + at] = static_cast<char>(b[shift + at] ^ 0x10);
          ASSERT_EQ(find(&a[shift], &b[shift], bytes), at) << name_of(path) << " " << bytes;
          b[shift + at] = a[shift + at];
        }
      }
    }
  }
}

template <class T>
void expect_plain_prefix(std::mt19937& random) {
  for (int round = 0; round < 3000; ++round) {
    std::vector<T> a(random() % 200);
    for (T& token : a) token = static_cast<T>(random());
    std::vector<T> b = a;
    b.resize(random() % 200);
    if (!b.empty() && round % 3 != 0) b[random() % b.size()] ^= T{1} << (random() % 31);
    const std::span<const T> left(a), right(b);
    ASSERT_EQ(common_prefix(left, right), plain_prefix(left, right));
    ASSERT_EQ(common_prefix(right, left), plain_prefix(left, right));
  }
}

TEST(CommonPrefix, IsThePlainLoop) {
  std::mt19937 random(7);
  expect_plain_prefix<int32_t>(random);
  expect_plain_prefix<int64_t>(random);
}

TEST(CommonPrefix, SeesTheUpperHalfOfLongTokens) {
  std::vector<int64_t> a(40, 5), b(40, 5);
  b[20] += int64_t{1} << 40;
  EXPECT_EQ(common_prefix(std::span<const int64_t>(a), std::span<const int64_t>(b)), 20u);
}

using Tokens = std::vector<Token>;

// Each kept prefix is an entry of its own. Its extensions follow it in the order of the map.
class NaiveTree {
 public:
  std::vector<Slot> match(const Tokens& tokens) {
    std::vector<Slot> slots;
    ++now_;
    for_each_kept(tokens, [&](Entry& entry) {
      entry.last_use = now_;
      slots.push_back(entry.slot);
    });
    return slots;
  }
  size_t insert(const Tokens& tokens, const std::vector<Slot>& slots) {
    const size_t had = match(tokens).size();
    for (size_t length = had + 1; length <= tokens.size(); ++length) {
      entries_[first(tokens, length)] = {slots[length - 1], now_, 0};
    }
    return had;
  }
  Tokens hold(const Tokens& tokens) {
    const size_t length = match(tokens).size();
    for_each_kept(first(tokens, length), [](Entry& entry) { ++entry.holds; });
    return first(tokens, length);
  }
  void release(const Tokens& held) {
    for_each_kept(held, [](Entry& entry) { --entry.holds; });
  }
  std::vector<Slot> evict(size_t count) {
    std::vector<Slot> freed;
    while (freed.size() < count) {
      auto oldest = entries_.end();
      for (auto it = entries_.begin(); it != entries_.end(); ++it) {
        if (!is_end(it) || it->second.holds > 0) continue;
        if (oldest == entries_.end() || it->second.last_use < oldest->second.last_use) oldest = it;
      }
      if (oldest == entries_.end()) break;
      freed.push_back(oldest->second.slot);
      entries_.erase(oldest);
    }
    return freed;
  }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Slot slot = 0;
    uint64_t last_use = 0;
    int holds = 0;
  };
  using Entries = std::map<Tokens, Entry>;

  static Tokens first(const Tokens& tokens, size_t length) {
    return Tokens(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(length));
  }
  template <class Do>
  void for_each_kept(const Tokens& tokens, Do act) {
    for (size_t length = 1; length <= tokens.size(); ++length) {
      const auto found = entries_.find(first(tokens, length));
      if (found == entries_.end()) return;
      act(found->second);
    }
  }
  bool is_end(Entries::iterator it) {
    const auto next = std::next(it);
    return next == entries_.end() || next->first.size() <= it->first.size() ||
           !std::equal(it->first.begin(), it->first.end(), next->first.begin());
  }

  Entries entries_;
  uint64_t now_ = 0;
};

// Few different tokens, and often a prefix of what came before, so that sequences share much.
Tokens random_tokens(std::mt19937& random, const std::vector<Tokens>& before) {
  Tokens tokens;
  if (!before.empty() && random() % 3 != 0) {
    const Tokens& base = before[random() % before.size()];
    tokens.assign(base.begin(),
                  base.begin() + static_cast<std::ptrdiff_t>(random() % (base.size() + 1)));
  }
  const size_t more = random() % 12;
  for (size_t i = 0; i < more; ++i) tokens.push_back(static_cast<Token>(random() % 3));
  return tokens;
}

void run_against_model(unsigned seed) {
  std::mt19937 random(seed);
  RadixTree tree;
  NaiveTree model;
  std::vector<Tokens> before;
  std::vector<std::pair<RadixTree::Hold, Tokens>> holds;
  Slot next_slot = 0;
  for (int step = 0; step < 300; ++step) {
    const Tokens tokens = random_tokens(random, before);
    const auto what = random() % 10;
    if (what < 4) {
      std::vector<Slot> slots(tokens.size());
      for (Slot& slot : slots) slot = next_slot++;
      ASSERT_EQ(tree.insert(tokens, slots), model.insert(tokens, slots)) << "step " << step;
      before.push_back(tokens);
    } else if (what < 6) {
      ASSERT_EQ(tree.match(tokens), model.match(tokens)) << "step " << step;
    } else if (what == 6) {
      holds.emplace_back(tree.hold(tokens), model.hold(tokens));
    } else if (what == 7 && !holds.empty()) {
      tree.release(std::move(holds.back().first));
      model.release(holds.back().second);
      holds.pop_back();
    } else {
      const size_t count = random() % 9 == 0 ? 1000 : random() % 9;
      ASSERT_EQ(tree.evict(count), model.evict(count)) << "step " << step;
    }
    ASSERT_EQ(tree.size(), model.size()) << "step " << step;
  }
}

TEST(RadixTree, DoesWhatTheModelDoes) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    run_against_model(seed);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
  }
}

TEST(RadixTree, SharedPrefixKeepsTheFirstSlots) {
  RadixTree tree;
  EXPECT_EQ(tree.insert(Tokens{1, 2, 3}, Tokens{10, 11, 12}), 0u);
  EXPECT_EQ(tree.insert(Tokens{1, 2, 4}, Tokens{20, 21, 22}), 2u);
  EXPECT_EQ(tree.size(), 4u);
  EXPECT_EQ(tree.match(Tokens{1, 2, 4, 9}), (std::vector<Slot>{10, 11, 22}));
  EXPECT_EQ(tree.match(Tokens{9}), std::vector<Slot>{});
}

TEST(RadixTree, EvictsTheLeastRecentlyUsedEndAndNothingThatIsHeld) {
  RadixTree tree;
  tree.insert(Tokens{1, 2, 3}, Tokens{10, 11, 12});
  tree.insert(Tokens{1, 5}, Tokens{10, 15});
  RadixTree::Hold hold = tree.hold(Tokens{1, 2});
  EXPECT_EQ(tree.evict(100), (std::vector<Slot>{12, 15}));
  EXPECT_EQ(tree.size(), 2u);
  tree.release(std::move(hold));
  EXPECT_EQ(tree.evict(1), (std::vector<Slot>{11}));
  EXPECT_EQ(tree.evict(100), (std::vector<Slot>{10}));
  EXPECT_EQ(tree.size(), 0u);
}

}  // namespace
}  // namespace fathom::radix
