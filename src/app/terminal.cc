#include "app/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace fathom {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// no-color.org and bixense.com/clicolors.
bool wants_color(bool is_terminal) {
  if (!environment("NO_COLOR").empty()) return false;
  const std::string_view force = environment("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return is_terminal && environment("CLICOLOR") != "0" && environment("TERM") != "dumb";
}

// COLUMNS where it is a number, else what the terminal says.
std::optional<size_t> columns(bool is_terminal) {
  const std::string_view text = environment("COLUMNS");
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number > 0) return number;
  winsize size = {};
  if (is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return {};
}

}  // namespace

Terminal Terminal::detect() {
  Terminal terminal;
  terminal.input_is_terminal = isatty(STDIN_FILENO) == 1;
  terminal.output_is_terminal = isatty(STDOUT_FILENO) == 1;
  terminal.error_is_terminal = isatty(STDERR_FILENO) == 1;
  terminal.color = terminal.color_by_auto = wants_color(terminal.output_is_terminal);
  terminal.width =
      std::clamp<size_t>(columns(terminal.output_is_terminal).value_or(terminal.width), 60, 160);
  return terminal;
}

void Terminal::choose_color(std::string_view when) {
  color = when == "always" || (when == "auto" && color_by_auto);
}

void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is this stream's; opened the wrong way round.
    (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace fathom
