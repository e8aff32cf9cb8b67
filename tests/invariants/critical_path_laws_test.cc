// The critical graph of every trace, replayed without a change, gives the recorded times.
#include "analyze/critical/critical_path.h"
#include "analyze/critical/what_if.h"
#include "analyze/pipeline.h"
#include "invariants/every_trace.h"

namespace fathom {
namespace {

class CriticalPathLaws : public test::LawOfTraces {};

TEST_P(CriticalPathLaws, AReplayWithoutAChangeGivesTheRecordedTimes) {
  const Scope scope;
  const SheetInput input(trace().store, trace().tree, scope);
  const CriticalGraph g = build_critical_graph(input, find_time_base(input, work_by_device(input)));
  if (g.empty()) GTEST_SKIP() << g.missing;
  const GraphChange same(g);
  Replayed replayed;
  for (const Outlook outlook : {Outlook::kPessimistic, Outlook::kOptimistic}) {
    replay(g, same, outlook, replayed);
    EXPECT_EQ(replayed.length, g.length);
    // A pause is only as long as recorded where it is taken for work.
    for (uint32_t i = 0; i < g.size(); ++i) {
      if (g.kind[i] == NodeKind::kPause) continue;
      ASSERT_EQ(replayed.ends[i], g.end(i)) << i;
    }
  }
}

TEST_P(CriticalPathLaws, ThePathIsAsLongAsTheStepsAndHasNoSlack) {
  const Scope scope;
  const SheetInput input(trace().store, trace().tree, scope);
  const CriticalPath path(input, find_time_base(input, work_by_device(input)));
  if (!path.missing().empty()) GTEST_SKIP() << path.missing();
  EXPECT_EQ(path.replay_error(), 0);
  int64_t sum = 0;
  for (const int64_t share : path.shares()) {
    EXPECT_GE(share, 0);
    sum += share;
  }
  EXPECT_EQ(sum, path.graph().length);
  const std::vector<int64_t> slack = find_slack(path.graph());
  for (const int64_t s : slack) ASSERT_GE(s, 0);
  const GraphChange same(path.graph());
  Replayed replayed;
  replay(path.graph(), same, Outlook::kOptimistic, replayed);
  for (const PathStep& step : find_path(path.graph(), same, replayed))
    ASSERT_EQ(slack[step.node], 0);
  // The rows are the path: their times add up too.
  int64_t rows = 0;
  for (const PathRow& row : path.rows()) {
    rows += row.on_path;
    EXPECT_LE(row.on_path_count, row.count > 0 ? row.count : INT64_MAX);
  }
  EXPECT_EQ(rows, path.graph().length);
}

TEST_P(CriticalPathLaws, HalvingAllOfOneKindNeverMakesAStepLonger) {
  const Scope scope;
  const SheetInput input(trace().store, trace().tree, scope);
  const CriticalGraph g = build_critical_graph(input, find_time_base(input, work_by_device(input)));
  if (g.empty()) GTEST_SKIP() << g.missing;
  for (int kind = 0; kind < static_cast<int>(NodeKind::kCount); ++kind) {
    int64_t longest = g.length;
    for (const int divisor : {2, 4, 1'000'000'000}) {
      GraphChange change(g);
      for (uint32_t i = 0; i < g.size(); ++i)
        if (static_cast<int>(g.kind[i]) == kind) change.duration[i] /= divisor;
      Replayed optimistic, pessimistic;
      replay(g, change, Outlook::kOptimistic, optimistic);
      replay(g, change, Outlook::kPessimistic, pessimistic);
      EXPECT_LE(optimistic.length, pessimistic.length);
      EXPECT_LE(pessimistic.length, longest);
      longest = pessimistic.length;
    }
  }
}

// The same change, by a finding and by --what-if, is of the same step: one without the profiler.
TEST_P(CriticalPathLaws, FindingsAgreeWithTheSameChangeAsked) {
  constexpr double kRounding = 0.005, kWorthReplaying = 0.01;
  const Scope scope;
  const SheetInput input(trace().store, trace().tree, scope);
  const MeasuredOps ops(input, find_launchers(input));
  const Assessment a(input, ops, detect_platform(trace()));
  const CriticalPath path(input, a.base());
  if (!path.missing().empty()) GTEST_SKIP() << path.missing();
  WhatIf asked(input, path);
  const auto saved_at_most = [&](const std::string& change) {
    return asked.ask(parse_what_if(change).value()).value().saved_at_most + kRounding;
  };
  for (const Finding& f : find_all(a, &path)) {
    const double least = ratio(f.saving_at_least, a.length()),
                 most = ratio(f.saving_at_most, a.length());
    if (most < kWorthReplaying) continue;
    if (f.kind == FindingKind::kLowEfficiency && f.subject.starts_with("aten::")) {
      EXPECT_LE(most, saved_at_most("op=" + f.subject + " x0")) << f.title;
    }
    if (f.kind == FindingKind::kSynchronization) {
      EXPECT_LE(least, saved_at_most("sync remove")) << f.title;
    }
    if (f.kind == FindingKind::kHostBound) {
      EXPECT_LE(least, saved_at_most("host x0.5")) << f.title;
    }
  }
}

FATHOM_FOR_EVERY_TRACE(CriticalPathLaws);

}  // namespace
}  // namespace fathom
