#include "app/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace fathom {

Terminal Terminal::detect() {
  Terminal terminal;
  terminal.input_is_terminal = isatty(STDIN_FILENO) == 1;
  terminal.output_is_terminal = isatty(STDOUT_FILENO) == 1;
  terminal.error_is_terminal = isatty(STDERR_FILENO) == 1;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  terminal.color = terminal.output_is_terminal && (no_color == nullptr || *no_color == '\0') &&
                   std::string_view(term == nullptr ? "" : term) != "dumb";
  winsize size = {};
  if (terminal.output_is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
      size.ws_col > 0) {
    terminal.width = std::clamp<size_t>(size.ws_col, 60, 160);
  }
  return terminal;
}

}  // namespace fathom
