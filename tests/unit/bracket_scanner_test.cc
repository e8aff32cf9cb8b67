#include "ingest/kineto/bracket_scanner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fathom::kineto {
namespace {

using Found = BracketScanner::Found;

// The same by the definition, a byte at a time. Positions are those of the whole text.
Found scan_by_definition(std::string_view text) {
  Found found;
  bool in_string = false, escaped = false;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\n') {
      found.broken_string = i;
      return found;
    }
    if (escaped) {
      escaped = false;
    } else if (c == '\\') {
      escaped = true;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '{' || c == '[')) {
      ++depth;
    } else if (!in_string && (c == '}' || c == ']')) {
      if (depth == 0) {
        found.list_end = i;
        return found;
      }
      if (--depth == 0) found.last_value_end = i + 1;
    }
  }
  return found;
}

Found scan_pieces(const std::vector<std::string_view>& pieces) {
  BracketScanner scanner;
  Found all;
  size_t at = 0;
  for (std::string_view piece : pieces) {
    const Found found = scanner.scan(piece);
    if (found.last_value_end) all.last_value_end = at + *found.last_value_end;
    if (found.list_end) all.list_end = at + *found.list_end;
    if (found.broken_string) all.broken_string = at + *found.broken_string;
    if (found.list_end || found.broken_string) break;
    at += piece.size();
  }
  return all;
}

std::string shown(const Found& found) {
  const auto text = [](std::optional<size_t> at) { return at ? std::to_string(*at) : "none"; };
  return "value end " + text(found.last_value_end) + ", list end " + text(found.list_end) +
         ", broken " + text(found.broken_string);
}

// Brackets, quotes and runs of backslashes in strings, over more than two blocks of 64 bytes.
const std::string_view kEvents =
    R"({"name":"a \"quoted\" {name}","x":[1,[2,{}]]}, {"name":"ends in \\","y":"]\\\"}"},)"
    R"( {"path":"C:\\dir\\\\\\","z":[[],"\\\\"]} , {"q":"\u005d\"\\\"["}])"
    R"(, "after": {"the": "list"}})";

TEST(BracketScanner, FindsTheEndsOfValuesAndOfTheList) {
  BracketScanner scanner;
  const Found found = scanner.scan(R"({"a":1}, {"b":[2]} ] {"after":3})");
  EXPECT_EQ(found.last_value_end, 18u);
  EXPECT_EQ(found.list_end, 19u);
}

TEST(BracketScanner, AnOpenValueHasNoEnd) {
  BracketScanner scanner;
  EXPECT_EQ(shown(scanner.scan(R"({"a":{"b":1})")), "value end none, list end none, broken none");
  EXPECT_EQ(shown(scanner.scan("}")), "value end 1, list end none, broken none");
}

TEST(BracketScanner, ALineBreakInAStringIsBroken) {
  BracketScanner scanner;
  EXPECT_EQ(shown(scanner.scan("{\"a\":1},\n{\"b\":\"x\n}, {}]")),
            "value end 7, list end none, broken 16");
}

// One text with a line break in a string, in its second block, and one without.
std::vector<std::string> texts() {
  std::string broken(kEvents);
  broken.insert(broken.find("\\\\dir") + 2, "\n");
  return {std::string(kEvents), broken};
}

TEST(BracketScanner, AgreesWithItsDefinition) {
  for (const std::string& text : texts()) {
    for (size_t length = 0; length <= text.size(); ++length) {
      const std::string_view part = std::string_view(text).substr(0, length);
      ASSERT_EQ(shown(scan_pieces({part})), shown(scan_by_definition(part))) << part;
    }
  }
  EXPECT_TRUE(scan_by_definition(texts()[0]).list_end) << "the texts must hold what is tested";
  EXPECT_GT(scan_by_definition(texts()[1]).broken_string.value_or(0), 64u);
}

TEST(BracketScanner, EverySplitGivesTheSame) {
  for (const std::string& text : texts()) {
    const std::string whole = shown(scan_by_definition(text));
    const std::string_view view = text;
    for (size_t a = 0; a <= view.size(); ++a) {
      for (size_t b = a; b <= view.size(); ++b) {
        ASSERT_EQ(shown(scan_pieces({view.substr(0, a), view.substr(a, b - a), view.substr(b)})),
                  whole)
            << "split at " << a << " and " << b;
      }
    }
  }
}

TEST(BracketScanner, AByteAtATimeGivesTheSame) {
  std::vector<std::string_view> bytes;
  for (size_t i = 0; i < kEvents.size(); ++i) bytes.push_back(kEvents.substr(i, 1));
  EXPECT_EQ(shown(scan_pieces(bytes)), shown(scan_by_definition(kEvents)));
}

TEST(BracketScanner, BackslashesOverTheEdgeOfABlock) {
  for (size_t filling = 0; filling < 140; ++filling) {
    for (size_t backslashes = 0; backslashes < 6; ++backslashes) {
      const std::string text = "{\"" + std::string(filling, 'x') + std::string(backslashes, '\\') +
                               "\"}, {\"a\":\"}]\"}, {\"b\": 1} ]";
      ASSERT_EQ(shown(scan_pieces({text})), shown(scan_by_definition(text))) << text;
      const size_t half = text.size() / 2;
      const std::string_view view = text;
      ASSERT_EQ(shown(scan_pieces({view.substr(0, half), view.substr(half)})),
                shown(scan_by_definition(text)))
          << text;
    }
  }
}

}  // namespace
}  // namespace fathom::kineto
