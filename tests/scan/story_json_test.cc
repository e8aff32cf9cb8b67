// scan.json holds what the kernel page shows: each step, estimate and note of one is in the other.
#include <simdjson.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "checks.h"
#include "report/markdown.h"
#include "session/code/scan.h"
#include "test_files.h"

namespace fathom {
namespace {

using simdjson::dom::element;

std::vector<element> items(element list) {
  const simdjson::dom::array array = list.get_array().value();
  return {array.begin(), array.end()};
}

std::string text(element object, const char* key) {
  std::string_view value;
  return object[key].get(value) == simdjson::SUCCESS ? std::string(value) : "";
}

bool contains_part(std::string_view whole, std::string_view part) {
  return whole.find(part) != std::string_view::npos;
}

struct FlatStep {
  element json;
  size_t depth;
};

void flatten(element steps, size_t depth, std::vector<FlatStep>& out) {
  for (element step : items(steps)) {
    out.push_back({step, depth});
    element inside;
    if (step["inside"].get(inside) == simdjson::SUCCESS) flatten(inside, depth + 1, out);
  }
}

void flatten_body(element body, std::vector<FlatStep>& out) {
  if (!body.is_null()) flatten(body["steps"], 0, out);
}

// "= 256 (derived)", as the page has it beside the code.
std::string value_of(element remark) {
  const std::string value = text(remark, "value");
  bool derived = false;
  if (remark["derived"].get(derived) != simdjson::SUCCESS) return "";
  return (value.empty() ? "" : "= " + value + (derived ? " " : "")) + (derived ? "(derived)" : "");
}

// Everything that scan.json says of a step.
void expect_in(const std::string& line, element step) {
  EXPECT_TRUE(contains_part(line, text(step, "words"))) << line;
  for (element code : items(step["code"]))
    EXPECT_TRUE(contains_part(line, md_code(code.get_string().value()))) << line;
  if (int64_t number = 0; step["line"].get(number) == simdjson::SUCCESS) {
    EXPECT_TRUE(contains_part(line, ":" + std::to_string(number))) << line;
  }
  const std::string confidence = text(step, "confidence");
  if (confidence != "certain") {
    EXPECT_TRUE(contains_part(line, "(" + confidence + ")")) << line;
  }
  element remarks;
  if (step["remarks"].get(remarks) != simdjson::SUCCESS) return;
  for (element remark : items(remarks)) {
    EXPECT_TRUE(contains_part(line, text(remark, "words"))) << line;
    EXPECT_TRUE(contains_part(line, value_of(remark))) << line;
    const std::string code = text(remark, "code");
    if (!code.empty()) {
      EXPECT_TRUE(contains_part(line, md_code(code))) << line;
    }
  }
}

void add_place(element of, std::vector<std::string>& pieces, const std::string& line) {
  int64_t first = 0, last = 0;
  if (of["line"].get(first) != simdjson::SUCCESS) return;
  const std::string file = text(of, "file"), number = ":" + std::to_string(first);
  std::vector<std::string> lines = {number};
  if (of["line_last"].get(last) == simdjson::SUCCESS)
    lines.insert(lines.begin(), number + "-" + std::to_string(last));
  for (const std::string& shown : {file, file.substr(file.rfind('/') + 1)}) {
    for (const std::string& end : lines) {
      if (!contains_part(line, md_code(shown + end))) continue;
      pieces.push_back(md_code(shown + end));
      return;
    }
  }
  ADD_FAILURE() << file << number << " is not in " << line;
}

void add_pieces(element of, std::vector<std::string>& pieces, const std::string& line) {
  pieces.push_back(text(of, "words"));
  pieces.push_back(value_of(of));
  element code = of["code"];
  if (code.is_string()) {
    pieces.push_back(md_code(code.get_string().value()));
  } else if (code.is_array()) {
    for (element one : items(code)) pieces.push_back(md_code(one.get_string().value()));
  }
  add_place(of, pieces, line);
  if (text(of, "confidence") != "certain") pieces.push_back("(" + text(of, "confidence") + ")");
}

// That a line says nothing that scan.json does not.
void expect_no_more(const std::string& line, element step) {
  std::vector<std::string> pieces;
  add_pieces(step, pieces, line);
  element remarks;
  if (step["remarks"].get(remarks) == simdjson::SUCCESS) {
    for (element remark : items(remarks)) add_pieces(remark, pieces, line);
  }
  std::ranges::stable_sort(pieces, std::greater(), &std::string::size);
  std::string rest = line.substr(line.find(". ") + 2);
  for (const std::string& piece : pieces) {
    const size_t at = rest.find(piece);
    if (at != std::string::npos) rest.erase(at, piece.size());
  }
  EXPECT_EQ(rest.find_first_not_of(" ,"), std::string::npos) << rest << "\nof\n" << line;
}

// The part of a page about one kernel or function.
struct Section {
  std::vector<std::string> steps;  // numbered lines
  std::vector<std::string> rows;   // of the table of estimates
  std::vector<std::string> notes;  // below "Possible improvements"
  std::string all;
};

Section section_of(const std::string& page, const std::string& name) {
  const std::string heading = "### " + md_code(name) + "\n";
  const size_t begin = page.find(heading);
  EXPECT_NE(begin, std::string::npos) << name;
  if (begin == std::string::npos) return {};
  const size_t from = begin + heading.size();
  const size_t end = std::min(page.find("\n### ", from), page.find("\n## ", from));
  Section section;
  section.all = page.substr(from, end - from);
  std::istringstream in(section.all);
  bool in_estimates = false, in_notes = false;
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find_first_not_of(' ');
    if (line.starts_with("| quantity")) in_estimates = true;
    if (line.starts_with("**")) in_notes = line.starts_with("**Possible improvements**");
    if (first == std::string::npos) {
      in_estimates = false;
    } else if (line[first] >= '0' && line[first] <= '9' && contains_part(line, ". ")) {
      section.steps.push_back(line);
    } else if (in_estimates && !line.starts_with("| quantity") && !line.starts_with("|---")) {
      section.rows.push_back(line);
    } else if (in_notes && line.starts_with("- ")) {
      section.notes.push_back(line);
    }
  }
  return section;
}

void expect_steps(const Section& section, const std::vector<FlatStep>& steps) {
  ASSERT_EQ(section.steps.size(), steps.size()) << section.all;
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(section.steps[i].find_first_not_of(' '), 3 * steps[i].depth) << section.steps[i];
    expect_in(section.steps[i], steps[i].json);
    expect_no_more(section.steps[i], steps[i].json);
  }
}

