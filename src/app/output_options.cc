#include "app/output_options.h"

#include "app/commands.h"

namespace fathom {

void add_output_options(CLI::App& command, OutputArguments& arguments, const OutputTexts& texts) {
  CLI::Option* out = command.add_option("-o,--out", arguments.out, texts.out);
  command.add_flag("--json", arguments.json, texts.json);
  CLI::Option* force = command.add_flag("--force", arguments.force,
                                        "Write into any directory and replace any report there; "
                                        "files that are not the report's are kept");
  command.add_flag("--no-report", arguments.no_report, texts.no_report)
      ->excludes(out)
      ->excludes(force);
}

void add_page_option(CLI::App& command, OutputArguments& arguments) {
  command.add_flag("--no-html", arguments.no_html,
                   "Leave out report.html, the report as a page for a browser");
}

bool check_output(const OutputArguments& arguments) {
  if (!arguments.is_standard_output() || arguments.json) return true;
  complain(
      "--out -: the report is a directory of files; --json prints its facts to standard output");
  std::fputs(kTryHelp, stderr);
  return false;
}

void tell(const std::vector<std::string>& notes, bool quiet) {
  if (quiet) return;
  for (const std::string& note : notes) complain(note);
}

}  // namespace fathom
