#include "ingest/kineto/bracket_scanner.h"

#include <string>
#include <vector>

#include "checks.h"

namespace fathom::kineto {
namespace {

std::string shown(const BracketScanner& scanner, const BracketScanner::Found& found) {
  const auto text = [](std::optional<size_t> at) { return at ? std::to_string(*at) : "none"; };
  return "cut " + std::to_string(scanner.cut()) + ", event " + std::to_string(scanner.suspect()) +
         " to " + std::to_string(scanner.event_end()) + ", list end " + text(found.list_end) +
         ", broken " + text(found.broken);
}

std::string scan(std::string_view text, size_t patience = SIZE_MAX) {
  BracketScanner scanner(0, patience);
  const BracketScanner::Found found = scanner.scan(text, true);
  return shown(scanner, found);
}

TEST(BracketScanner, FindsEventsAndTheEndOfTheList) {
  EXPECT_EQ(scan(R"({"a":1}, {"b":[2]} ] {"after":3})"),
            "cut 7, event 9 to 18, list end 19, broken none");
  EXPECT_EQ(scan(R"({"a":{"b":1})"), "cut 0, event 0 to 0, list end none, broken none");
}

TEST(BracketScanner, StopsAtWhatNoListOfEventsHolds) {
  // A line break in a string, and an event in one.
  EXPECT_EQ(scan("{\"a\":1},\n{\"b\":\"x\n}, {}]"),
            "cut 7, event 9 to 7, list end none, broken 16");
  EXPECT_EQ(scan(R"({"a":"x,{"ph":"X"}])"), "cut 0, event 0 to 0, list end none, broken 8");
  // Brackets that do not fit.
  EXPECT_EQ(scan(R"({"a":[1}, {}])"), "cut 0, event 0 to 0, list end none, broken 7");
  EXPECT_EQ(scan(R"({"a":1}}, {}])"), "cut 0, event 0 to 7, list end none, broken 7");
  EXPECT_EQ(scan(R"({"a":1,{"b":2}])"), "cut 0, event 0 to 0, list end none, broken 7");
  EXPECT_EQ(scan(R"({"a":[1:{}]}])"), "cut 0, event 0 to 0, list end none, broken 8");
  // Something beside the events.
  EXPECT_EQ(scan(R"({"a":1}, 5, {}])"), "cut 0, event 0 to 7, list end none, broken 12");
  EXPECT_EQ(scan(R"({"a":1}, [{}]])"), "cut 0, event 0 to 7, list end none, broken 9");
}

TEST(BracketScanner, WhatLooksLikeAnEventInsideOneMayGoOnForAsLongAsItsPatience) {
  const std::string text = R"({"a":[{"ph":1},{"ph":2},{"ph":3}]},{"b":1}])";
  EXPECT_EQ(scan(text), "cut 34, event 35 to 42, list end 42, broken none");
  EXPECT_EQ(scan(text, 19), "cut 34, event 35 to 42, list end 42, broken none");
  EXPECT_EQ(scan(text, 18), "cut 0, event 0 to 0, list end none, broken 24");
  EXPECT_EQ(scan(text, 0), "cut 0, event 0 to 0, list end none, broken 6");
}

// Brackets, quotes and runs of backslashes in strings, over more than two blocks of 64 bytes.
const std::string kEvents =
    R"({"name":"a \"quoted\" {name}","x":[1,[2,{}]]}, {"name":"ends in \\","y":"]\\\"}"},)"
    R"( {"path":"C:\\dir\\\\\\","z":[[],"\\\\"]} , {"q":"\u005d\"\\\"["}])" +
    std::string(300, ' ');

TEST(BracketScanner, TextThatComesInPiecesGivesTheSame) {
  std::string broken = kEvents;
  broken.insert(broken.find("\\\\dir") + 2, "\n");
  for (const std::string& text : {kEvents, broken}) {
    const std::string whole = scan(text);
    for (size_t step : {1, 7, 64, 200}) {
      BracketScanner scanner;
      BracketScanner::Found found;
      for (size_t length = 0; !found.list_end && !found.broken; length += step) {
        const std::string_view part = std::string_view(text).substr(0, length);
        found = scanner.scan(part, part.size() == text.size());
        if (length > text.size()) break;
      }
      EXPECT_EQ(shown(scanner, found), whole) << "steps of " << step;
    }
  }
  EXPECT_NE(scan(kEvents).find("broken none"), std::string::npos);
  EXPECT_EQ(scan(broken).find("broken none"), std::string::npos);
}

// An odd number makes the quote part of the string, which then ends at the next one.
TEST(BracketScanner, BackslashesOverTheEdgeOfABlock) {
  for (size_t filling = 0; filling < 140; ++filling) {
    for (size_t backslashes = 0; backslashes < 6; ++backslashes) {
      const std::string text =
          "{\"" + std::string(filling, 'x') + std::string(backslashes, '\\') + "\"]]\":[]} ]";
      BracketScanner scanner;
      const BracketScanner::Found found = scanner.scan(text, true);
      if (backslashes % 2 == 1) {
        ASSERT_EQ(found.list_end, text.size() - 1) << text;
      } else {
        ASSERT_EQ(found.broken, filling + backslashes + 3) << text;
      }
    }
  }
}

TEST(BracketScanner, NoNestingIsTooDeep) {
  const std::string open(100'000, '['), close(100'000, ']');
  EXPECT_EQ(scan("{\"a\":" + open + close + "}]"),
            "cut 0, event 0 to 200006, list end 200006, broken none");
}

}  // namespace
}  // namespace fathom::kineto
