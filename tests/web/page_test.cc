#include <isa-l/igzip_lib.h>
#include <simdjson.h>

#include <fstream>
#include <memory>

#include "base/deflate.h"
#include "checks.h"
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

// A page is the same each time it is made: nothing of the compressor's memory or address is seen.
TEST(Deflate, DependsOnNothingButTheText) {
  uint32_t x = 1;
  const auto next = [&] { return x = x * 1664525 + 1013904223; };
  std::vector<std::unique_ptr<Deflater>> deflaters;
  for (int i = 0; i < 8; ++i) deflaters.push_back(std::make_unique<Deflater>());
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (uint32_t length = 20 + (next() >> 25); text.size() < length;) text += "abcd"[next() >> 30];
    const std::string first = deflaters[0]->deflated(text);
    for (const auto& deflater : deflaters) ASSERT_TRUE(deflater->deflated(text) == first) << round;
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
    // The first view does not wait for the events: they stand behind the program.
    EXPECT_LT(html.find("id=\"facts\""), html.rfind("<script>"));
    EXPECT_GT(html.find("id=\"blocks\""), html.rfind("<script>"));
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

// Totals of PyTorch's allocator, from whichever thread they come; the CPU's are none.
TEST(ReportPage, ShowsMemoryOverTime) {
  const TemporaryDirectory place;
  const fs::path trace = place.path() / "memory.json";
  std::string events;
  const auto memory = [&](int at, int thread, int type, int64_t allocated, const char* name) {
    events += R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":")" + std::string(name) +
              R"(","pid":1,"tid":)" + std::to_string(thread) + R"(,"ts":)" + std::to_string(at) +
              R"(,"args":{"Total Reserved":4096,"Total Allocated":)" + std::to_string(allocated) +
              R"(,"Bytes":1,"Device Id":0,"Device Type":)" + std::to_string(type) + "}},\n";
  };
  memory(2, 1, 1, 100, "[memory]");
  memory(3, 2, 1, 300, "[memory]");
  memory(4, 1, 0, 999, "[memory]");
  memory(5, 1, 1, 777, "[other]");
  write_file(trace, "{\"traceEvents\":[\n" + events + R"(
{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1,"dur":9,"args":{"device":0,"stream":7,"correlation":1}}]})");
  const std::string html = report_of(trace.string(), place.path() / "r");
  ASSERT_FALSE(html.empty());
  simdjson::dom::parser parser;
  std::vector<std::string> found;
  for (const auto series : facts_of(parser, html)["timeline"]["series"].get_array().value())
    found.push_back(std::string(series["name"].get_string().value()) + " " +
                    simdjson::minify(series["t"].value()) + simdjson::minify(series["v"].value()));
  EXPECT_EQ(found,
            (std::vector<std::string>{"GPU 0 memory allocated (bytes) [1000,2000][100,300]",
                                      "GPU 0 memory reserved (bytes) [1000,2000][4096,4096]"}));
}

// The column of a CSV file with plain cells.
std::vector<double> column_of(const fs::path& csv, const std::string& column) {
  std::vector<double> values;
  std::ifstream in(csv);
  std::string line;
  std::optional<size_t> at;
  const auto cells_of = [](const std::string& text) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : text) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted)
        cells.emplace_back();
      else if (c != '"' && c != '\r')
        cells.back() += c;
    }
    return cells;
  };
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (!at) {
      for (size_t i = 0; i < cells.size(); ++i)
        if (cells[i] == column) at = i;
      if (!at) return {};
      continue;
    }
    if (!cells[*at].empty()) values.push_back(std::stod(cells[*at]));
  }
  return values;
}

TEST(ReportPage, HasWhatTheHardwareCounted) {
  const TemporaryDirectory place;
  const std::string html = report_of(
      (source_dir() / "examples/captures/llama-h200.capture").string(), place.path() / "r");
  ASSERT_FALSE(html.empty());
  simdjson::dom::parser parser;
  std::vector<double> intensities;
  for (const auto kernel : facts_of(parser, html)["hardware"]["kernels"].get_array().value()) {
    double intensity = 0, sum = 0;
    if (kernel["intensity"].get(intensity) == simdjson::SUCCESS) intensities.push_back(intensity);
    for (const auto stall : kernel["stalls"].get_array().value())
      sum += stall.at(1).get_double().value();
    EXPECT_GT(sum, 1);
    EXPECT_LE(sum, 100.001);
  }
  const std::vector<double> expected =
      column_of(place.path() / "r/perf_report_csvs/kernels.csv", "FLOP per DRAM byte");
  ASSERT_EQ(intensities.size(), expected.size());
  ASSERT_GT(expected.size(), 10u);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(intensities[i], expected[i], 1e-3 * expected[i] + 1e-6);
}

TEST(ReportPage, HasPcSamplesByReasonAndLine) {
  const TemporaryDirectory place;
  const std::string html = report_of(
      (source_dir() / "examples/captures/stalls-h200.capture").string(), place.path() / "r");
  ASSERT_FALSE(html.empty());
  simdjson::dom::parser parser;
  size_t kernels = 0;
  for (const auto kernel : facts_of(parser, html)["hardware"]["sampled"].get_array().value()) {
    ++kernels;
    int64_t reasons = 0;
    for (const auto reason : kernel["reasons"].get_array().value())
      reasons += reason.at(1).get_int64().value();
    EXPECT_EQ(reasons, kernel["stalled"].get_int64().value());
    EXPECT_NE(kernel["places"].at(0)["place"].get_string().value().find("stalls.cu:"),
              std::string_view::npos);
  }
  EXPECT_EQ(kernels, 3u);
}

