// Repositories whose listing, documents and manifests are made to be slow to read.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "linear_cases.h"
#include "test_files.h"

namespace fathom::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScan = "scan repo --threads 1 --out out";

using Make = std::function<void(const fs::path& directory, size_t n)>;
// The text of one file for a size.
using Text = std::function<std::string(size_t n)>;

Make file(std::string name, Text text) {
  return [name = std::move(name), text = std::move(text)](const fs::path& directory, size_t n) {
    write_file(directory / "repo" / name, text(n));
  };
}

// `before`, `part` n times, `after`.
Make file_of(std::string name, std::string part, std::string before = "", std::string after = "") {
  return file(std::move(name), [=](size_t n) { return before + repeated(part, n) + after; });
}

// A line for each number, "{}" being the number.
Text lines(std::string form) {
  return [form = std::move(form)](size_t n) {
    std::string out;
    for (size_t i = 0; i < n; ++i) out += fmt::format(fmt::runtime(form), i);
    return out;
  };
}

Make both(Make one, Make other) {
  return [one = std::move(one), other = std::move(other)](const fs::path& directory, size_t n) {
    one(directory, n);
    other(directory, n);
  };
}

// n files, "{}" in the path being their number.
Make files(std::string path, std::string text) {
  return [path = std::move(path), text = std::move(text)](const fs::path& directory, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      write_file(directory / "repo" / fmt::format(fmt::runtime(path), i, i % 30), text);
    }
  };
}

std::string big_endian(uint32_t value, size_t bytes) {
  std::string out(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) out[bytes - 1 - i] = static_cast<char>(value >> (8 * i));
  return out;
}

// Paths of 4,000 bytes that differ from the one before in their last byte, which is all that
// version 4 writes of each.
std::string index_of_like_paths(size_t n) {
  const std::string zeros(60, '\0');
  std::string out = "DIRC" + big_endian(4, 4) + big_endian(static_cast<uint32_t>(n + 1), 4);
  out += zeros + big_endian(0xfff, 2) + '\0' + std::string(4000, 'a') + '\0';
  for (size_t i = 0; i < n; ++i) out += zeros + big_endian(0xfff, 2) + "\x01" + "b" + '\0';
  return out;
}

std::vector<LinearCase> documents() {
  const auto readme = [](std::string part, std::string before = "", std::string after = "") {
    return file_of("README.md", std::move(part), std::move(before), std::move(after));
  };
  return {
      {"ReadmeOfOpenBrackets", readme("["), kScan, 4000},
      {"ReadmeOfNestedLinks",
       file("README.md", [](size_t n) { return repeated("[", n) + repeated("](x)", n); }), kScan,
       2000},
      {"ReadmeOfOpenLinks", readme("[a](", ""), kScan, 2000},
      {"ReadmeOfLinksWithOneEnd", readme("](", "", ")"), kScan, 4000},
      {"ReadmeOfImages", readme("![a](", "", ")"), kScan, 2000},
      {"ReadmeOfTags", readme("<a"), kScan, 4000},
      {"ReadmeOfComments", readme("<!--\n"), kScan, 4000},
      {"ReadmeOfBackticks", readme("`"), kScan, 8000},
      {"ReadmeOfTwoRunsOfBackticks",
       file("README.md", [](size_t n) { return repeated("`", n) + " " + repeated("`", n - 1); }),
       kScan, 4000},
      {"ReadmeOfStars", readme("*"), kScan, 8000},
      {"ReadmeOfSentences", readme("we use. "), kScan, 8000},
      {"ReadmeOfMentions", readme("CUDA graphs we use.\n"), kScan, 8000},
      {"ReadmeOfListItems", readme("- a b c\n", "- CUDA graphs\n"), kScan, 4000},
      {"ReadmeOfHeadings", readme("# same\n"), kScan, 2000},
      {"ReadmeOfColumns", readme("|"), kScan, 8000},
      {"ReadmeOfRows", readme("| `--x` | 3 |\n", "| a | default |\n|-|-|\n"), kScan, 10000},
      {"ReadmeOfFences", readme("```\n"), kScan, 16000},
      {"ReadmeOfALongLanguage",
       file("README.md",
            [](size_t n) { return "```" + repeated("x", n) + "\n" + repeated("a\n", n); }),
       kScan, 20000},
      {"ReadmeOfVariables", readme("REPO_A REPO_B "), kScan, 20000},
      {"DocumentedOptions",
       both(file("a.py",
                 [](size_t n) {
                   return "import argparse\np = argparse.ArgumentParser()\n" +
                          lines("p.add_argument('--aa{}')\n")(n / 4);
                 }),
            file("README.md",
                 [](size_t n) {
                   return "```bash\n" + repeated("python a.py --a\n", n) +
                          lines("python a.py --z{}\n")(n) + "```\n";
                 })),
       kScan, 2000},
      {"DocumentedPathsOfOneName", both(files("d{}/a.py", "x=1\n"), readme("`d1/x/a.py` ")), kScan,
       100},
      {"DocumentedCalls",
       file("README.md",
            [](size_t n) {
              return "```python\n" + lines("import a{}\n")(n) + lines("f{}()\n")(n) + "```\n";
            }),
       kScan, 300},
      {"DirectivesOfRst", file_of("README.rst", ".. code::\n"), kScan, 10000},
  };
}

