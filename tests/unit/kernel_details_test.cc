#include "sheets/kernel_details.h"

#include <algorithm>

#include "checks.h"
#include "sheets/sheets.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::cpu_op;
using test::kernel;
using test::launch_call;
using test::open_events;

// Two calls of one op with the same arguments for which the library chose different kernels.
TEST(KernelDetails, TimeStandsUnderTheKernelThatTookIt) {
  const Trace trace =
      open_events({kernel("small_tile", 10, 30, 1), kernel("large_tile", 50, 400, 2),
                   kernel("small_tile", 500, 32, 3)});
  const auto find = [&](size_t i) { return EventId(i); };
  const std::vector<EventId> a = {find(0)}, b = {find(1)}, c = {find(2)};
  const auto details = summarize_kernels(trace.store, {a, b, c});
  ASSERT_EQ(details.size(), 2u);
  EXPECT_EQ(details[0].name, "small_tile");
  EXPECT_EQ(details[0].duration.sum, test::micros(62));
  EXPECT_EQ(details[0].duration.count, 2u);
  EXPECT_EQ(details[1].name, "large_tile");
  EXPECT_EQ(details[1].duration.sum, test::micros(400));
}

// Near-twin: the same kernels in all calls stay one entry each.
TEST(KernelDetails, CallsThatAgreeAreOneEntryForEachPlace) {
  const Trace trace = open_events(
      {kernel("x", 10, 1, 1), kernel("y", 20, 2, 1), kernel("x", 30, 3, 2), kernel("y", 40, 4, 2)});
  const std::vector<EventId> a = {EventId(0), EventId(1)}, b = {EventId(2), EventId(3)};
  const auto details = summarize_kernels(trace.store, {a, b});
  ASSERT_EQ(details.size(), 2u);
  EXPECT_EQ(details[0].duration.sum, test::micros(4));
  EXPECT_EQ(details[1].duration.sum, test::micros(6));
}

// Two GPUs, each busy half of the time: together they are at half.
TEST(KernelSummary, PercentOfTotalTimeIsOverAllGpus) {
  const auto shares = [](int64_t second_device) {
    const Trace trace =
        open_events({launch_call(0, 2, 1), kernel("k", 10, 100, 1, 7, 0), launch_call(3, 2, 2),
                     kernel("k", 110, 100, 2, 7, second_device)});
    const Scope scope;
    const SheetInput input(trace.store, trace.tree, scope);
    const Table table = kernel_summary_sheet(input, find_launchers(input));
    const auto column = std::ranges::find(table.columns(), "Percent of total time (%)",
                                          [](const Column& c) { return c.name(); });
    return column->number(0);
  };
  EXPECT_NEAR(shares(1), 50, 1e-9);
  EXPECT_NEAR(shares(0), 100, 1e-9) << "one GPU that is busy all the time";
}

}  // namespace
}  // namespace fathom
