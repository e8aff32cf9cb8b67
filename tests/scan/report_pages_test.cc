// The scan report as a whole: every link leads to a file and a heading that exist, the top level
// stays within five pages, nothing is told twice. Over small repositories, the project's own code
// and, where FATHOM_SCAN_REPOS names their folder, real ones.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "checks.h"
#include "report/scan/scan_report.h"
#include "scan/scan_repository.h"
#include "story/tell_stories.h"
#include "test_files.h"

namespace fathom {
namespace {

using std::filesystem::path;
using Pages = std::map<std::string, std::string>;

Pages pages_of(const CodeFacts& facts, const StoryContext& context = {}) {
  Pages pages;
  for (ReportPage& page : scan_pages({facts, tell_stories(facts, context)})) {
    EXPECT_TRUE(pages.emplace(page.path, page.text).second) << page.path << " twice";
  }
  return pages;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  bool in_code = false;
  for (std::string line; std::getline(in, line);) {
    const bool is_fence = line.starts_with("```");
    if (is_fence) in_code = !in_code;
    if (!in_code && !is_fence) lines.push_back(line);
  }
  EXPECT_FALSE(in_code) << "a code block is open at the end";
  return lines;
}

// A code span's content means nothing, whatever it holds.
std::string without_code(const std::string& line) {
  std::string out;
  for (size_t at = 0; at < line.size();) {
    if (line[at] != '`') {
      out += line[at++];
      continue;
    }
    const size_t ticks = std::min(line.find_first_not_of('`', at), line.size()) - at;
    size_t close = at + ticks;
    for (;; ++close) {
      close = line.find(std::string(ticks, '`'), close);
      if (close == std::string::npos) break;
      const size_t run = std::min(line.find_first_not_of('`', close), line.size()) - close;
      if (run == ticks) break;
      close += run;
    }
    if (close == std::string::npos) {
      ADD_FAILURE() << "an open code span: " << line;
      return out;
    }
    at = close + ticks;
  }
  return out;
}

// As GitHub names headings, written down a second time.
std::set<std::string> anchors_of(const std::string& page) {
  std::set<std::string> anchors;
  for (const std::string& line : lines_of(page)) {
    if (!line.starts_with('#')) continue;
    const size_t text = line.find_first_not_of("# ");
    std::string shown;
    for (const char c : line.substr(std::min(text, line.size()))) {
      if (c != '`') shown += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    while (shown.ends_with(' ')) shown.pop_back();
    shown.erase(0, std::min(shown.find_first_not_of(' '), shown.size()));
    std::string anchor;
    for (const char c : shown) {
      if (c == ' ') anchor += '-';
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || (c & 0x80))
        anchor += c;
    }
    std::string unique = anchor;
    for (int n = 1; anchors.contains(unique); ++n) unique = anchor + "-" + std::to_string(n);
    anchors.insert(unique);
  }
  return anchors;
}

size_t check_links(const Pages& pages) {
  std::map<std::string, std::set<std::string>> anchors;
  for (const auto& [name, text] : pages) anchors[name] = anchors_of(text);
  size_t links = 0;
  for (const auto& [name, text] : pages) {
    for (const std::string& line : lines_of(text)) {
      const std::string shown = without_code(line);
      for (size_t at = 0; (at = shown.find("](", at)) != std::string::npos; ++at) {
        const size_t end = shown.find(')', at);
        if (end == std::string::npos) {
          ADD_FAILURE() << name << ": " << line;
          break;
        }
        const std::string target = shown.substr(at + 2, end - at - 2);
        const size_t hash = std::min(target.find('#'), target.size());
        const std::string file =
            hash == 0
                ? name
                : (path(name).parent_path() / target.substr(0, hash)).lexically_normal().string();
        ++links;
        if (file == "scan.json") continue;
        if (!pages.contains(file)) {
          ADD_FAILURE() << name << " links to " << target << ", which is not there";
        } else if (hash < target.size()) {
          EXPECT_TRUE(anchors[file].contains(target.substr(hash + 1)))
              << name << " links to " << target << ", which has no such heading";
        }
      }
    }
  }
  return links;
}

// Heads of tables, with the names of their columns.
std::set<std::string> tables_of(const std::string& page) {
  std::set<std::string> tables;
  const std::vector<std::string> lines = lines_of(page);
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].starts_with("|--") || lines[i].starts_with("| :--")) tables.insert(lines[i - 1]);
  }
  return tables;
}

