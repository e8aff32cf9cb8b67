#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <simdjson.h>

#include <fstream>

#include "base/deflate.h"
#include "test_files.h"

namespace fathom::test {
namespace {

namespace fs = std::filesystem;

std::string from_base64(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    if (value < 0) break;
    bits = bits << 6 | static_cast<uint32_t>(value);
    held += 6;
    if (held >= 8) out += static_cast<char>(bits >> (held -= 8));
  }
  return out;
}

std::string inflated(std::string_view bytes) {
  std::string out(bytes.size() * 40 + 4096, '\0');
  inflate_state state;
  isal_inflate_init(&state);
  state.next_in = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(bytes.data()));
  state.avail_in = static_cast<uint32_t>(bytes.size());
  state.next_out = reinterpret_cast<uint8_t*>(out.data());
  state.avail_out = static_cast<uint32_t>(out.size());
  EXPECT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
  out.resize(state.total_out);
  return out;
}

std::string base64_of(const std::string& html, std::string_view id) {
  const std::string begin = "id=\"" + std::string(id) + "\">";
  const size_t from = html.find(begin);
  if (from == std::string::npos) return {};
  return html.substr(from + begin.size(), html.find("</script>", from) - from - begin.size());
}

simdjson::dom::element facts_of(simdjson::dom::parser& parser, const std::string& html) {
  return parser.parse(inflated(from_base64(base64_of(html, "facts")))).value();
}

std::string report_of(const std::string& trace, const fs::path& out, const std::string& more = "") {
  const CommandResult run = run_command(
      fathom_binary() + " analyze --no-cache -q " + more + " --out " + out.string() + " " + trace,
      "/");
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  return fs::exists(out / "report.html") ? read_file(out / "report.html") : std::string();
}

TEST(Deflate, IsWhatComesBack) {
  Deflater deflater;
  std::string noise;
  for (uint32_t i = 0, x = 1; i < 300'000; ++i)
    noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  for (const std::string& text :
       {std::string(), std::string("a"), std::string(5'000'000, 'x'), noise}) {
    std::string out(text.size() + 64, '\0');
    const std::string packed = deflater.deflated(text);
    inflate_state state;
    isal_inflate_init(&state);
    state.next_in = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(packed.data()));
    state.avail_in = static_cast<uint32_t>(packed.size());
    state.next_out = reinterpret_cast<uint8_t*>(out.data());
    state.avail_out = static_cast<uint32_t>(out.size());
    ASSERT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
    out.resize(state.total_out);
    EXPECT_TRUE(out == text) << text.size();
    EXPECT_EQ(state.block_state, ISAL_BLOCK_FINISH) << text.size();
  }
}

TEST(Base64, OfTheStandardsExamples) {
  const auto encoded = [](std::string_view bytes) {
    std::string out;
    append_base64(out, bytes);
    return out;
  };
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encoded("\xff\xfe\xfd"), "//79");
}

// Every event of the trace that has a length is in the page once, or counted as left out.
TEST(ReportPage, HoldsAllEventsAndTheSummary) {
  const TemporaryDirectory place;
  int number = 0;
  for (const fs::path& trace : example_traces()) {
    if (fs::file_size(trace) > 2'000'000) continue;
    const fs::path out = place.path() / std::to_string(number++);
    const std::string html = report_of(trace.string(), out);
    ASSERT_FALSE(html.empty()) << trace;
    simdjson::dom::parser parser, summary_parser;
    const simdjson::dom::element facts = facts_of(parser, html);
    const simdjson::dom::element summary =
        summary_parser.parse(read_file(out / "summary.json")).value();
    for (const auto& [key, value] : summary.get_object().value()) {
      if (key == "report" || key == "files" || key == "ops" || key == "steps") continue;
      EXPECT_EQ(simdjson::minify(value), simdjson::minify(facts["summary"][key].value()))
          << trace << ": " << key;
    }
    const simdjson::dom::element timeline = facts["timeline"].value();
    int64_t gpu_events = 0;
    for (const auto track : timeline["tracks"].get_array().value()) {
      if (track["kind"].get_string().value() != "stream") continue;
      for (const auto row : track["rows"].get_array().value())
        gpu_events += row["events"].get_int64().value();
    }
    EXPECT_EQ(gpu_events, summary["gpu_events"].get_int64().value()) << trace;
    EXPECT_EQ(timeline["left_out"]["events"].get_int64().value(), 0) << trace;
    const size_t data = base64_of(html, "facts").size() + base64_of(html, "blocks").size();
    EXPECT_LT(html.size() - data, 3u << 20);
  }
  EXPECT_GT(number, 5);
}

