#include "report/trace/diff_report.h"

#include "base/utf8.h"
#include "checks.h"
#include "report/csv.h"
#include "report/markdown.h"
#include "session/compare.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::cpu_op;
using test::kernel;
using test::launch_call;
using test::open_events;

Trace one_op(const std::string& json_name, int64_t time) {
  const std::string args = R"("Input Dims":[[8,8]],"Input type":[")" + json_name + R"("])";
  return open_events({cpu_op(json_name, 0, 20), cpu_op(json_name + "x", 2, 15, args),
                      launch_call(3, 2, 1), kernel(json_name, 30, time, 1)});
}

DiffReport report_of(const Trace& a, const Trace& b) { return compare(a, b, {}, {}).take(); }

TEST(DiffText, TimesHaveUnitsAndSigns) {
  EXPECT_EQ(time_text(1'400'000), "1.40 ms");
  EXPECT_EQ(time_text(12'340), "12.3 µs");
  EXPECT_EQ(time_text(2.5e9), "2.50 s");
  EXPECT_EQ(signed_time_text(1'400'000), "+1.40 ms");
  EXPECT_EQ(signed_time_text(-500), "-0.5 µs");
  EXPECT_EQ(signed_time_text(0), "±0");
}

TEST(DiffText, ShapesOfArguments) {
  EXPECT_EQ(shapes_text("[[4096,2048],[2048,5632],[]]"), "4096×2048, 2048×5632");
  EXPECT_EQ(shapes_text("[[[2,3],[4]],[]]"), "2×3, 4");
  EXPECT_EQ(shapes_text("[[],[]]"), "");
  EXPECT_EQ(shapes_text(""), "");
  EXPECT_EQ(shapes_text("[[1],[2],[3],[4]]"), "1, 2, 3, …");
  EXPECT_EQ(shapes_text("]]][[[,,,<b>|`\x1b"), "");
}

TEST(DiffText, TheSentenceNamesWhatExplainsMost) {
  const DiffReport report = report_of(one_op("mm", 100), one_op("mm", 1500));
  const NameWriter quoted = [](std::string_view name) { return "<" + std::string(name) + ">"; };
  EXPECT_EQ(ops_sentence(report.diff, quoted),
            "1 op explains 100 % of +1.40 ms of GPU work: <mmx> (8×8) +1.40 ms.");
  EXPECT_EQ(timeline_sentence(report.diff), "Wall time +1.40 ms (+1076.9 %): compute +1.40 ms.");
  EXPECT_EQ(units_sentence(report.diff), "Times are totals: neither trace has steps.");
  Diff with_start = report.diff;
  with_start.b.start_up = Nanos{2'000'000};
  EXPECT_EQ(units_sentence(with_start),
            "Times are totals: neither trace has steps. The start-up is left out: 2.00 ms of B.");
}

TEST(DiffText, NothingDiffersIsSaid) {
  const Trace trace = one_op("mm", 100);
  const DiffReport report = report_of(trace, trace);
  EXPECT_NE(diff_text(report, {}).find("nothing differs"), std::string::npos);
  EXPECT_NE(diff_markdown(report).find("othing differs."), std::string::npos);
  EXPECT_NE(diff_json(report).find("\"nothing_differs\": true"), std::string::npos);
}

TEST(DiffText, FitsTheWidthOfTheTerminal) {
  const DiffReport report = report_of(one_op(std::string(300, 'n'), 100), one_op("mm", 1500));
  for (size_t width : {size_t{100}, size_t{140}}) {
    std::string text = diff_text(report, {false, false, width});
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      EXPECT_LE(screen_width(text.substr(at, end - at)), width) << text.substr(at, end - at);
      at = end + 1;
    }
  }
}

// Names that would act: on a terminal, in markdown, in a spreadsheet.
class HostileName : public ::testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  DiffReport report() const { return report_of(one_op(GetParam().first, 100), one_op("mm", 1500)); }
  std::string raw() const { return GetParam().second; }
};

TEST_P(HostileName, HasNoControlCharacterAnywhere) {
  const DiffReport r = report();
  std::vector<std::string> texts = {diff_text(r, {}), diff_markdown(r), diff_json(r)};
  for (const Table& table : diff_tables(r.diff)) texts.push_back(to_csv(table));
  for (const std::string& text : texts) {
    for (const char c : text) {
      EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << static_cast<int>(c);
      EXPECT_NE(c, 0x7f);
    }
  }
}

TEST_P(HostileName, StandsInMarkdownInCodeSpansOnly) {
  const std::string markdown = diff_markdown(report());
  std::string outside = markdown;
  for (const std::string& span :
       {md_code(raw()), md_code_cell(raw()), md_code(raw() + "x"), md_code_cell(raw() + "x")}) {
    EXPECT_EQ(span.front(), '`');
    for (size_t at; (at = outside.find(span)) != std::string::npos;) outside.erase(at, span.size());
  }
  EXPECT_NE(outside, markdown) << "the name is shown";
  EXPECT_EQ(outside.find("evil"), std::string::npos) << outside;
}

TEST_P(HostileName, NoCsvFieldBeginsLikeAFormula) {
  for (const Table& table : diff_tables(report().diff)) {
    const std::string csv = to_csv(table);
    for (size_t at = csv.find("evil"); at != std::string::npos; at = csv.find("evil", at + 1)) {
      // Back to where the field begins: a name with an '=' at its front is in quotes.
      const std::string written = with_unseen_escaped(raw(), "\n");
      const size_t name = csv.rfind(written.substr(0, written.find("evil")), at);
      ASSERT_NE(name, std::string::npos);
      if (std::string("=+-@").find(raw().front()) != std::string::npos) {
        EXPECT_NE(csv[name - 1], ',') << csv.substr(name - 1, 20);
        EXPECT_NE(csv[name - 1], '\n') << csv.substr(name - 1, 20);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Names, HostileName,
    ::testing::Values(std::pair{"a|evil|b", "a|evil|b"}, std::pair{"`evil`", "`evil`"},
                      std::pair{"<img src=evil>", "<img src=evil>"},
                      std::pair{"[evil](http://evil.example)", "[evil](http://evil.example)"},
                      std::pair{"@evil", "@evil"}, std::pair{"=evil()", "=evil()"},
                      std::pair{"-evil", "-evil"}, std::pair{"**evil**", "**evil**"},
                      std::pair{"&lt;evil", "&lt;evil"},
                      std::pair{"\\u001b]0;evil\\u0007", "\x1b]0;evil\x07"},
                      std::pair{"a\\n# evil", "a\n# evil"}));

}  // namespace
}  // namespace fathom
