// Damage that real traces have, each kind between events that are whole.
#include <fmt/format.h>

#include <algorithm>

#include "checks.h"
#include "ingest/kineto/reader.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::cpu_op;
using test::read_trace_text;
using test::trace_text;

std::vector<std::string> names(const EventStore& store) {
  std::vector<std::string> all;
  for (size_t i = 0; i < store.size(); ++i) all.emplace_back(store.name(EventId(i)));
  return all;
}

EventStore read_between_good(std::string_view damaged) {
  return read_trace_text(trace_text({cpu_op("first", 1, 2), std::string(damaged),
                                     cpu_op("second", 5, 2), cpu_op("third", 9, 2)}));
}

// The damaged event is read or counted; its neighbours keep their values and positions.
void expect_neighbours_whole(std::string_view damaged) {
  SCOPED_TRACE(damaged);
  const EventStore s = read_between_good(damaged);
  ASSERT_TRUE(s.size() == 3 || s.size() == 4) << fmt::format("{}", fmt::join(names(s), ", "));
  EXPECT_EQ(s.entries(), 4);
  EXPECT_EQ(s.entries() - static_cast<int64_t>(s.size()), s.diagnostics().skipped_events());
  EXPECT_FALSE(s.diagnostics().all().empty()) << "damage is said";
  EXPECT_EQ(s.uid(test::find_event(s, "first")), 0);
  EXPECT_EQ(s.uid(test::find_event(s, "second")), 2);
  EXPECT_EQ(s.uid(test::find_event(s, "third")), 3);
  EXPECT_EQ(s.start(test::find_event(s, "second")), Nanos{5000});
}

// A file that is written to between its first and its last byte.
class ChangingSource : public ByteSource {
 public:
  explicit ChangingSource(std::string text) : text_(std::move(text)) {}
  Result<size_t> read(std::span<char> into) override {
    const size_t size = std::min(into.size(), text_.size());
    std::copy_n(text_.begin(), size, into.begin());
    text_.erase(0, size);
    return size;
  }
  bool changed() const override { return text_.empty(); }

 private:
  std::string text_;
};

TEST(KinetoDamage, AFileThatChangesMeanwhile) {
  ChangingSource source(trace_text({cpu_op("first", 1, 2)}));
  const Result<EventStore> store = kineto::read_trace(source, "trace.json", {});
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_EQ(store.value().diagnostics().count(Flaw::kChangedWhileRead), 1);
  const EventStore still = read_trace_text(trace_text({cpu_op("first", 1, 2)}));
  EXPECT_EQ(still.diagnostics().count(Flaw::kChangedWhileRead), 0);
}

TEST(KinetoDamage, UnescapedQuotesAndBackslashes) {
  expect_neighbours_whole(
      R"({"ph":"X","cat":"cpu_op","name":"say "hi" to","pid":1,"tid":1,"ts":3,"dur":1})");
  expect_neighbours_whole(
      R"({"ph":"X","cat":"cpu_op","name":"one " quote","pid":1,"tid":1,"ts":3,"dur":1})");
  expect_neighbours_whole(
      R"({"ph":"X","cat":"cpu_op","name":"ends in \","pid":1,"tid":1,"ts":3,"dur":1})");
}

// A backslash before any letter is read without complaint: the text is still told apart.
TEST(KinetoDamage, UnknownEscapes) {
  const EventStore s = read_between_good(
      R"({"ph":"X","cat":"cpu_op","name":"C:\dir\x","pid":1,"tid":1,"ts":3,"dur":1})");
  EXPECT_EQ(test::uids(s), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(s.start(EventId(1)), Nanos{3000});
}

TEST(KinetoDamage, ControlCharactersAndInvalidUtf8) {
  expect_neighbours_whole(
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\x01\tb\",\"pid\":1,\"tid\":1,\"ts\":3}");
  expect_neighbours_whole(
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"\xff\xfe\xc3\",\"pid\":1,\"tid\":1,\"ts\":3}");
}

TEST(KinetoDamage, CommasTooManyAndTooFew) {
  expect_neighbours_whole(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":3,})");
  expect_neighbours_whole(R"({"ph":"X","cat":"cpu_op","name":"a" "pid":1,"tid":1,"ts":3})");
}

TEST(KinetoDamage, AnEventThatBreaksOff) {
  expect_neighbours_whole(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"ti)");
  expect_neighbours_whole(R"({"ph":"X","cat":"cpu_op","name":"a","args":{"x":[1,2)");
}

TEST(KinetoDamage, ALineOfALogBetweenEvents) {
  expect_neighbours_whole("WARNING: profiler: 3 activities dropped");
}

TEST(KinetoDamage, ADamagedNameIsReadAsItStands) {
  const EventStore s = read_between_good(
      R"({"ph":"X","cat":"cpu_op","name":"say "hi" to","pid":1,"tid":1,"ts":3,"dur":1})");
  EXPECT_EQ(names(s), (std::vector<std::string>{"first", "say \"hi\" to", "second", "third"}));
  EXPECT_EQ(s.diagnostics().skipped_events(), 0);
}

TEST(KinetoDamage, NaNAndInfinityAreNoDamageToTheEvent) {
  const EventStore s =
      read_between_good(R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":3,"dur":1,)"
                        R"("args":{"blocks per SM":NaN,"x":Infinity,"y":-inf,"correlation":5}})");
  ASSERT_EQ(s.size(), 4u);
  EXPECT_EQ(s.gpu_work(EventId(1)).key, (LaunchKey{5, false}));
  EXPECT_EQ(s.diagnostics().skipped_events(), 0);
}

TEST(KinetoDamage, AnEntryThatIsNoObjectKeepsItsPlaceBeforeADamagedEvent) {
  for (const char* entry : {"17", "null", R"("a } text")"}) {
    const EventStore s = read_trace_text(
        trace_text({entry, R"({"ph":"X","cat":"cpu_op","name":"bad","pid":1,"tid":1,"ts":1,})",
                    cpu_op("good", 1, 2)}));
    EXPECT_EQ(s.uid(test::find_event(s, "good")), 2) << entry;
    EXPECT_EQ(s.entries(), 3) << entry;
  }
}

}  // namespace
}  // namespace fathom