void expect_integration(const Section& section, element story) {
  size_t known = 0;
  for (const char* key : {"how_often", "only_where", "overlapped"}) {
    for (element step : items(story[key])) {
      expect_in(section.all, step);
      ++known;
    }
  }
  const bool in_forward = story["in_forward"].get_bool().value();
  const bool unknown = items(story["how_often"]).size() == 0;
  EXPECT_EQ(contains_part(section.all, "in every forward pass"), in_forward && unknown)
      << section.all;
  EXPECT_EQ(contains_part(section.all, "How often: unknown"), unknown && !in_forward) << known;
}

void expect_rows(const Section& section, const std::vector<element>& estimates) {
  ASSERT_EQ(section.rows.size(), estimates.size()) << section.all;
  for (size_t i = 0; i < estimates.size(); ++i) {
    EXPECT_TRUE(contains_part(section.rows[i], text(estimates[i], "name"))) << section.rows[i];
    EXPECT_TRUE(contains_part(section.rows[i], text(estimates[i], "formula"))) << section.rows[i];
    EXPECT_EQ(estimates[i]["low"].is_null(), contains_part(section.rows[i], "| unknown |"));
  }
}

std::vector<element> all_of(std::initializer_list<element> lists) {
  std::vector<element> out;
  for (element list : lists) {
    for (element one : items(list)) out.push_back(one);
  }
  return out;
}

std::string full(element of) {
  const std::string scope = text(of, "scope");
  return (scope.empty() ? "" : scope + (text(of, "kind") == "triton" ? "." : "::")) +
         text(of, "name");
}

class StoryJson : public testing::Test {
 protected:
  // Reports may not lie in a repository, so it is a copy.
  void SetUp() override {
    std::filesystem::copy(test::source_dir() / "examples/tiny-engine", repository(),
                          std::filesystem::copy_options::recursive);
    test::write_file(repository() / "csrc/prefix.cc",
                     "int same_prefix(const int* a, const int* b, int n) {\n"
                     "  if (n == 0) {\n    return 0;\n  }\n"
                     "  return std::mismatch(a, a + n, b).first - a;\n}\n");
  }

  std::filesystem::path repository() const { return directory_.path() / "engine"; }

  ScanRequest request() const {
    ScanRequest request;
    request.repository = repository().string();
    request.parameters = {"batch=64", "hidden=4096", "dtype=fp16"};
    request.platform = "h200";
    return request;
  }

  ScanResult written(const std::string& name, ScanRequest request) const {
    request.place = {directory_.path() / name, {"scan", "engine", ""}, false};
    request.writes = true;
    return scan(request).take();
  }

  std::filesystem::path path(const std::string& name) const { return directory_.path() / name; }
  std::string file(const std::string& name) const { return test::read_file(path(name)); }

 private:
  test::TemporaryDirectory directory_;
};

