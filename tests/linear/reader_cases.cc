// Repositories whose listing, documents and manifests are made to be slow to read.
#include "linear_cases.h"
#include "test_files.h"

namespace fathom::test {

std::vector<LinearCase> reader_cases() {
  const auto file = [](std::string name, std::string text) {
    return [name, text](const std::filesystem::path& directory, size_t n) {
      write_file(directory / "repo" / name, repeated(text, n));
    };
  };
  return {
      {"ReadmeOfOpenBrackets", file("README.md", "["), "scan repo --out out", 4000},
  };
}

}  // namespace fathom::test
