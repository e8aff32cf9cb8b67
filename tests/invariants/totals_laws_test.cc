// Sheets that show the same work in different ways have the same totals.
#include <algorithm>
#include <set>

#include "invariants/every_trace.h"

namespace fathom {
namespace {

using test::column;
using test::exact_sum;
using test::real_sum;

class TotalsLaws : public test::LawOfTraces {
 protected:
  SheetInput input() const { return {trace().store, trace().tree, scope_}; }

  std::vector<EventId> kernels() const {
    std::vector<EventId> events;
    std::ranges::copy_if(all_selected(input()), std::back_inserter(events),
                         [this](EventId e) { return trace().store.kind(e) == EventKind::kKernel; });
    return events;
  }

  // The most kernels of a stream that ever run at once: on some GPUs kernels of one stream overlap.
  int most_at_once(int64_t stream) const {
    std::vector<std::pair<Nanos, int>> edges;
    for (EventId e : kernels()) {
      if (trace().store.gpu_work(e).stream != stream) continue;
      edges.emplace_back(trace().store.start(e), 1);
      edges.emplace_back(trace().store.end(e), -1);
    }
    std::ranges::sort(edges);
    int open = 0, most = 0;
    for (const auto& edge : edges) most = std::max(most, open += edge.second);
    return most;
  }