// Of two runs: the mean of the busy shares is what the summary tells, and the pairs add up.
TEST(ReportPage, LaysTwoRunsOverEachOther) {
  const TemporaryDirectory place;
  const auto trace = [](const char* name) {
    return " " + (source_dir() / "examples" / name).string();
  };
  const CommandResult run =
      run_command(fathom_binary() + " diff -q --out r" + trace("llama-h200.json.gz") +
                      trace("llama-compiled-h200.json.gz"),
                  place.path());
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  simdjson::dom::parser parser, json_parser;
  const simdjson::dom::element overlay =
      facts_of(parser, read_file(place.path() / "r/report.html"))["overlay"].value();
  const simdjson::dom::element diff =
      json_parser.parse(read_file(place.path() / "r/diff.json")).value();
  double work_a = 0, work_b = 0;
  for (const auto pair : overlay["categories"].get_array().value()) {
    work_a += pair["a_ms"].get_double().value();
    work_b += pair["b_ms"].get_double().value();
  }
  double expected_a = 0, expected_b = 0;
  for (const auto category : diff["categories"].get_array().value()) {
    expected_a += category["a_us"].get_double().value() / 1e3;
    expected_b += category["b_us"].get_double().value() / 1e3;
  }
  EXPECT_NEAR(work_a, expected_a, 1e-3);
  EXPECT_NEAR(work_b, expected_b, 1e-3);
  EXPECT_GT(work_a, 1);
  for (const char* side : {"a", "b"}) {
    double busy = 0;
    for (const auto share : overlay[side]["busy"].get_array().value()) {
      EXPECT_LE(share.get_double().value(), 1.0001);
      busy += share.get_double().value() * overlay["part_ns"].get_double().value() / 1e6;
    }
    // One GPU whose kernels do not overlap: busy time is the work.
    EXPECT_NEAR(busy, std::string(side) == "a" ? work_a : work_b, 0.06 * busy) << side;
  }
}

TEST(ReportPage, HasTheWaterfallOfAnAblation) {
  const TemporaryDirectory place;
  const fs::path kernels = source_dir() / "kernels/rows";
  const CommandResult run =
      run_command(fathom_binary() + " ablate " + (kernels / "suite.toml").string() + " --replay " +
                      (kernels / "ablation").string() + " --out " + (place.path() / "r").string(),
                  place.path());
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  simdjson::dom::parser parser;
  const auto steps = facts_of(parser, read_file(place.path() / "r/report.html"))["ladder"]["steps"]
                         .get_array()
                         .value();
  ASSERT_GT(steps.size(), 2u);
  EXPECT_EQ(steps.at(0)["kind"].get_string().value(), "whole");
  double before = steps.at(0)["to_s"].get_double().value();
  for (const auto step : steps) {
    const std::string_view kind = step["kind"].get_string().value();
    const double from = step["from_s"].get_double().value(), to = step["to_s"].get_double().value();
    EXPECT_TRUE(kind != "result" || to == before);
    if (kind != "better" && kind != "worse" && kind != "not_kept") continue;
    EXPECT_TRUE(from == before || to == before) << step["name"].get_string().value();
    EXPECT_TRUE(kind != "better" || to == before);
    before = from == before ? to : from;
  }
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

TEST(ReportPage, Logic) {
  if (!has_page_tools()) GTEST_SKIP() << "no node or web/node_modules: ./dev test-web";
  const CommandResult run = run_command(
      "node " + (source_dir() / "tests/web/logic.mjs").string() + " " + source_dir().string(), "/");
  EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
}

std::string browser_run(const char* script) {
  const CommandResult found = run_command("command -v chromium || command -v google-chrome", "/");
  if (found.exit_code != 0) return {};
  return "node " + (source_dir() / "tests/web" / script).string() + " " + fathom_binary() + " " +
         source_dir().string() + " " + found.output.substr(0, found.output.find('\n'));
}

void check_in_browser(const char* script) {
  if (!has_page_tools() || !fs::exists(source_dir() / "web/node_modules/playwright-core"))
    GTEST_SKIP() << "no node or web/node_modules: ./dev test-web";
  const std::string command = browser_run(script);
  if (command.empty()) GTEST_SKIP() << "no chromium here: ./dev test-web";
  const CommandResult run = run_command(command, "/");
  EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
  if (run.output.starts_with("skipped: ")) GTEST_SKIP() << run.output;
}

TEST(ReportPage, InABrowser) { check_in_browser("browser.mjs"); }
TEST(PageViews, InABrowser) { check_in_browser("views.mjs"); }
TEST(MeasuredViews, InABrowser) { check_in_browser("measured.mjs"); }
TEST(ServedPage, InABrowser) { check_in_browser("served.mjs"); }

}  // namespace
}  // namespace fathom::test
