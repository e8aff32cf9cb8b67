// Recordings of whole programs: the steady state lies between their first uses.
#include "analyze/start_up.h"

#include <fmt/format.h>

#include "checks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::kernel;
using test::launch_call;
using test::micros;

using Events = std::vector<std::string>;

// A kernel whose launch loads its code: it takes as long as is said.
void load(Events& events, std::string_view name, int64_t at, int64_t length, int64_t correlation) {
  events.push_back(launch_call(at, length, correlation));
  events.push_back(kernel(name, at + length + 5, 10, correlation));
}

// 40 launches, each 100 µs after the one before, of 60 µs.
void work(Events& events, int64_t at, int64_t first_correlation = 100) {
  for (int64_t i = 0; i < 40; ++i) {
    events.push_back(launch_call(at + 100 * i, 5, first_correlation + i));
    events.push_back(kernel("gemm", at + 100 * i + 10, 60, first_correlation + i));
  }
}

std::optional<Scope::SteadyState> steady_of(const Events& events, const Scope& scope = {}) {
  const Trace trace = test::open_events(events);
  return find_steady_state(SheetInput(trace.store, trace.tree, scope));
}

TEST(StartUp, IsLeftOutOfTheTimeBase) {
  Events events;
  load(events, "fill", 0, 2000, 1);
  load(events, "gemm", 2100, 20'000, 2);
  work(events, 22'200);
  const Trace trace = test::open_events(events);
  Scope scope;
  const SheetInput whole(trace.store, trace.tree, scope);
  scope.steady = find_steady_state(whole);
  ASSERT_TRUE(scope.steady);
  EXPECT_EQ(scope.steady->when.begin, micros(22'115)) << "the loaded kernel has run";
  EXPECT_EQ(scope.steady->recorded.end - scope.steady->recorded.begin, micros(26'170));
  EXPECT_GE(scope.steady->first_use, micros(21'000));
  const SheetInput input(trace.store, trace.tree, scope);
  EXPECT_EQ(input.selection.linked().size(), 40u);
  const TimeBase base = find_time_base(input, work_by_device(input));
  ASSERT_TRUE(base.start_up);
  EXPECT_EQ(base.start_up->time + base.wall(), base.start_up->recorded);
  EXPECT_EQ(base.devices[0].busy, micros(40 * 60));
  EXPECT_EQ(base.devices[0].busy + base.devices[0].idle, base.wall());
}

TEST(StartUp, FirstUsesAtTheEndAreLeftOutToo) {
  Events events;
  load(events, "gemm", 0, 20'000, 1);
  work(events, 20'100);
  load(events, "check", 24'200, 9000, 2);
  const auto steady = steady_of(events);
  ASSERT_TRUE(steady);
  EXPECT_LE(steady->when.end, micros(24'200));
  EXPECT_GE(steady->when.end, micros(24'070));
}

// A compiler launches more than the loop after it, and computes next to nothing.
TEST(StartUp, ManyShortLaunchesBeforeALongCompilationAreNoSteadyState) {
  Events events;
  load(events, "fill", 0, 2000, 1);
  for (int64_t i = 0; i < 90; ++i) {
    events.push_back(launch_call(2100 + 20 * i, 5, 300 + i));
    events.push_back(kernel("trial", 2100 + 20 * i + 10, 1, 300 + i));
  }
  load(events, "gemm", 4000, 50'000, 2);
  work(events, 54'200);
  const auto steady = steady_of(events);
  ASSERT_TRUE(steady);
  EXPECT_GE(steady->when.begin, micros(54'000));
}

// What the host does between the last first use and the first step is part of the start-up.
TEST(StartUp, TheSteadyStateBeginsWithItsFirstStep) {
  Events events;
  load(events, "gemm", 0, 20'000, 1);
  events.push_back(launch_call(20'200, 5, 2));
  events.push_back(kernel("fill", 20'210, 10, 2));
  work(events, 26'000);
  for (int64_t i = 0; i < 10; ++i)
    events.push_back(test::annotation("decode", 25'995 + 400 * i, 390));
  events.push_back(test::annotation("decode", 0, 20'100));  // the warm-up
  const auto steady = steady_of(events);
  ASSERT_TRUE(steady);
  EXPECT_EQ(steady->when.begin, micros(25'995));
}

TEST(StartUp, FewStepsBehindALongCompilationAreTheSteadyState) {
  Events events;
  load(events, "fill", 0, 2000, 1);
  load(events, "gemm", 2100, 60'000'000, 2);
  work(events, 60'002'200);
  const auto steady = steady_of(events);
  ASSERT_TRUE(steady);
  EXPECT_EQ(steady->when.begin, micros(60'002'115));
}

TEST(StartUp, IsNotClear) {
  Events short_one;
  load(short_one, "gemm", 0, 300, 1);
  work(short_one, 400);
  EXPECT_FALSE(steady_of(short_one)) << "a small part of the recording";
  Events late;
  work(late, 0);
  load(late, "other", 4200, 20'000, 1);
  EXPECT_FALSE(steady_of(late)) << "no start-up: the work comes first";
  Events spread;
  for (int64_t i = 0; i < 30; ++i) load(spread, fmt::format("kernel {}", i), 5000 * i, 4000, i + 1);
  EXPECT_FALSE(steady_of(spread)) << "code is loaded all the time";
  Events copies;
  copies.push_back(launch_call(0, 20'000, 1, "1", "cudaMemcpyAsync"));
  copies.push_back(kernel("gemm", 20'005, 10, 1));
  work(copies, 20'100);
  EXPECT_FALSE(steady_of(copies)) << "a long copy loads nothing";
}

TEST(StartUp, MarkedStepsStayWhatTheyAre) {
  Events events;
  load(events, "gemm", 0, 20'000, 1);
  work(events, 20'100);
  for (int64_t i = 0; i < 5; ++i)
    events.push_back(test::annotation(fmt::format("ProfilerStep#{}", i), 4900 * i, 4900));
  EXPECT_FALSE(steady_of(events));
}

}  // namespace
}  // namespace fathom
