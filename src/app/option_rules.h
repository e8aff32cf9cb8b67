#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "app/terminal.h"

namespace fathom {

// One of these words; another is refused with the nearest. Completion offers them.
CLI::Validator one_of(std::vector<std::string> words);

// A whole number within these bounds, both included; another word is refused with an example.
struct NumberRange {
  int64_t least = 0, most = 0, example = 0;
};
CLI::Validator whole_number(NumberRange range);
constexpr NumberRange kThreadCounts = {1, 1024, 8};

// The name of a folder or a file of its own: "-" would be standard output.
CLI::Validator own_place();

// A positive size in bytes, with a unit or none: 500, 500MB, 1.5 GiB. K is 1024.
CLI::Validator byte_size();

// What holds for every command, to be called when all are there: --color, exit codes in --help, and
// of an option given twice the last counts, so that one can be added to an alias.
void add_common_rules(CLI::App& app, Terminal& terminal);

}  // namespace fathom