 private:
  Scope scope_;
};

TEST_P(TotalsLaws, ThreeViewsOfTheOpsAgree) {
  const SheetInput in = input();
  const std::vector<Launcher> launchers = find_launchers(in);
  const Table by_category = ops_summary_by_category_sheet(in, launchers);
  const Table by_name = ops_summary_sheet(in, launchers);
  const Table by_args = ops_unique_args_sheet(in, launchers);
  Nanos direct;
  for (const Launcher& l : launchers) direct += l.direct;
  EXPECT_EQ(exact_sum(by_category, "total_direct_kernel_time_ms").count, direct.count);
  EXPECT_EQ(exact_sum(by_name, "total_direct_kernel_time_ms").count, direct.count);
  EXPECT_EQ(exact_sum(by_name, "total_direct_kernel_time_sum").count, direct.count);
  EXPECT_EQ(exact_sum(by_args, "total_direct_kernel_time_sum").count, direct.count);
  EXPECT_EQ(exact_sum(by_name, "total_subtree_kernel_time_sum").count,
            exact_sum(by_args, "total_subtree_kernel_time_sum").count);
  const auto calls = static_cast<double>(launchers.size());
  EXPECT_EQ(real_sum(by_category, "Count"), calls);
  EXPECT_EQ(real_sum(by_name, "Count"), calls);
  EXPECT_EQ(real_sum(by_args, "operation_count"), calls);
}

TEST_P(TotalsLaws, OpsOfOneNameHaveOneTotal) {
  const SheetInput in = input();
  const std::vector<Launcher> launchers = find_launchers(in);
  const Table by_name = ops_summary_sheet(in, launchers);
  const Table by_args = ops_unique_args_sheet(in, launchers);
  std::map<std::string, int64_t> of_names, of_args;
  const auto add = [](const Table& table, std::map<std::string, int64_t>& totals) {
    for (size_t row = 0; row < table.rows(); ++row) {
      totals[column(table, "name").cell(row)] +=
          test::exact_time(column(table, "total_direct_kernel_time_sum"), row).count;
    }
  };
  add(by_name, of_names);
  add(by_args, of_args);
  EXPECT_EQ(of_names, of_args);
  EXPECT_EQ(of_names.size(), by_name.rows()) << "each name once";
}

TEST_P(TotalsLaws, SharesGrowToAHundredPercent) {
  const SheetInput in = input();
  const std::vector<Launcher> launchers = find_launchers(in);
  for (const Table& sheet : {ops_summary_by_category_sheet(in, launchers),
                             ops_summary_sheet(in, launchers), ops_unique_args_sheet(in, launchers),
                             unified_perf_summary_sheet(in, MeasuredOps(in, launchers))}) {
    if (sheet.rows() == 0) continue;
    EXPECT_NEAR(real_sum(sheet, "Percentage (%)"), 100, 1e-6) << sheet.name();
    const Column& share = column(sheet, "Percentage (%)");
    const Column& so_far = column(sheet, "Cumulative Percentage (%)");
    double sum = 0;
    for (size_t row = 0; row < sheet.rows(); ++row) {
      sum += share.number(row);
      EXPECT_NEAR(so_far.number(row), sum, 1e-6) << sheet.name();
      if (row > 0) {
        EXPECT_LE(share.number(row), share.number(row - 1)) << "largest first";
      }
    }
    EXPECT_EQ(so_far.number(sheet.rows() - 1), 100);
  }
}

TEST_P(TotalsLaws, TheKernelSummaryHoldsEveryKernel) {
  const Table sheet = kernel_summary_sheet(input(), find_launchers(input()));
  Nanos time;
  for (EventId e : kernels()) time += trace().store.duration(e);
  EXPECT_EQ(real_sum(sheet, "Kernel duration (µs)_count"), static_cast<double>(kernels().size()));
  EXPECT_EQ(exact_sum(sheet, "Kernel duration (µs)_sum").count, time.count);
  if (time > Nanos{}) {
    EXPECT_NEAR(real_sum(sheet, "Percent of kernels time (%)"), 100, 1e-6);
  }
}

TEST_P(TotalsLaws, AStreamsKernelsTakeNoMoreThanTheTotalTime) {
  const Table sheet = kernel_summary_sheet(input(), find_launchers(input()));
  std::map<int64_t, double> percent;
  for (size_t row = 0; row < sheet.rows(); ++row) {
    if (!column(sheet, "Kernel stream").known(row)) continue;
    percent[std::stoll(column(sheet, "Kernel stream").cell(row))] +=
        column(sheet, "Percent of total time (%)").number(row);
  }
  for (const auto& [stream, sum] : percent) {
    EXPECT_LE(sum, 100.0 * most_at_once(stream) + 1e-6) << "stream " << stream;
  }
}

TEST_P(TotalsLaws, ShortKernelsAreCountedTheSameInBothSheets) {
  const auto is_short = [this](EventId e) { return trace().store.duration(e) < Nanos{10'000}; };
  const std::vector<EventId> all = kernels();
  const auto expected = static_cast<double>(std::ranges::count_if(all, is_short));
  EXPECT_EQ(real_sum(short_kernel_histogram_sheet(input()), "count"), expected);
  EXPECT_EQ(real_sum(short_kernels_summary_sheet(input()), "Short Kernel count"), expected);
}

TEST_P(TotalsLaws, TheUnifiedSheetHasTheTimeOfItsOps) {
  const SheetInput in = input();
  const Table sheet = unified_perf_summary_sheet(in, MeasuredOps(in, find_launchers(in)));
  std::vector<EventId> work;
  std::ranges::copy_if(in.selection.linked(), std::back_inserter(work),
                       [this](EventId e) { return !is_communication_name(trace().store.name(e)); });
  const Nanos busy = busy_time(trace().store, work);
  EXPECT_GE(exact_sum(sheet, "Kernel Time (µs)_sum").count, busy.count);
}

TEST_P(TotalsLaws, TheSummarySaysWhatTheSheetsSay) {
  const Analysis analysis = analyze(trace(), {}).take();
  const Summary& s = analysis.summary;
  EXPECT_EQ(s.events, trace().store.entries());
  EXPECT_EQ(s.gpu_events,
            static_cast<int64_t>(trace().tree.linked().size() + trace().tree.unlinked().size()));
  EXPECT_EQ(s.unlinked.events, static_cast<int64_t>(trace().tree.unlinked().size()));
  int64_t calls = 0;
  for (const Summary::Op& op : s.ops) calls += op.calls;
  // Every op of unified_perf_summary, by its name there.
  EXPECT_EQ(calls, static_cast<int64_t>(find_unified_ops(input(), find_launchers(input())).size()));
  double percent = 0;
  for (const Summary::Op& op : s.ops) percent += op.share_percent;
  if (!s.ops.empty()) {
    EXPECT_NEAR(percent, 100, 1e-6);
  }
  std::set<std::string> names;
  for (const Table& sheet : analysis.sheets) {
    EXPECT_TRUE(names.insert(sheet.name()).second);
    for (const Column& c : sheet.columns()) {
      EXPECT_EQ(c.size(), sheet.rows()) << sheet.name() << ": " << c.name();
    }
  }
}

FATHOM_FOR_EVERY_TRACE(TotalsLaws);

}  // namespace
}  // namespace fathom
