// A file that breaks off gives what came before the break, and says so.
#include <fmt/format.h>

#include "invariants/every_trace.h"
#include "test_files.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::read_with;
using test::ReportFiles;
using test::TraceParts;

class TruncationLaws : public test::LawOfTraces {
 protected:
  Trace read_bytes(std::string_view bytes) const {
    const test::TemporaryDirectory directory;
    const std::string file = (directory.path() / "trace").string();
    test::write_file(file, bytes);
    return read_with(file, test::read_options(1, 100'000));
  }

  // A whole trace of the first events only.
  std::string first_events(size_t count) const {
    const TraceParts parts = test::take_apart(text());
    if (count == 0) return std::string(parts.head) + "]}";
    const char* const end = parts.events[count - 1].data() + parts.events[count - 1].size();
    return text().substr(0, static_cast<size_t>(end - text().data())) + "]}";
  }

  void expect_prefix(const Trace& cut) const {
    const EventStore &all = trace().store, &some = cut.store;
    ASSERT_LE(some.size(), all.size());
    for (size_t i = 0; i < some.size(); ++i) {
      const EventId e(i);
      ASSERT_EQ(some.uid(e), all.uid(e)) << i;
      ASSERT_EQ(some.kind(e), all.kind(e)) << i;
      ASSERT_EQ(some.start(e), all.start(e)) << i;
      ASSERT_EQ(some.duration(e), all.duration(e)) << i;
      ASSERT_EQ(some.name(e), all.name(e)) << i;
    }
    EXPECT_EQ(some.diagnostics().count(Flaw::kTruncated), 1);
    EXPECT_EQ(some.diagnostics().skipped_events(), 0) << "half an event is no malformed event";
  }

  // The same sheets as those of a whole file with as many events.
  void expect_sheets_of_first_events(const Trace& cut) const {
    ReportFiles actual = test::report_files(cut);
    ReportFiles expected =
        test::report_files(read_bytes(first_events(static_cast<size_t>(cut.store.entries()))));
    actual.erase("summary.json");  // one of them was cut
    expected.erase("summary.json");
    EXPECT_EQ(test::differing_files(actual, expected), "");
  }
};

TEST_P(TruncationLaws, ACutTextGivesTheEventsBeforeTheCut) {
  const TraceParts parts = test::take_apart(text());
  const std::string_view third = parts.events[parts.events.size() / 3], last = parts.events.back();
  const auto offset = [this](std::string_view event) {
    return static_cast<size_t>(event.data() - text().data());
  };
  struct Cut {
    size_t at, whole_events;
  };
  for (const Cut& cut : {Cut{offset(third) + third.size() / 2, parts.events.size() / 3},
                         Cut{offset(third) + third.size(), parts.events.size() / 3 + 1},
                         Cut{offset(last) + 1, parts.events.size() - 1},
                         Cut{offset(last) + last.size(), parts.events.size()}}) {
    const Trace read = read_bytes(std::string_view(text()).substr(0, cut.at));
    ASSERT_EQ(read.store.entries(), static_cast<int64_t>(cut.whole_events)) << "cut at " << cut.at;
    expect_prefix(read);
    if (cut.at < offset(last)) expect_sheets_of_first_events(read);
  }
}

TEST_P(TruncationLaws, ACutAfterTheEventsLosesNone) {
  const TraceParts parts = test::take_apart(text());
  const Trace read = read_bytes(std::string_view(text()).substr(
      0, static_cast<size_t>(parts.tail.data() - text().data()) + 1));
  EXPECT_EQ(read.store.entries(), trace().store.entries());
  EXPECT_EQ(read.store.size(), trace().store.size());
  expect_prefix(read);
}

TEST_P(TruncationLaws, ACutGzipFileGivesAPrefix) {
  const std::string packed = test::read_file(path());
  size_t before = 0;
  for (size_t percent : {30, 80, 99}) {
    const Trace read =
        read_bytes(std::string_view(packed).substr(0, packed.size() * percent / 100));
    expect_prefix(read);
    EXPECT_GE(read.store.size(), before);
    EXPECT_LE(read.store.size(), trace().store.size());
    before = read.store.size();
  }
  EXPECT_GT(before, trace().store.size() / 2);
  expect_sheets_of_first_events(
      read_bytes(std::string_view(packed).substr(0, packed.size() * 6 / 10)));
}

FATHOM_FOR_EVERY_TRACE(TruncationLaws);

// A report of what was read, a note that it is not all, and no failure.
TEST(TruncationOnTheCommandLine, ACutFileIsReportedAndIsNoError) {
  const test::TemporaryDirectory directory;
  const std::string trace = test::example_traces().front().string();
  for (const char* cut : {"gzip -dc '{}' | head -c 150000 > cut", "head -c 9000 '{}' > cut",
                          "head -c 20000 '{}' > cut", "head -c -4 '{}' > cut"}) {
    const test::CommandResult made =
        test::run_command(fmt::format(fmt::runtime(cut), trace), directory.path());
    ASSERT_EQ(made.exit_code, 0) << made.errors;
    const test::CommandResult run = test::run_command(
        test::fathom_binary() + " analyze cut --json --out report", directory.path());
    EXPECT_EQ(run.exit_code, 0) << cut << "\n" << run.errors;
    EXPECT_NE(run.output.find("\"id\": \"truncated\""), std::string::npos) << cut;
    EXPECT_TRUE(std::filesystem::exists(directory.path() / "report/perf_report_csvs"));
  }
}

}  // namespace
}  // namespace fathom
