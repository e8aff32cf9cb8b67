#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace fathom {

// The options of every command that writes a report: where to, in place of what, or not at all.
struct OutputArguments {
  std::string out;
  bool json = false, force = false, no_report = false, no_html = false;

  // --json alone only prints, and so does "-" with it.
  bool writes() const { return !no_report && (out.empty() ? !json : out != "-"); }
  // Whether report.html is part of it.
  bool writes_page() const { return writes() && !no_html; }
  bool is_standard_output() const { return out == "-"; }
};

// What each says in --help.
struct OutputTexts {
  std::string out, json, no_report;
};
void add_output_options(CLI::App& command, OutputArguments& arguments, const OutputTexts& texts);
// For a command whose report has a page.
void add_page_option(CLI::App& command, OutputArguments& arguments);

// For a report that is a directory: whether --out - can be meant. Complains where it cannot.
bool check_output(const OutputArguments& arguments);

// On standard error, unless nothing is to be said.
void tell(const std::vector<std::string>& notes, bool quiet);

}  // namespace fathom
