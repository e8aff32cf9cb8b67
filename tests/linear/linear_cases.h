#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace fathom::test {

// An input whose cost must grow no faster than its size.
struct LinearCase {
  std::string name;  // of the test: letters and digits
  // Writes an input of size n into the directory.
  std::function<void(const std::filesystem::path& directory, size_t n)> make;
  std::string arguments;  // of fathom, run in that directory; reports go to "out"
  size_t n;               // sizes n/2, n and 2n are tried; at n it takes well under a second
  int exit_code = 0;

  friend void PrintTo(const LinearCase& c, std::ostream* out) { *out << c.arguments; }
};

std::vector<LinearCase> trace_cases();     // the reader of JSON
std::vector<LinearCase> recorder_cases();  // recordings of other tools
std::vector<LinearCase> analysis_cases();  // linking, sheets, findings, diff, reports
std::vector<LinearCase> nested_cases();    // calls, ranges and frames around each other
std::vector<LinearCase> text_cases();      // names and arguments
std::vector<LinearCase> reader_cases();    // a repository's listing, documents and manifests
std::vector<LinearCase> scan_cases();      // a repository's code
std::vector<LinearCase> body_cases();      // its long functions, and what they open
std::vector<LinearCase> phase_cases();     // the phases of a run
std::vector<LinearCase> counter_cases();   // hardware counters, and their join with a trace
std::vector<LinearCase> rank_cases();      // several ranks together

// `text` n times in a row.
std::string repeated(std::string_view text, size_t n);

}  // namespace fathom::test
