// What holds of the analysis and its reports, whatever the trace.
#include <iterator>
#include <sstream>

#include "checks.h"
#include "invariants/every_trace.h"
#include "session/analyze.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

class ReportLaws : public test::LawOfTraces {
 protected:
  const SheetInput& input() {
    if (!input_) input_.emplace(trace().store, trace().tree, scope_);
    return *input_;
  }

 private:
  Scope scope_;
  std::optional<SheetInput> input_;
};

std::vector<Finding> findings_of(const SheetInput& input, const MeasuredOps& ops,
                                 const Platform* platform) {
  return find_all(Assessment(input, ops, platform));
}

TEST_P(ReportLaws, SameTraceSameBytes) {
  const Analysis once = analyze(trace(), {}).value(), again = analyze(trace(), {}, {1, {}}).value();
  ASSERT_EQ(once.files.size(), again.files.size());
  for (size_t i = 0; i < once.files.size(); ++i) {
    EXPECT_EQ(once.files[i].path, again.files[i].path);
    EXPECT_EQ(once.files[i].content, again.files[i].content) << once.files[i].path;
  }
}

TEST_P(ReportLaws, CategoriesAreAllOfTheOps) {
  const SheetInput& in = input();
  const MeasuredOps ops(in, find_launchers(in));
  const Assessment assessment(in, ops, detect_platform(trace()));
  Nanos time;
  size_t count = 0;
  for (const AssessedCategory& category : assessment.categories()) {
    time += category.time;
    count += category.ops.size();
  }
  EXPECT_EQ(time, ops.total());
  EXPECT_EQ(count, ops.groups().size());
}

TEST_P(ReportLaws, NothingSavesMoreThanItTakesWithWhatGoesWithIt) {
  const SheetInput& in = input();
  const MeasuredOps ops(in, find_launchers(in));
  for (const Finding& f : findings_of(in, ops, detect_platform(trace()))) {
    EXPECT_GE(f.saving_at_least, Nanos{}) << f.title;
    EXPECT_LE(f.saving_at_least, f.saving_at_most) << f.title;
    EXPECT_LE(f.saving_at_least, f.time) << f.title;
    EXPECT_LE(f.saving_at_most, f.time + f.with_it) << f.title;
    EXPECT_FALSE(f.change_code.empty()) << f.title;
    for (const Projection& p : f.projections) {
      EXPECT_LE(p.gain, 1) << f.title;
      EXPECT_GE(p.gain, 0) << f.title;
    }
  }
}

TEST_P(ReportLaws, TheFairReportReadsInThreeMinutes) {
  const Analysis analysis = analyze(trace(), {}).value();
  for (const ReportFile& file : analysis.files) {
    if (file.path != "standalone_analysis_fair.md") continue;
    std::istringstream words(file.content);
    EXPECT_LE(std::distance(std::istream_iterator<std::string>(words), {}), 900);
    const size_t begin = file.content.find("## Summary"),
                 end = file.content.find("## Recommendations");
    ASSERT_NE(end, std::string::npos);
    EXPECT_LE(std::count(file.content.begin() + static_cast<std::ptrdiff_t>(begin),
                         file.content.begin() + static_cast<std::ptrdiff_t>(end), '\n'),
              20);
  }
}

TEST_P(ReportLaws, PicturesAreOfOneSizeAndNamedByTheReport) {
  const Analysis analysis = analyze(trace(), {}).value();
  std::string report;
  for (const ReportFile& file : analysis.files)
    if (file.path == "standalone_analysis_fair.md") report = file.content;
  for (const std::string name : {"timeline.svg", "roofline.svg"}) {
    const auto drawn = std::ranges::find(analysis.files, name, &ReportFile::path);
    EXPECT_EQ(drawn != analysis.files.end(), report.find(name) != std::string::npos) << name;
    if (drawn != analysis.files.end()) {
      EXPECT_LT(drawn->content.size(), 100'000u);
    }
  }
}

FATHOM_FOR_EVERY_TRACE(ReportLaws);

const ReportFile& file_named(const Analysis& analysis, std::string_view path) {
  for (const ReportFile& file : analysis.files) {
    if (file.path == path) return file;
  }
  ADD_FAILURE() << "no " << path;
  return analysis.files.front();
}

// The markdown of a hostile trace with its code spans taken out: nothing of a name remains.
TEST(Reports, NamesAreInert) {
  const std::string name = R"(x|`</td><script>alert(1)</script>[a](http://e.com)\n# y @root)";
  const Trace trace = test::open_events(
      {test::cpu_op(name, 10, 20, R"("Input Dims":[[64,64]],"Input type":["float"])"),
       test::launch_call(12, 5, 7), test::kernel(name, 40, 3000, 7)});
  const Analysis analysis = fathom::analyze(trace, {}).value();
  for (const ReportFile& file : analysis.files) {
    if (!file.path.ends_with(".md")) continue;
    std::string outside;
    for (size_t i = 0; i < file.content.size();) {
      size_t ticks = 0;
      while (i + ticks < file.content.size() && file.content[i + ticks] == '`') ++ticks;
      const size_t end =
          ticks > 0 ? file.content.find(std::string(ticks, '`'), i + ticks) : std::string::npos;
      if (ticks > 0 && end != std::string::npos) {
        i = end + ticks;
      } else {
        outside += file.content[i++];
      }
    }
    EXPECT_EQ(outside.find("script"), std::string::npos) << file.path;
    EXPECT_EQ(outside.find("http"), std::string::npos) << file.path;
    EXPECT_EQ(outside.find("@root"), std::string::npos) << file.path;
  }
}

TEST(Reports, WithoutMetadataTheySayWhatIsNotComputed) {
  const Trace trace =
      test::open_events({test::cpu_op("aten::mm", 10, 20), test::launch_call(12, 5, 7),
                         test::kernel("gemm", 40, 3000, 7)});
  const Analysis analysis = fathom::analyze(trace, {}).value();
  EXPECT_NE(
      file_named(analysis, "standalone_analysis_fair.md").content.find("no efficiency computed"),
      std::string::npos);
  EXPECT_NE(file_named(analysis, "standalone_analysis_rough.md").content.find("no cost"),
            std::string::npos);
  EXPECT_NE(file_named(analysis, "category_manifest.json").content.find("\"absent_categories\""),
            std::string::npos);
}

// Told another GPU than the trace's, the same work is nearer to its limit, or farther.
TEST(Reports, ThePlatformAskedForDecides) {
  const Trace trace = test::open_events(
      {test::cpu_op("aten::neg", 10, 20, R"("Input Dims":[[4096,4096]],"Input type":["float"])"),
       test::launch_call(12, 5, 7), test::kernel("neg", 40, 3000, 7)});
  const auto report = [&trace](const char* name) {
    const Platform* platform = Platforms::built_in().find(name).value();
    return file_named(fathom::analyze(trace, {}, {0, platform}).value(),
                      "standalone_analysis_fair.md")
        .content;
  };
  EXPECT_NE(report("L4").find("| Platform | L4;"), std::string::npos);
  EXPECT_NE(report("H200").find("runs at 1.0 % of achievable"), std::string::npos)
      << "134 MB in 3 ms; 4.29 TB/s would take 31 µs";
}

}  // namespace
}  // namespace fathom
