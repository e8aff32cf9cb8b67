#include "report/scan/scan_report.h"

#include <algorithm>
#include <sstream>

#include "checks.h"
#include "story/tell_stories.h"
namespace fathom {
namespace {

// A repository with one launched and one dead kernel, and names that try to be markup.
CodeFacts small_facts() {
  CodeFacts facts;
  facts.repository = "demo";
  facts.files = {{"csrc/copy.cu", Language::kCuda, Origin::kOwn, 2000, 80, ""},
                 {"demo/api.py", Language::kPython, Origin::kOwn, 1000, 40, ""},
                 {"third_party/x.h", Language::kCpp, Origin::kVendored, 500, 20, ""}};
  KernelFacts copy;
  copy.name = "copy_rows";
  copy.scope = "demo";
  copy.at = {0, 10};
  copy.line_name = 12;
  copy.line_last = 30;
  copy.template_parameters = "<int N>";
  copy.attributes = {"__launch_bounds__(128)"};
  copy.profiler_name = "void demo::copy_rows<*>(*)";
  copy.launchers = {{{0, 50},
                     52,
                     "run",
                     "<<<>>>",
                     "(n + 3) / 4",
                     "128",
                     "",
                     "stream",
                     {{LaunchAttribute::Kind::kPdl}},
                     "<4>",
                     {"n > 4"},
                     {},
                     {},
                     {}}};
  copy.path = {{PathHopKind::kPython, "copy", {1, 7}},
               {PathHopKind::kBinding, "copy", {0, 70}, Certainty::kLikely, "demo"}};
  copy.evidence = {{"vector access", "16 bytes", {0, 20}, "copy_rows"},
                   {"vector access", "16 bytes", {0, 21}, "copy_rows"},
                   {"gather", "", {0, 5}, "load_row"}};
  KernelFacts dead;
  dead.name = "old | kernel`\x1b[31m\n# x";
  dead.kind = KernelKind::kTriton;
  dead.at = {1, 1};
  dead.line_name = 2;
  dead.line_last = 5;
  dead.dead = true;
  facts.kernels = {copy, dead};
  facts.options = {{"--rows",
                    {"-r"},
                    OptionKind::kCli,
                    "int",
                    "4",
                    "",
                    "how many | rows",
                    {},
                    {1, 3},
                    {{1, 9}},
                    "demo"}};
  facts.options.push_back(
      {"DEMO_{NAME}", {}, OptionKind::kEnvironment, "", {}, "", "", {}, {1, 4}, {}, ""});
  facts.entry_points = {{EntryKind::kMain, "demo/api.py", "", "python -m demo.api", {1, 39}}};
  facts.dependencies = {{"torch", ">=2.4", DependencyKind::kPython, "", {1, 1}, {{1, 2}}},
                        {"numpy", "", DependencyKind::kPython, "", {0, 0}, {{1, 2}}}};
  facts.host_functions = {
      {"compare", "demo", {0, 60}, 66, {{"prefix compare", "", {0, 62}, "compare"}}, {}}};
  return facts;
}

ScanReport told(const CodeFacts& facts, const StoryContext& context = {}) {
  return {facts, tell_stories(facts, context)};
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ScanReport, Json) {
  const std::string json = scan_json(told(small_facts()));
  for (const char* part :
       {R"("schema": "fathom.scan/1")",
        R"("name": "copy_rows")",
        R"("kind": "cuda")",
        R"("file": "csrc/copy.cu")",
        R"("line_first": 10)",
        R"("line_name": 12)",
        R"("line_last": 30)",
        R"("dead": false)",
        R"("dead": true)",
        R"("kind": "triton")",
        R"({"file":"csrc/copy.cu", "line":50, "line_last":52, "function":"run", "via":"<<<>>>", )",
        R"("shared_memory":null)",
        R"("attributes":["PDL"])",
        R"("default": "4")",
        R"("default": null)",
        R"("kind": "env")",
        R"("declared":false)",
        R"("declared":true, "file":"demo/api.py", "line":1)",
        R"("confidence":"likely")",
        R"("origin":"vendored")",
        R"("readme": null)"}) {
    EXPECT_TRUE(contains(json, part)) << part;
  }
  EXPECT_FALSE(contains(json, "\x1b"));
}

TEST(ScanReport, JsonOfSomeParts) {
  const std::string json = scan_json(told(small_facts()), {"options"});
  EXPECT_TRUE(contains(json, "--rows"));
  EXPECT_TRUE(contains(json, "schema"));
  EXPECT_FALSE(contains(json, "copy_rows"));
  EXPECT_FALSE(contains(json, "torch"));
}

TEST(ScanReport, JsonIsUtf8WhateverNamesAre) {
  CodeFacts facts = small_facts();
  facts.files[0].path = "csrc/\xff.cu";
  EXPECT_TRUE(contains(scan_json(told(facts)), "csrc/?.cu"));
}

std::string page_of(const CodeFacts& facts, std::string_view name) {
  for (const ReportPage& page : scan_pages(told(facts))) {
    if (page.path == name) return page.text;
  }
  return "";
}

TEST(ScanReport, KernelsMarkdown) {
  const std::string text = page_of(small_facts(), "kernels.md");
  for (const char* part :
       {"2 kernels in 2 files; 1 dead", "### `demo::copy_rows`",
        "`csrc/copy.cu:10-30`, named in line 12",
        "**Launched** `csrc/copy.cu:50-52` in `run` via `<<<>>>`; grid `(n + 3) / 4`; block "
        "`128`; "
        "stream `stream`; template arguments `<4>`; where `n > 4`; PDL",
        "**Path** Python copy `demo/api.py:7` → exported by demo as copy `csrc/copy.cu:70` "
        "(likely)",
        "**vector access** `16 bytes` `csrc/copy.cu:20`, `16 bytes` `csrc/copy.cu:21`",
        "**gather** `csrc/copy.cu:5` in `load_row`", "## Dead kernels (1)", "`demo::compare`"}) {
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  }
  EXPECT_FALSE(contains(text, "\x1b"));
  EXPECT_FALSE(contains(text, "\n# x"));
  EXPECT_TRUE(contains(page_of({}, "kernels.md"), "No GPU kernel found."));
}

TEST(ScanReport, QuickScanMarkdown) {
  const std::string text = page_of(small_facts(), "quick_scan.md");
  for (const char* part :
       {"3 files · 140 lines", "2 kernels: 1 cuda, 1 triton. 1 dead", "No README at the root.",
        "| Python program | `python -m demo.api` | `demo/api.py:39` | |",
        "- Command line: 1, in `demo/` 1\n- Environment: 1, in `demo/` 1\n",
        "| `--rows` | `4` | how many `\\|` rows | `demo/api.py:3` |",
        "| [`csrc/copy.cu`](kernels.md#csrccopycu) | 1 | `copy_rows` |",
        "Declared, the most used first: `torch>=2.4`.", "1 more is imported but not declared",
        "Origin: own 2 files (120 lines), vendored 1 file (20 lines)."}) {
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  }
}

// A method's way is to the kernel that is called like it, else to the most important one that is
// surely reached, and not to its gradient.
TEST(ScanReport, WayOfARequest) {
  CodeFacts facts = small_facts();
  const auto kernel = [&facts](std::string name, size_t launchers) {
    KernelFacts one = facts.kernels[0];
    one.name = std::move(name);
    one.launchers.resize(launchers, one.launchers[0]);
    facts.kernels.push_back(one);
    return static_cast<uint32_t>(facts.kernels.size() - 1);
  };
  const auto way = [&facts](std::string entry, std::string through, uint32_t to,
                            Certainty certainty = Certainty::kCertain) {
    RequestPath path;
    path.entry_kind = EntryKind::kMethod;
    path.entry = entry;
    path.kernel = to;
    path.kernels_reached = 3;
    for (const std::string& name : {entry, through, facts.kernels[to].name})
      path.hops.emplace_back().function = name;
    path.hops[1].certainty = certainty;
    facts.request_paths.push_back(path);
  };
  facts.request_paths.clear();
  const uint32_t moves = kernel("defragment_rows", 1), back = kernel("product_backward", 9),
                 unsure = kernel("product_unsure", 9), product = kernel("product_tiles", 9);
  way("demo.Engine.step", "clear", moves);
  way("demo.Engine.step", "product_bwd", back);
  way("demo.Engine.step", "perhaps", unsure, Certainty::kUnsure);
  way("demo.Engine.step", "multiply", product);
  way("demo.Sorter.run", "run", kernel("radix_sorter", 1));
  way("demo.Sorter.run", "multiply", product);
  const std::string page = page_of(facts, "quick_scan.md");
  EXPECT_TRUE(contains(page, "`demo.Engine.step` → `multiply` → `product_tiles`")) << page;
  EXPECT_TRUE(contains(page, "`demo.Sorter.run` → `run` → `radix_sorter`")) << page;
}

TEST(ScanReport, FullListsHaveTheirPages) {
  const CodeFacts facts = small_facts();
  EXPECT_TRUE(contains(page_of(facts, "entry_points.md"),
                       "| `python -m demo.api` | | `demo/api.py:39` | |"));
  EXPECT_TRUE(contains(page_of(facts, "options.md"),
                       "| `--rows` | cli | `int` | `4` | how many `\\|` rows | 3 | `demo` |"));
  const std::string dependencies = page_of(facts, "dependencies.md");
  EXPECT_TRUE(contains(dependencies, "## Required\n")) << dependencies;
  EXPECT_TRUE(contains(dependencies,
                       "## Imported but not declared\n\n| name | requirement | kind | group | "
                       "declared | used |\n|---|---|---|---|---|---|\n| `numpy` | | python | | | "
                       "1 file, first `demo/api.py:2` |"))
      << dependencies;
}

TEST(ScanReport, TopLevelStaysShortOfManyFacts) {
  CodeFacts facts = small_facts();
  for (int i = 0; i < 500; ++i) {
    facts.options.push_back(facts.options[0]);
    facts.options.back().name += std::to_string(i);
    facts.entry_points.push_back(facts.entry_points[0]);
    facts.dependencies.push_back(
        {"d" + std::to_string(i), "", DependencyKind::kPython, "", {1, 1}, {}});
    facts.notes.push_back(std::string(300, 'n'));
  }
  const std::string text = page_of(facts, "quick_scan.md");
  EXPECT_LT(printed_lines(text), 130u) << text;
  EXPECT_TRUE(contains(text, "497 more Python programs: `demo/` 497"));
  EXPECT_TRUE(contains(text, ", 481 more."));
  EXPECT_TRUE(contains(page_of(facts, "options.md"), "--rows499"));
}

// The program that reaches kernels, then others at the root; what developers keep aside is counted.
TEST(ScanReport, EntryPointsThatMatterComeFirst) {
  CodeFacts facts;
  facts.repository = "train";
  for (const char* path : {"dev/cuda/adamw.cu", "dev/cuda/gelu.cu", "profile.cu", "tests/test_a.py",
                           "train.cu", "sub/deep/other.cu"}) {
    facts.files.push_back({path, Language::kCuda, Origin::kOwn, 1, 1, ""});
    const bool test = std::string_view(path).starts_with("tests");
    facts.entry_points.push_back({test ? EntryKind::kTest : EntryKind::kCppMain,
                                  path,
                                  "main",
                                  "",
                                  {static_cast<uint32_t>(facts.files.size() - 1), 1}});
  }
  facts.entry_points[4].kernels_reached = 26;
  facts.entry_points[2].kernels_reached = 0;
  RequestPath way;
  way.entry_kind = EntryKind::kCppMain;
  way.entry = "train.cu";
  way.kernels_reached = 26;
  way.hops = {{"main", {ReachKind::kEntry}, {4, 1}, {}, Certainty::kCertain}};
  facts.request_paths = {way};
  const std::string text = page_of(facts, "quick_scan.md");
  EXPECT_TRUE(contains(text,
                       "| C++ program | `train.cu` | `train.cu:1` | 26 |\n"
                       "| C++ program | `profile.cu` | `profile.cu:1` | |\n"
                       "| C++ program | `sub/deep/other.cu` | `sub/deep/other.cu:1` | |\n\n"
                       "- 2 more C++ programs: `dev/cuda/` 2\n- 1 test: `tests/` 1\n"))
      << text;
}

TEST(ScanReport, OneScreenAtEveryWidth) {
  CodeFacts facts = small_facts();
  facts.readme = ReadmeFacts{
      0, "Demo", std::string(3000, 'w') + " and many words more " + std::string(500, 'x'),
      3, {},     {}};
  for (int i = 0; i < 300; ++i) {
    facts.files.push_back(
        {"csrc/a/very/long/way/down/to/the/kernels/number" + std::to_string(i) + ".cu",
         Language::kCuda, Origin::kOwn, 1, 1, ""});
    facts.kernels.push_back(facts.kernels[0]);
    facts.kernels.back().at.file = static_cast<uint32_t>(facts.files.size() - 1);
    facts.kernels.back().evidence.push_back(
        {"feature number " + std::to_string(i), "", {0, 1}, ""});
    facts.dependencies.push_back(
        {"dependency" + std::to_string(i), "", DependencyKind::kPython, "", {1, 1}, {}});
    facts.notes.push_back("a note on " + std::string(200, 'n'));
  }
  for (const size_t width : {60u, 80u, 100u, 160u}) {
    StoryContext asked;
    asked.kernels = "copy*";
    const std::string with_kernels =
        scan_text(told(facts, asked), {false, false, width}, {"demo.fathom-scan", {"scan.json"}});
    EXPECT_TRUE(contains(with_kernels, "Expect")) << with_kernels;
    EXPECT_TRUE(contains(with_kernels, "293 more in kernels.md")) << with_kernels;
    EXPECT_LE(std::ranges::count(with_kernels, '\n'), 45);
    const std::string text =
        scan_text(told(facts), {false, false, width}, {"demo.fathom-scan", {"scan.json"}});
    std::istringstream lines(text);
    size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      EXPECT_LE(screen_width(line), width) << line;
    }
    EXPECT_LE(count, 40u) << text;
    EXPECT_GE(count, 15u);
    EXPECT_FALSE(contains(text, "Expect"));
    EXPECT_FALSE(contains(text, "\x1b"));
  }
}

TEST(ScanReport, LinesForPeople) {
  EXPECT_EQ(scan_lines(small_facts(), {"kernels"}),
            "csrc/copy.cu:10  cuda  demo::copy_rows\n"
            "demo/api.py:1  triton  old | kernel`\\u001b[31m\\n# x  dead\n");
  EXPECT_EQ(scan_lines(small_facts(), {"options", "dependencies"}),
            "demo/api.py:3  cli  --rows  4\ndemo/api.py:4  env  DEMO_{NAME}\n"
            "demo/api.py:1  python  torch  >=2.4\nundeclared  python  numpy\n");
}

}  // namespace
}  // namespace fathom