TEST_F(StoryJson, HoldsWhatThePageShows) {
  written("report", request());
  simdjson::dom::parser parser;
  const std::string json = file("report/scan.json"), page = file("report/kernels.md");
  element scan = parser.parse(json).value();
  size_t steps_seen = 0, inside_seen = 0, notes_seen = 0, known_seen = 0, on_cpu_seen = 0;
  for (element kernel : items(scan["kernels"])) {
    Section section = section_of(page, full(kernel));
    element story = kernel["story"];
    EXPECT_EQ(text(story, "told_from"), "statements");
    std::vector<FlatStep> steps;
    flatten(story["call"], 0, steps);
    flatten(story["launch"]["steps"], 0, steps);
    flatten_body(story["on_gpu"], steps);
    // Of a body that could not be read the page lists the evidence, which stands for itself.
    if (story["on_gpu"].is_null() && section.steps.size() > steps.size())
      section.steps.resize(steps.size());
    expect_steps(section, steps);
    expect_integration(section, story);
    element expected = kernel["expected"];
    const std::vector<element> estimates = all_of({expected["traffic"], expected["counters"]});
    expect_rows(section, expected["model"].is_null() ? std::vector<element>() : estimates);
    const std::vector<element> notes = all_of({kernel["could_be_better"]});
    ASSERT_EQ(section.notes.size(), notes.size()) << section.all;
    for (size_t i = 0; i < notes.size(); ++i) {
      EXPECT_TRUE(contains_part(section.notes[i], md_prose(text(notes[i], "text"))))
          << section.notes[i];
      EXPECT_TRUE(section.notes[i].ends_with("(" + text(notes[i], "basis") + ")"));
    }
    steps_seen += steps.size();
    notes_seen += notes.size();
    for (const FlatStep& step : steps) inside_seen += step.depth > 0;
    for (element estimate : estimates) known_seen += !estimate["low"].is_null();
  }
  for (element host : items(scan["host_functions"])) {
    const Section section = section_of(page, full(host));
    element story = host["story"];
    if (story["on_cpu"].is_null()) continue;
    std::vector<FlatStep> steps;
    flatten(story["call"], 0, steps);
    flatten_body(story["on_cpu"], steps);
    expect_steps(section, steps);
    expect_integration(section, story);
    expect_rows(section, all_of({host["expected"]["estimates"]}));
    ++on_cpu_seen;
  }
  // That there was something to compare.
  EXPECT_GT(steps_seen, 60u);
  EXPECT_GT(inside_seen, 10u);
  EXPECT_GT(notes_seen, 0u);
  EXPECT_GT(known_seen, 20u);
  EXPECT_EQ(on_cpu_seen, 1u);
}

TEST_F(StoryJson, IsPrintedAsItIsWritten) {
  const ScanResult result = written("report", request());
  const std::string json = file("report/scan.json");
  EXPECT_EQ(scan_json(result).value(), json);
  // Without a report, with other threads, and where the report is there already.
  ScanRequest alone = request();
  alone.threads = 3;
  EXPECT_EQ(scan_json(scan(alone).value()).value(), json);
  ScanRequest again = request();
  again.place = {path("report"), {"scan", "engine", ""}, false};
  again.reuses = true;
  const ScanResult kept = scan(again).take();
  ASSERT_TRUE(kept.kept);
  EXPECT_EQ(scan_json(kept).value(), json);
}

TEST_F(StoryJson, SaysWhatItWasToldFor) {
  simdjson::dom::parser parser;
  ScanRequest some = request();
  some.kernels = "rms*";
  const std::string json = scan_json(scan(some).value()).value();
  element all = parser.parse(json).value();
  EXPECT_EQ(text(all["told_for"], "platform"), "H200");
  EXPECT_EQ(text(all["told_for"], "kernels"), "rms*");
  EXPECT_EQ(items(all["told_for"]["parameters"]).size(), 3u);
  size_t told = 0;
  for (element kernel : items(all["kernels"])) {
    const bool asked = text(kernel, "name").starts_with("rms");
    EXPECT_EQ(kernel["story"].is_null(), !asked);
    EXPECT_FALSE(kernel["expected"].is_null());  // of all kernels
    told += asked;
  }
  EXPECT_EQ(told, 1u);

  ScanRequest plain;
  plain.repository = some.repository;
  const std::string without = scan_json(scan(plain).value(), {"kernels"}).value();
  element nothing = parser.parse(without).value();
  EXPECT_TRUE(nothing["told_for"]["platform"].is_null());
  EXPECT_TRUE(nothing["told_for"]["kernels"].is_null());
  // A time needs a GPU: unknown, and not 0.
  for (element kernel : items(nothing["kernels"])) {
    for (element estimate : items(kernel["expected"]["counters"])) {
      if (text(estimate, "name") == "time") {
        EXPECT_TRUE(estimate["low"].is_null());
      }
    }
  }
}

TEST_F(StoryJson, APatternThatFitsNoKernelFails) {
  ScanRequest none = request();
  none.kernels = "rms_nrom";
  const Result<ScanResult> result = scan(none);
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(contains_part(result.error().message, "matches none of")) << result.error().message;
}

}  // namespace
}  // namespace fathom
