// How a trace is read changes no byte of its report.
#include <zstd.h>

#include <filesystem>

#include "invariants/every_trace.h"
#include "test_files.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::differing_files;
using test::read_with;
using test::report_files;
using test::ReportFiles;

class ReadingLaws : public test::LawOfTraces {
 protected:
  const ReportFiles& expected() const {
    static std::map<std::string, ReportFiles> reports;
    ReportFiles& files = reports[path()];
    if (files.empty()) files = report_files(trace());
    return files;
  }

  ReportFiles report_of_bytes(std::string_view bytes) const {
    const test::TemporaryDirectory directory;
    // The same name for all: compression is told by the bytes.
    const std::string file = (directory.path() / "trace").string();
    test::write_file(file, bytes);
    return report_files(read_with(file, {}));
  }
};

TEST_P(ReadingLaws, ChunkSizeAndThreadCountChangeNothing) {
  struct Way {
    size_t threads, chunk_size;
  };
  for (const Way& way : {Way{1, 64}, Way{7, 1 << 10}, Way{2, 1 << 20}}) {
    const Trace read = read_with(path(), test::read_options(way.threads, way.chunk_size));
    EXPECT_EQ(differing_files(report_files(read), expected()), "")
        << way.threads << " threads, chunks of " << way.chunk_size;
  }
}

TEST_P(ReadingLaws, CompressionChangesNothing) {
  EXPECT_EQ(differing_files(report_of_bytes(text()), expected()), "") << "plain";
  std::string packed(ZSTD_compressBound(text().size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text().data(), text().size(), 1));
  EXPECT_EQ(differing_files(report_of_bytes(packed), expected()), "") << "zstd";
}

TEST_P(ReadingLaws, TheSizeIsThatOfTheText) {
  EXPECT_EQ(trace().store.input_bytes(), static_cast<int64_t>(text().size()));
  EXPECT_EQ(trace().store.entries(), static_cast<int64_t>(test::take_apart(text()).events.size()));
}

// Other texts of the same JSON.
TEST_P(ReadingLaws, WhiteSpaceBetweenEventsChangesNothing) {
  const test::TraceParts parts = test::take_apart(text());
  std::string spaced(parts.head);
  for (std::string_view event : parts.events) {
    spaced += event.data() == parts.events.front().data() ? "\r\n\t " : " ,\r\n\n\t";
    spaced += event;
  }
  spaced += parts.tail;
  ReportFiles files = report_of_bytes(spaced), original = expected();
  files.erase("summary.json");  // says how long the text is
  original.erase("summary.json");
  EXPECT_EQ(differing_files(files, original), "");
}

FATHOM_FOR_EVERY_TRACE(ReadingLaws);

// What the program writes, and not only what is computed, is the same.
TEST(ReadingOnTheCommandLine, ThreadsAndCompressionChangeNoFile) {
  const test::TemporaryDirectory directory;
  const std::string packed = test::example_traces().front().string();
  const auto run = [&](const std::string& command) {
    const test::CommandResult done = test::run_command(command, directory.path());
    ASSERT_EQ(done.exit_code, 0) << command << "\n" << done.errors << done.output.substr(0, 4000);
  };
  const std::string fathom = test::fathom_binary();
  const std::vector<std::pair<std::string, std::string>> ways = {
      {"cp '" + packed + "' trace", " --threads 1"},
      {"cp '" + packed + "' trace", " --threads 7"},
      {"gzip -dc '" + packed + "' > trace", ""},
  };
  for (size_t i = 0; i < ways.size(); ++i) {
    run(ways[i].first);
    run(fathom + " analyze trace --quiet --out report" + ways[i].second);
    run("mv report report" + std::to_string(i));
  }
  run("diff -r report0 report1");
  run("diff -r report0 report2");
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "report0" / "summary.json"));
}

}  // namespace
}  // namespace fathom
