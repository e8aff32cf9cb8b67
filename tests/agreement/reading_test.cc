// The readers of the agreement test: CSV, Python literals and JSON, the list of differences.
#include <string>
#include <vector>

#include "base/glob.h"
#include "checks.h"
#include "compare_values.h"
#include "csv.h"
#include "differences.h"
#include "python_literal.h"

namespace fathom::agreement {
namespace {

using SheetCells = std::vector<std::string>;

TEST(AgreementCsv, ReadsQuotesNewlinesAndBothLineEnds) {
  const auto csv = parse_csv("a,\"b,1\",c\r\n1,\"x \"\"y\"\"\r\nz\",\n,\"\",3");
  EXPECT_EQ(csv.error, "");
  EXPECT_EQ(csv.header, (SheetCells{"a", "b,1", "c"}));
  ASSERT_EQ(csv.rows.size(), 2u);
  EXPECT_EQ(csv.rows[0], (SheetCells{"1", "x \"y\"\r\nz", ""}));
  EXPECT_EQ(csv.rows[1], (SheetCells{"", "", "3"}));
  EXPECT_EQ(csv.cell(0, "b,1"), "x \"y\"\r\nz");
  EXPECT_EQ(csv.cell(0, "none"), "");
  EXPECT_EQ(parse_csv(format_csv(csv)).rows, csv.rows);
}

TEST(AgreementCsv, ABlankFileHasNoHeader) {
  EXPECT_TRUE(parse_csv("\n").header.empty());
  EXPECT_TRUE(parse_csv("").header.empty());
  EXPECT_EQ(parse_csv("a,b\n").rows.size(), 0u);
}

TEST(AgreementCsv, RefusesRaggedRowsAndOpenQuotes) {
  EXPECT_NE(parse_csv("a,b\n1\n").error, "");
  EXPECT_NE(parse_csv("a,b\n1,\"2\n").error, "");
  EXPECT_NE(read_csv("no such file").error, "");
}

TEST(AgreementLiteral, ReadsWhatPythonWrites) {
  const auto value = parse_python_literal(
      R"([{'name': "it's", 'n': np.float64(1.5e-3), 'i': np.int64(-7), 't': (1,), 'e': (), 'x': None,)"
      R"( 'b': True, 's': 'a\'b\\c\n\x41\u00b5', 'y': nan}])");
  ASSERT_TRUE(value);
  EXPECT_EQ(format_json(*value),
            "[{\"name\": \"it's\", \"n\": 0.0015, \"i\": -7, \"t\": [1], \"e\": [], \"x\": null, "
            "\"b\": true, \"s\": \"a'b\\\\c\\u000aAµ\", \"y\": null}]");
}

TEST(AgreementLiteral, ReadsJson) {
  const auto value =
      parse_json(R"({"a": [1, 2.5, -3e2], "b": "\u00b5\ud83d\ude00\/\"", "c": null})");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->find("b")->text, "µ😀/\"");
  EXPECT_EQ(value->find("a")->items[2].number, -300);
  EXPECT_EQ(value->find("c")->kind, Value::Kind::none);
  EXPECT_EQ(value->find("d"), nullptr);
}

TEST(AgreementLiteral, RefusesWhatIsNeither) {
  for (const char* text : {"", "[1", "[1 2]", "{'a' 1}", "{1: 2}", "'a", "foo(1)", "np.float64(1",
                           "1 2", "'\\q'", "'\\x4'", "[1]]"}) {
    EXPECT_FALSE(parse_python_literal(text)) << text;
  }
  for (const char* text : {"['a']", "(1, 2)", "[1,]", "{\"a\": 1,}", "None", "True", "nan",
                           "np.float64(1)", "\"a\nb\"", "\"\\'\""}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
  EXPECT_FALSE(parse_json(std::string(100000, '[')));
}

TEST(AgreementValues, RoundedMeansMayFallEitherWayOfATie) {
  const auto full = parse_python_literal("[{'name': 'k', 'mean_duration_us': 5.805}]").value();
  const auto theirs = parse_python_literal("[{'name': 'k', 'mean_duration_us': 5.8}]").value();
  const auto count = [&](const char* ours) {
    return compare_cut_details(parse_json(ours).value(), theirs, full).size();
  };
  EXPECT_EQ(count(R"([{"name": "k", "mean_duration_us": 5.8}])"), 0u);
  EXPECT_EQ(count(R"([{"name": "k", "mean_duration_us": 5.81}])"), 0u);
  EXPECT_EQ(count(R"([{"name": "k", "mean_duration_us": 5.82}])"), 1u);
  EXPECT_EQ(count(R"([{"name": "k", "mean_duration_us": 5.79}])"), 1u);
  EXPECT_EQ(count(R"([{"name": "k", "mean_duration_us": 5.805}])"), 1u);
}

TEST(AgreementDifferences, MatchesGlobs) {
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("||||*", "||||void f<int*>()"));
  EXPECT_TRUE(glob_matches("a?c*e", "abcd, e"));
  EXPECT_TRUE(glob_matches("*[1]*", "x [1] y"));
  EXPECT_TRUE(glob_matches("*ab*b", "aabab"));
  EXPECT_FALSE(glob_matches("||||*", "aten::mm||||k"));
  EXPECT_FALSE(glob_matches("a?", "a"));
  EXPECT_FALSE(glob_matches("[12]", "1"));
}

TEST(AgreementDifferences, EveryRowThatCoversIsUsed) {
  auto differences =
      Differences::parse("# note\n\ns\tc\tk*\twhy\r\n*\t*\t*\tall\ns\t(row)\t*\tmore\n");
  EXPECT_TRUE(differences.errors().empty());
  EXPECT_EQ(differences.size(), 3u);
  EXPECT_EQ(differences.list_stale().size(), 3u);
  EXPECT_TRUE(differences.cover("s", "c", "key"));
  EXPECT_EQ(differences.list_stale().size(), 1u);
  EXPECT_FALSE(differences.cover("t", "(row)", "key"));
  EXPECT_TRUE(differences.cover("s", "(row)", "key"));
  EXPECT_TRUE(differences.list_stale().empty());
}

TEST(AgreementDifferences, RefusesIncompleteRows) {
  EXPECT_EQ(Differences::parse("s\tc\tk\n").errors().size(), 1u);
  EXPECT_EQ(Differences::parse("s\tc\tk\t\n").errors().size(), 1u);
  EXPECT_EQ(Differences::parse("s\tc\tk\tr\tx\n").errors().size(), 1u);
  EXPECT_EQ(Differences::read("no such file").errors().size(), 1u);
}

}  // namespace
}  // namespace fathom::agreement
