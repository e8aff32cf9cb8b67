#include "base/worker_pool.h"

#include <atomic>

#include "checks.h"

namespace fathom {
namespace {

TEST(RunInOrder, ResultsComeInTheOrderProduced) {
  for (size_t threads : {1, 2, 7}) {
    WorkerPool pool(threads);
    int next = 0;
    std::vector<int> squares;
    const Status done = run_in_order<int>(
        pool,
        [&]() -> Result<std::optional<int>> {
          return next == 500 ? std::optional<int>() : std::optional<int>(next++);
        },
        [](int i) { return i * i; }, [&](int square) { squares.push_back(square); });
    ASSERT_TRUE(done.ok());
    ASSERT_EQ(squares.size(), 500u);
    for (int i = 0; i < 500; ++i) EXPECT_EQ(squares[static_cast<size_t>(i)], i * i);
  }
}

TEST(RunInOrder, OnlyAFewItemsAreInFlight) {
  WorkerPool pool(3);
  int produced = 0, consumed = 0, most = 0;
  const Status done = run_in_order<int>(
      pool,
      [&]() -> Result<std::optional<int>> {
        most = std::max(most, produced - consumed);
        return produced == 200 ? std::optional<int>() : std::optional<int>(produced++);
      },
      [](int i) { return i; }, [&](int) { ++consumed; });
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(consumed, 200);
  EXPECT_LE(most, 4);
}

TEST(RunInOrder, AnErrorEndsItAfterTheWorkThatWasBegun) {
  WorkerPool pool(2);
  std::atomic<int> worked = 0;
  int produced = 0;
  const Status done = run_in_order<int>(
      pool,
      [&]() -> Result<std::optional<int>> {
        if (produced == 5) return Error{"the disk is gone"};
        return std::optional<int>(produced++);
      },
      [&worked](int i) {
        ++worked;
        return i;
      },
      [](int) {});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message, "the disk is gone");
  EXPECT_EQ(worked, 5);
}

TEST(RunInOrder, NothingProducedIsNothingDone) {
  WorkerPool pool(2);
  const Status done = run_in_order<int>(
      pool, []() -> Result<std::optional<int>> { return std::optional<int>(); },
      [](int i) { return i; }, [](int) { FAIL(); });
  EXPECT_TRUE(done.ok());
}

}  // namespace
}  // namespace fathom
