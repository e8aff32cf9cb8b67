// Every sum of a diff closes, for every pair of example traces and any number of steps.
#include <filesystem>
#include <map>
#include <memory>
#include <tuple>

#include "analyze/diff/diff.h"
#include "invariants/every_trace.h"
#include "report/csv.h"
#include "session/compare.h"
#include "test_files.h"

namespace fathom {
namespace {

const Trace& opened(const std::string& path) {
  static std::map<std::string, std::unique_ptr<Trace>> traces;
  std::unique_ptr<Trace>& trace = traces[path];
  if (trace == nullptr) trace = std::make_unique<Trace>(open_trace(path).take());
  return *trace;
}

// Two examples, with and without unlinked work. Most laws look at the same diffs, each made once.
struct Pair {
  std::string a, b;
  Scope scope;

  SheetInput input(const std::string& path) const {
    const Trace& trace = opened(path);
    return SheetInput(trace.store, trace.tree, scope);
  }
  const Diff& diff() const {
    static std::map<std::tuple<std::string, std::string, bool>, Diff> made;
    const auto [found, is_new] = made.try_emplace({a, b, scope.include_unlinked});
    if (is_new) found->second = diff_traces(input(a), input(b));
    return found->second;
  }
  Pair turned() const { return {b, a, scope}; }
};

class DiffLaws : public ::testing::TestWithParam<std::string> {
 protected:
  // With every example, itself too.
  template <typename Law>
  void for_every_other(Law law) const {
    for (const auto& other : test::example_traces()) {
      for (const bool include_unlinked : {false, true}) {
        Scope scope;
        scope.include_unlinked = include_unlinked;
        SCOPED_TRACE(other.filename().string());
        law(Pair{GetParam(), other.string(), scope});
      }
    }
  }
};

Nanos durations(const SheetInput& input) {
  Nanos sum;
  for (EventId e : timeline_events(input)) sum += input.store.duration(e);
  return sum;
}

TEST_P(DiffLaws, OpsKernelsAndCategoriesAddUpToAllGpuWork) {
  for_every_other([](const Pair& pair) {
    const Diff& diff = pair.diff();
    const Change whole{durations(pair.input(pair.a)), durations(pair.input(pair.b))};
    EXPECT_EQ(diff.work(), whole);
    Change ops, categories;
    for (const OpChange& op : diff.ops) {
      Change kernels;
      for (const KernelChange& kernel : op.kernels) {
        kernels.a += kernel.time.a;
        kernels.b += kernel.time.b;
      }
      EXPECT_EQ(kernels, op.time()) << op.name;
      ops.a += op.time().a;
      ops.b += op.time().b;
    }
    for (const CategoryChange& category : diff.categories) {
      categories.a += category.time.a;
      categories.b += category.time.b;
    }
    EXPECT_EQ(ops, whole);
    EXPECT_EQ(categories, whole);
  });
}

TEST_P(DiffLaws, DifferencesAddUpToTheDifferenceOfTheTotals) {
  for_every_other([](const Pair& pair) {
    const Diff& diff = pair.diff();
    WideInteger ops = 0, parts = 0, total = 0;
    for (const OpChange& op : diff.ops) ops += scaled_difference(op.time(), diff.per);
    EXPECT_TRUE(ops == scaled_difference(diff.work(), diff.per));
    for (const TimelineChange& change : timeline_changes(diff)) {
      if (change.is_part) parts += scaled_difference(change.time, diff.per);
      if (change.name == "total") total = scaled_difference(change.time, diff.per);
    }
    EXPECT_TRUE(parts == total);
    const Explanation all = explain(diff);
    EXPECT_NEAR(all.more + all.less, difference(diff.work(), diff.per), 1);
  });
}

TEST_P(DiffLaws, EveryCallIsInOneRow) {
  for_every_other([](const Pair& pair) {
    const Diff& diff = pair.diff();
    int64_t a_ops = 0, b_ops = 0, a_categories = 0, b_categories = 0;
    for (const OpChange& op : diff.ops) {
      a_ops += op.a ? op.a->calls : 0;
      b_ops += op.b ? op.b->calls : 0;
      EXPECT_EQ(op.matched == MatchedBy::kNothing, !op.a || !op.b);
    }
    for (const CategoryChange& category : diff.categories) {
      a_categories += category.calls_a;
      b_categories += category.calls_b;
    }
    EXPECT_EQ(a_ops, a_categories);
    EXPECT_EQ(b_ops, b_categories);
  });
}

TEST_P(DiffLaws, TheLargestDifferenceComesFirst) {
  for_every_other([](const Pair& pair) {
    const Diff& diff = pair.diff();
    for (size_t i = 1; i < diff.ops.size(); ++i) {
      EXPECT_GE(std::abs(difference(diff.ops[i - 1].time(), diff.per)),
                std::abs(difference(diff.ops[i].time(), diff.per)));
    }
  });
}

TEST_P(DiffLaws, TheOtherWayRoundTheSignsTurn) {
  for_every_other([](const Pair& pair) {
    const Diff &there = pair.diff(), &back = pair.turned().diff();
    EXPECT_EQ(there.work(), (Change{back.b.work, back.a.work}));
    ASSERT_EQ(there.ops.size(), back.ops.size());
    int matched = 0;
    for (const OpChange& op : there.ops) matched += op.a && op.b;
    for (const OpChange& op : back.ops) matched -= op.a && op.b;
    EXPECT_EQ(matched, 0);
  });
}

TEST_P(DiffLaws, ATraceDoesNotDifferFromItself) {
  const Trace& trace = opened(GetParam());
  const DiffReport report = compare(trace, trace, {}, {}).take();
  EXPECT_TRUE(nothing_differs(report.diff));
  EXPECT_TRUE(report.same_file);
}

TEST_P(DiffLaws, TheSameTracesGiveTheSameBytes) {
  const Trace &a = opened(GetParam()), &b = opened(test::example_traces().front().string());
  const DiffReport first = compare(a, b, {}, {}).take();
  const DiffReport second = compare(open_trace(a.path).take(), b, {}, {}).take();
  EXPECT_EQ(diff_text(first, {}), diff_text(second, {}));
  EXPECT_EQ(diff_markdown(first), diff_markdown(second));
  EXPECT_EQ(diff_json(first), diff_json(second));
  const std::vector<Table> tables = diff_tables(first.diff), again = diff_tables(second.diff);
  for (size_t i = 0; i < tables.size(); ++i) EXPECT_EQ(to_csv(tables[i]), to_csv(again[i]));
}

TEST_P(DiffLaws, TheTablesHaveTheSameTotals) {
  for_every_other([](const Pair& pair) {
    const Diff& diff = pair.diff();
    for (const Table& table : diff_tables(diff)) {
      for (const Column& c : table.columns()) EXPECT_EQ(c.size(), table.rows()) << c.name();
      if (table.name() == "timeline") continue;
      EXPECT_EQ(test::exact_sum(table, "A total (µs)"), diff.a.work) << table.name();
      EXPECT_EQ(test::exact_sum(table, "B total (µs)"), diff.b.work) << table.name();
    }
  });
}

std::vector<std::string> example_paths() {
  std::vector<std::string> paths;
  for (const auto& path : test::example_traces()) paths.push_back(path.string());
  return paths;
}

INSTANTIATE_TEST_SUITE_P(EveryPair, DiffLaws, ::testing::ValuesIn(example_paths()),
                         test::name_of_trace);

}  // namespace
}  // namespace fathom
