#pragma once

#include <string_view>
#include <vector>

#include "scan/cpp/cpp_options.h"

namespace fathom::cpp {

// The options that a Rust program declares with clap: fields with #[arg(long, …)] of a struct or
// enum that derives its parser, and Arg::new("name").long("name")….
std::vector<Option> find_clap_options(std::string_view text);

// The line of the `fn main` that a program begins with; 0: it has none.
uint32_t line_of_rust_main(std::string_view text);

}  // namespace fathom::cpp
