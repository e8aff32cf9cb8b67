#pragma once

#include <string_view>

#include "report/trace/summary.h"

namespace fathom {

// What the terminal behind standard output and error can show.
struct Terminal {
  bool input_is_terminal = false;
  bool output_is_terminal = false;
  bool error_is_terminal = false;
  bool color = false;          // as chosen with --color
  bool color_by_auto = false;  // a terminal, or CLICOLOR_FORCE; never where NO_COLOR is set
  size_t width = 100;

  static Terminal detect();
  void choose_color(std::string_view when);  // auto, always, never
};

// Standard streams that the caller closed are opened so that using them fails. Otherwise the next
// file opened would get their number, and the summary would be written into a report.
void hold_standard_streams();

}  // namespace fathom
