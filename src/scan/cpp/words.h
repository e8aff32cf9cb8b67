#pragma once

#include <string_view>

namespace fathom::cpp {

// A word of the language that is neither a type's nor a function's name.
bool is_keyword(std::string_view word);

// A type of the language: `void`, `unsigned`.
bool is_builtin_type(std::string_view word);

// A word that may stand before a function's type: `static`, `__device__`.
bool is_specifier(std::string_view word);

// A word whose brackets are no parameter list: `__launch_bounds__`, `noexcept`.
bool takes_attribute_arguments(std::string_view word);

// Written as macros are: CHECK_CUDA.
bool is_all_caps(std::string_view word);

}  // namespace fathom::cpp
