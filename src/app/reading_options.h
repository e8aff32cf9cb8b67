#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "app/terminal.h"
#include "session/known_code.h"
#include "session/trace.h"

namespace fathom {

// How the commands that tell of a trace read it.
struct ReadingArguments {
  size_t threads = 0;
  uint64_t max_size = 0;
  bool quiet = false;
  bool progress_lines = false;  // "reading 0.42", "analyzing": for the program that started it
};

// --threads and --max-size.
void add_reading_options(CLI::App& command, ReadingArguments& arguments);
void add_platform_option(CLI::App& command, std::string& platform);

// With a line of progress on a terminal. `options`: what the arguments do not say.
Result<Trace> open_with_progress(const std::string& path, const ReadingArguments& arguments,
                                 const Terminal& terminal, OpenOptions options = {});
Result<std::unique_ptr<const KnownCode>> read_with_progress(const CodeReader& read,
                                                            const std::string& repository,
                                                            const ReadingArguments& arguments,
                                                            const Terminal& terminal);

}  // namespace fathom