TEST(ReportPage, IsLeftOutWhereAskedFor) {
  const TemporaryDirectory place;
  const std::string trace = (source_dir() / "examples/ddp-rank0-h200.json.gz").string();
  EXPECT_EQ(report_of(trace, place.path() / "r", "--no-html"), "");
  EXPECT_TRUE(fs::exists(place.path() / "r/summary.json"));
  EXPECT_EQ(read_file(place.path() / "r/summary.json").find("report.html"), std::string::npos);
  EXPECT_NE(report_of(trace, place.path() / "r"), "");
  EXPECT_NE(read_file(place.path() / "r/summary.json").find("report.html"), std::string::npos);
  // A page that is not asked for again does not stay behind from the report before.
  EXPECT_EQ(report_of(trace, place.path() / "r", "--no-html"), "");
}

// Times of a damaged trace may be anything.
TEST(ReportPage, OfTimesThatCannotBe) {
  const TemporaryDirectory place;
  const fs::path trace = place.path() / "odd.json";
  write_file(trace, R"({"traceEvents":[
{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1,"dur":5,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":9e15,"dur":5,"args":{"device":0,"stream":7,"correlation":2}},
{"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":1,"ts":-9e15,"dur":-5},
{"ph":"X","cat":"cpu_op","name":"d","pid":1,"tid":1,"ts":3,"dur":9e15},
{"ph":"C","cat":"x","name":"counter","pid":1,"tid":1,"ts":2,"args":{"v":1e308}}]})");
  const std::string html = report_of(trace.string(), place.path() / "r");
  ASSERT_FALSE(html.empty());
  simdjson::dom::parser parser;
  EXPECT_EQ(facts_of(parser, html)["kind"].get_string().value(), "analyze");
}

bool has_page_tools() {
  return fs::exists(source_dir() / "web/node_modules/esbuild") &&
         run_command("command -v node", "/").exit_code == 0;
}

TEST(ReportPage, IsWhatTheSourcesBuild) {
  if (!has_page_tools()) GTEST_SKIP() << "no node or web/node_modules: ./dev test-web";
  const TemporaryDirectory place;
  const fs::path web = source_dir() / "web";
  const CommandResult built = run_command(
      "node " + (web / "build.mjs").string() + " " + (place.path() / "p.html").string(), web);
  ASSERT_EQ(built.exit_code, 0) << built.errors;
  EXPECT_TRUE(read_file(place.path() / "p.html") == read_file(web / "dist/report.html"))
      << "web/dist/report.html is not what web/ builds: ./dev web";
}

TEST(ReportPage, TypesAreChecked) {
  const fs::path compiler = source_dir() / "web/node_modules/typescript/bin/tsc";
  if (!has_page_tools() || !fs::exists(compiler))
    GTEST_SKIP() << "no node or web/node_modules: ./dev test-web";
  const CommandResult checked =
      run_command("node " + compiler.string() + " --noEmit", source_dir() / "web");
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
}

TEST(ReportPage, InABrowser) {
  if (!has_page_tools() || !fs::exists(source_dir() / "web/node_modules/playwright-core"))
    GTEST_SKIP() << "no node or web/node_modules: ./dev test-web";
  const CommandResult found = run_command("command -v chromium || command -v google-chrome", "/");
  if (found.exit_code != 0) GTEST_SKIP() << "no chromium here: ./dev test-web";
  const std::string browser = found.output.substr(0, found.output.find('\n'));
  const CommandResult run =
      run_command("node " + (source_dir() / "tests/web/browser.mjs").string() + " " +
                      fathom_binary() + " " + source_dir().string() + " " + browser,
                  "/");
  EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
}

}  // namespace
}  // namespace fathom::test
