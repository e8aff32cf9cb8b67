// The order of the events in the file decides nothing but their numbers and ties.
#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include "invariants/every_trace.h"
#include "test_files.h"

namespace fathom {
namespace {

// These show positions in the file, or depend on the order of rows with equal times.
constexpr std::string_view kOrderColumns[] = {"UID", "ex_UID", "UID_first",
                                              "Cumulative Percentage (%)"};

// A sheet's rows without the columns above, sorted: rows with equal times go by position.
std::vector<std::string> comparable_rows(const Table& sheet) {
  std::vector<std::string> rows(sheet.rows());
  for (const Column& c : sheet.columns()) {
    if (std::ranges::find(kOrderColumns, c.name()) != std::end(kOrderColumns)) continue;
    for (size_t row = 0; row < sheet.rows(); ++row) (rows[row] += c.cell(row)) += '\x1f';
  }
  std::ranges::sort(rows);
  return rows;
}

class OrderLaws : public test::LawOfTraces {
 protected:
  // When each entry of the file begins; nothing for entries without a row.
  std::vector<std::optional<Nanos>> starts() const {
    std::vector<std::optional<Nanos>> all(static_cast<size_t>(trace().store.entries()));
    for (size_t i = 0; i < trace().store.size(); ++i) {
      all[static_cast<size_t>(trace().store.uid(EventId(i)))] = trace().store.start(EventId(i));
    }
    return all;
  }

  // A random order in which entries that begin together keep theirs, and those without a row too:
  // the first is how equal calls nest, the second which of several names of a thread holds.
  std::vector<size_t> shuffled_order() const {
    const std::vector<std::optional<Nanos>> tie = starts();
    std::vector<size_t> order(tie.size());
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 random(7);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    std::map<std::optional<Nanos>, std::vector<size_t>> places;
    for (size_t place = 0; place < order.size(); ++place) {
      places[tie[order[place]]].push_back(place);
    }
    std::map<std::optional<Nanos>, size_t> used;
    std::vector<size_t> stable(order.size());
    for (size_t i = 0; i < order.size(); ++i) stable[places[tie[i]][used[tie[i]]++]] = i;
    return stable;
  }

  Trace shuffled_trace() const {
    const test::TraceParts parts = test::take_apart(text());
    EXPECT_EQ(static_cast<int64_t>(parts.events.size()), trace().store.entries());
    std::string json(parts.head);
    for (size_t i : shuffled_order()) {
      if (json.size() > parts.head.size()) json += ",\n";
      json += parts.events[i];
    }
    json += parts.tail;
    const test::TemporaryDirectory directory;
    const std::string file = (directory.path() / "trace.json").string();
    test::write_file(file, json);
    return test::read_with(file, {});
  }
};

TEST_P(OrderLaws, ShufflingTheEventsChangesOnlyTheirNumbers) {
  const Trace shuffled = shuffled_trace();
  const Analysis a = analyze(trace(), {}).take(), b = analyze(shuffled, {}).take();
  ASSERT_EQ(a.sheets.size(), b.sheets.size());
  for (size_t i = 0; i < a.sheets.size(); ++i) {
    const std::vector<std::string> expected = comparable_rows(a.sheets[i]),
                                   actual = comparable_rows(b.sheets[i]);
    ASSERT_EQ(actual.size(), expected.size()) << a.sheets[i].name();
    for (size_t row = 0; row < expected.size(); ++row) {
      ASSERT_EQ(actual[row], expected[row]) << a.sheets[i].name();
    }
  }
  const auto counts = [](const Summary& s) {
    std::map<std::string, int64_t> all = {{"gpu events", s.gpu_events},
                                          {"skipped", s.skipped_events},
                                          {"total", s.timeline.total.count},
                                          {"idle", s.timeline.idle.count},
                                          {"unlinked", s.unlinked.time.count}};
    for (const Diagnostic& d : s.diagnostics) all[std::string(describe(d.flaw).id)] = d.count;
    return all;
  };
  EXPECT_EQ(counts(a.summary), counts(b.summary));
  EXPECT_EQ(a.summary.steps, b.summary.steps);
}

FATHOM_FOR_EVERY_TRACE(OrderLaws);

}  // namespace
}  // namespace fathom