void check_report(const std::string& name, const Pages& pages) {
  SCOPED_TRACE(name);
  EXPECT_GT(check_links(pages), 5u);
  for (const char* top : {"architecture.md", "repo_analysis.md"}) {
    EXPECT_LE(std::ranges::count(pages.at(top), '\n'), static_cast<long>(kFivePages)) << top;
  }
  // Pages that hold everything of a few may be longer.
  const auto is_overview = [&](const std::string& folder) {
    return std::ranges::any_of(
        pages, [&](const auto& page) { return page.first.starts_with(folder + "/"); });
  };
  EXPECT_LE(printed_lines(pages.at("quick_scan.md")), kFivePages);
  for (const char* top : {"features", "kernels", "options"}) {
    if (!is_overview(top)) continue;
    EXPECT_LE(printed_lines(pages.at(top + std::string(".md"))), kFivePages) << top;
  }
  for (const auto& [page, text] : pages) EXPECT_LE(text.size(), 400'000u) << page;
  const std::set<std::string> first = tables_of(pages.at("quick_scan.md"));
  for (const std::string& table : tables_of(pages.at("repo_analysis.md"))) {
    EXPECT_FALSE(first.contains(table)) << "on both pages: " << table;
  }
}

CodeFacts scan_of(const path& repository) {
  Result<CodeFacts> facts = scan_repository(repository);
  EXPECT_TRUE(facts.ok()) << (facts.ok() ? "" : facts.error().message);
  return facts.ok() ? facts.take() : CodeFacts();
}

TEST(ReportPages, OfSmallRepositories) {
  std::vector<path> repositories = {test::source_dir() / "examples/tiny-engine",
                                    test::source_dir() / "kernels"};
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_dir() / "tests/scan/repositories")) {
    if (entry.is_directory()) repositories.push_back(entry.path());
  }
  ASSERT_GT(repositories.size(), 10u);
  for (const path& repository : repositories) {
    const CodeFacts facts = scan_of(repository);
    check_report(repository.filename(), pages_of(facts));
  }
}

TEST(ReportPages, OfRealRepositories) {
  const char* folder = std::getenv("FATHOM_SCAN_REPOS");
  if (folder == nullptr) GTEST_SKIP() << "skipped: FATHOM_SCAN_REPOS names no folder";
  size_t checked = 0;
  for (const char* name : {"mini-sglang", "flashinfer", "flash-attention", "llm.c", "vllm"}) {
    if (!std::filesystem::is_directory(path(folder) / name)) continue;
    ++checked;
    const CodeFacts facts = scan_of(path(folder) / name);
    const Pages pages = pages_of(facts);
    check_report(name, pages);
    // Every kernel is told of in full, however many there are.
    size_t stories = 0;
    for (const auto& [page, text] : pages) {
      for (const std::string& line : lines_of(text)) stories += line.starts_with("- **Code** ");
    }
    EXPECT_EQ(stories, facts.kernels.size() + facts.host_functions.size()) << name;
    if (std::string_view(name) == "llm.c") {
      const std::string& quick = pages.at("quick_scan.md");
      EXPECT_LT(quick.find("runs `train_gpt2.cu`"), quick.find("`dev/cuda/` 22"));
      EXPECT_EQ(quick.find("`dev/cuda/adamw.cu`"), std::string::npos);
    }
  }
  EXPECT_GT(checked, 0u) << folder << " has none of the repositories";
}

// Many kernels of few names, in folders whose names mean harm.
CodeFacts many_kernels() {
  CodeFacts facts;
  facts.repository = "many";
  const char* folders[] = {
      "", "csrc/a/", "csrc/b/", "Csrc/a/", "csrc-a/", "../x y|`z`/#/", "csrc/[l](http://x)/"};
  for (const char* folder : folders) {
    for (int i = 0; i < 6; ++i) {
      facts.files.push_back({folder + std::string("f") + std::to_string(i) + ".cu", Language::kCuda,
                             Origin::kOwn, 10, 10, ""});
      KernelFacts kernel;
      kernel.name = i == 0 ? "old | kernel`\x1b[31m" : i == 1 ? "expected" : "copy";
      kernel.at = {static_cast<uint32_t>(facts.files.size() - 1), 1};
      kernel.line_name = 1;
      kernel.line_last = 9;
      kernel.evidence = {{"gather", "", kernel.at, kernel.name}};
      kernel.dead = i == 5;
      facts.kernels.push_back(kernel);
    }
  }
  return facts;
}

