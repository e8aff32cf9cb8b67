#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

// A program that runs as it would without us: its terminal, input, signals and end are its own.
struct WatchedProgram {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // "NAME=value"
  // Called with each line of its output and the time; the output goes on to ours as it comes.
  // Without it the program writes to our streams itself. From two threads, one at a time.
  std::function<void(std::string_view line, int64_t time_ns)> on_line;
  // Its standard output goes nowhere.
  bool discard_output = false;
  // Asked 20 times a second while it runs.
  std::function<void()> meanwhile;
};

// What waitpid says of its end. Fails where it cannot be started; `not_found` tells the two exit
// codes of a shell apart.
struct NotStarted {
  std::string why;
  bool not_found = false;
};
struct ProgramEnd {
  std::optional<NotStarted> not_started;
  int status = 0;
  int64_t wall_ns = 0;
  bool lines_unread = false;  // there was no thread for them: the program wrote to our streams
};
Result<ProgramEnd> run_watched(const WatchedProgram& program);

}  // namespace fathom
