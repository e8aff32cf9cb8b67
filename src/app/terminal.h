#pragma once

#include "report/summary.h"

namespace fathom {

// What the terminal behind standard output and error can show.
struct Terminal {
  bool input_is_terminal = false;
  bool output_is_terminal = false;
  bool error_is_terminal = false;
  bool color = false;  // a terminal, and NO_COLOR is not set
  size_t width = 100;

  static Terminal detect();
};

}  // namespace fathom