TEST(ReportPages, OfManyKernelsByFolder) {
  const CodeFacts facts = many_kernels();
  const Pages pages = pages_of(facts);
  EXPECT_GT(check_links(pages), facts.kernels.size());
  std::set<std::string> names;
  size_t told = 0;
  for (const auto& [page, text] : pages) {
    if (!page.starts_with("kernels/")) continue;
    std::string lower = page;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    EXPECT_TRUE(names.insert(lower).second) << page;
    EXPECT_EQ(page.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789_-./"),
              std::string::npos)
        << page;
    EXPECT_EQ(page.find(".."), std::string::npos) << page;
    for (const std::string& line : lines_of(text)) told += line.starts_with("**Execution story**");
  }
  EXPECT_EQ(names.size(), 5u);  // the root, csrc/, Csrc/a/, csrc-a/ and ../
  EXPECT_EQ(told, facts.kernels.size());
  // One less and all would stand on one page.
  CodeFacts few = facts;
  few.kernels.resize(kKernelsOnOnePage);
  EXPECT_EQ(pages_of(few).count("kernels/root.md"), 0u);
  EXPECT_EQ(kernel_pages(few, tell_stories(few)).pages.size(), 1u);
  few = facts;
  few.kernels.resize(kKernelsOnOnePage + 1);
  EXPECT_GT(kernel_pages(few, tell_stories(few)).pages.size(), 1u);
}

TEST(ReportPages, AreNotWrittenOfNothing) {
  const Pages pages = pages_of({});
  for (const char* absent : {"entry_points.md", "options.md", "dependencies.md"}) {
    EXPECT_FALSE(pages.contains(absent)) << absent;
  }
  check_links(pages);
}

TEST(PagesByFolder, LargeFoldersAreDividedAndSmallOnesStayTogether) {
  const std::vector<FileSection> sections = {
      {"a/x.cu", 10},    {"b/big/x.cu", 60}, {"b/big/y.cu", 60}, {"b/one/x.cu", 5},
      {"b/two/x.cu", 5}, {"b/z.cu", 5},      {"huge.cu", 500},   {"small.cu", 10}};
  std::map<std::string, size_t> counts;
  size_t all = 0;
  for (const FolderPage& page : pages_by_folder(sections, 100)) {
    EXPECT_TRUE(counts.emplace(page.title, page.sections.size()).second) << page.title;
    all += page.sections.size();
  }
  EXPECT_EQ(all, sections.size());
  const std::map<std::string, size_t> expected = {{"a/", 1},         {"b/big/x.cu", 1},
                                                  {"b/big/y.cu", 1}, {"b/ (the rest)", 3},
                                                  {"huge.cu", 1},    {"small.cu", 1}};
  EXPECT_EQ(counts, expected);
}

TEST(PagesByFolder, AFolderThatHoldsOneOtherIsCalledByIt) {
  const auto pages =
      pages_by_folder({{"python/kernel/csrc/a.cu", 1}, {"python/kernel/b.cu", 1}}, 9);
  ASSERT_EQ(pages.size(), 1u);
  EXPECT_EQ(pages[0].title, "python/kernel/");
}

TEST(HeadingAnchors, AreThoseOfGitHub) {
  HeadingAnchors names;
  EXPECT_EQ(names.add("# Flash attention (tiled, online softmax)\n"),
            "flash-attention-tiled-online-softmax");
  EXPECT_EQ(names.add("text\n\n### `a::B_c`\n\n## second\n"), "ab_c");
  EXPECT_EQ(names.add("## second\n"), "second-1");
  EXPECT_EQ(names.add("## Second\n"), "second-2");
  EXPECT_EQ(names.add("```text\n# no heading\n```\n#no heading either\n"), "");
}

TEST(PrintedLines, LongLinesTakeSeveralAndTargetsOfLinksNone) {
  EXPECT_EQ(printed_lines(""), 0u);
  EXPECT_EQ(printed_lines("a\n\nb\n"), 3u);
  EXPECT_EQ(printed_lines(std::string(120, 'a') + "\n"), 1u);
  EXPECT_EQ(printed_lines(std::string(121, 'a') + "\n"), 2u);
  EXPECT_EQ(printed_lines("[a](" + std::string(300, 'b') + ") c\n"), 1u);
}

}  // namespace
}  // namespace fathom
