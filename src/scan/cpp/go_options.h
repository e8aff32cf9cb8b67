#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/cpp_options.h"
#include "scan/cpp/tokens.h"

namespace fathom::cpp {

// Text of Go or Rust as the C++ lexer takes it: raw strings (`…`) are blank, lifetimes ('a) too,
// all at their lines.
std::string host_spelling(std::string_view text);

// The options that a Go program declares with flag and pflag (cobra), rows "go:" of
// data/features/option_calls.tsv, and the environment that it reads, also through functions of the
// file that hand their parameter to os.Getenv.
std::vector<Option> find_go_options(const TokenList& source);

// The line of the function that a program of Go or Zig begins with; 0: it has none.
uint32_t line_of_go_main(const TokenList& source);
uint32_t line_of_zig_main(std::string_view text);

}  // namespace fathom::cpp
