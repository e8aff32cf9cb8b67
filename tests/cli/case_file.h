#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom::test {

// One line of a case file; about.md has the format.
struct CaseLine {
  enum class Kind { kText, kNeeds, kFile, kContent, kCommand, kOutput, kError, kExit };

  Kind kind = Kind::kText;
  bool glob = false;  // of an expected line: * and ? match any
  std::string text;   // without the mark that says what it is
  size_t number = 0;  // from 1
};

struct CaseFile {
  std::vector<CaseLine> lines;
  std::string error;  // why the text is no case, with the line; empty when it is one
};

CaseFile parse_case(std::string_view text);
// The inverse: parsing and printing gives the text back.
std::string print_case(const std::vector<CaseLine>& lines);

// What a command must print, in the order of the file.
struct Expectation {
  std::vector<CaseLine> output, errors;
  int exit_code = 0;
};
struct CaseCommand {
  std::string text;
  size_t number = 0;
  Expectation expected;
};
struct CaseInput {
  std::string name, content;
};

std::vector<CaseCommand> case_commands(const std::vector<CaseLine>& lines);
std::vector<CaseInput> case_inputs(const std::vector<CaseLine>& lines);

// What a program printed, as lines in which control characters are seen: ESC is ␛.
std::vector<std::string> visible_lines(std::string_view printed);

// Empty when the printed lines are those expected, else what differs first.
std::string first_difference(const std::vector<CaseLine>& expected,
                             const std::vector<std::string>& printed);

// The printed lines as an expectation; a glob that still matches its line stays.
std::vector<CaseLine> expect_lines(CaseLine::Kind kind, const std::vector<CaseLine>& before,
                                   const std::vector<std::string>& printed);

}  // namespace fathom::test
