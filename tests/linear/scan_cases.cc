// Repositories whose code is made to be slow to resolve.
#include "linear_cases.h"
#include "test_files.h"

namespace fathom::test {

std::vector<LinearCase> scan_cases() {
  const auto file = [](std::string name, std::string head, std::string text, std::string tail) {
    return [=](const std::filesystem::path& directory, size_t n) {
      write_file(directory / "repo" / name, head + repeated(text, n) + tail);
    };
  };
  return {
      {"CallsOfCalls", file("a.cu", "__global__ void k(int* x) { x[0] = a", "(1)", "; }\n"),
       "scan repo --out out", 2000},
  };
}

}  // namespace fathom::test