std::vector<LinearCase> manifests() {
  return {
      {"Requirements", file("requirements.txt", lines("p{}>=1\n")), kScan, 1500},
      {"RequirementFiles", file("requirements.txt", lines("-r r{}.txt\n")), kScan, 1000},
      {"TomlTableOfManyNames",
       file("pyproject.toml",
            [](size_t n) { return "[" + repeated("a.", n) + "a]\n" + repeated("x=1\n", n); }),
       kScan, 1000},
      {"TomlGroupWithALongName",
       file("pyproject.toml",
            [](size_t n) {
              return "[project.optional-dependencies]\n" + repeated("x", 10 * n) + "=[" +
                     repeated("\"a\",", n) + "]\n";
            }),
       kScan, 500},
      {"TomlTableWithALongName",
       file("pyproject.toml",
            [](size_t n) {
              return "[tool.poetry.dependencies." + repeated("x", 100 * n) + "]\n" +
                     repeated("a=1\n", n);
            }),
       kScan, 500},
      {"TomlOfLists", file_of("pyproject.toml", "[", "a="), kScan, 4000},
      {"JsonOfObjects", file_of("package.json", "{\"a\":"), kScan, 2000},
      {"CargoOfOwnCrates",
       file("Cargo.toml",
            [](size_t n) { return "[dependencies]\n" + lines("a{} = {{ path = \"x\" }}\n")(n); }),
       kScan, 8000},
      {"SetupOfOneWord", file_of("setup.py", "install_requires "), kScan, 1000},
      {"SetupWithALongGroup",
       file("setup.py",
            [](size_t n) {
              return "setup(extras_require={\"" + repeated("g", 10 * n) + "\":[" +
                     repeated("\"a\",", n) + "]})\n";
            }),
       kScan, 500},
      {"CMakeOfCalls", file_of("CMakeLists.txt", "f("), kScan, 40000},
      {"CMakeOfComments", file_of("CMakeLists.txt", "#[["), kScan, 4000},
      {"CMakeOfLibraries", file_of("CMakeLists.txt", "b ", "target_link_libraries(a ", ")"), kScan,
       2000},
      {"CondaPackages", file_of("environment.yml", "  - a\n", "dependencies:\n"), kScan, 1000},
      {"Submodules",
       both(files("m{}/a.h", ""),
            both(file(".gitmodules", lines("[submodule \"m{0}\"]\npath=m{0}\n")),
                 file_of("README.md", "", "- CUDA graphs\n- paged attention\n- FP8\n"))),
       kScan, 200},
  };
}

std::vector<LinearCase> listing() {
  return {
      {"OneLineFiles", files("d{1}/f{0}.py", "x=1\n"), kScan, 300},
      {"OneFileInEachFolder", files("d{0}/f.py", "x=1\n"), kScan, 300},
      {"FoldersInAFolder", files("a/b{1}/c{0}/d/f.cu", "void f() {}\n"), kScan, 100},
      {"HeadersInAChain",
       [](const fs::path& directory, size_t n) {
         for (size_t i = 0; i < n; ++i) {
           write_file(directory / "repo" / fmt::format("h{}.cuh", i),
                      fmt::format("#include \"h{}.cuh\"\n__device__ void f{}() {{}}\n", i + 1, i));
         }
       },
       kScan, 200},
      {"IgnoredFolderStars",
       both(files("d{1}/f{0}.h", ""),
            file_of(".gitignore", "", repeated(repeated("**/", 100) + "x\n", 20))),
       kScan, 400},
      {"IgnoredByManyNames", both(files("d{}.h", ""), file(".gitignore", lines("name{}\n"))), kScan,
       250},
      {"IgnoreClassesLeftOpen", file_of(".gitignore", "[[:"), kScan, 600},
      {"IndexOfLikePaths",
       [](const fs::path& directory, size_t n) {
         write_file(directory / "repo/.git/HEAD", "");
         write_file(directory / "repo/.git/index", index_of_like_paths(n));
         write_file(directory / "repo/a.py", "x=1\n");
       },
       kScan, 2000},
      {"JinjaOfOpenTags", file_of("a.cuh.jinja", "{%", "#include <a>\n"), kScan, 2000},
      {"JinjaOfValuesAndALine", file_of("a.cuh.jinja", "{{", "#include <a>\n", "\n}}"), kScan,
       1000},
      {"ZeroBytes",
       file("a.cu",
            [](size_t n) {
              return "void f() {}\n" + std::string(9000, ' ') + std::string(n, '\0');
            }),
       kScan, 20000},
  };
}

}  // namespace

std::vector<LinearCase> reader_cases() {
  std::vector<LinearCase> all;
  for (std::vector<LinearCase> cases : {documents(), manifests(), listing()}) {
    std::ranges::move(cases, std::back_inserter(all));
  }
  return all;
}

}  // namespace fathom::test
