#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {

// The code cells of a Jupyter notebook as Python, each line where the file has it, so that a place
// in the code is a place in the file. Of cells that are one string, and of files without line
// breaks, lines follow each other from there on. Shell commands and magics are left out; a cell of
// CUDA (%%cu, %%cuda, %%writefile x.cu) is a string.
std::string code_of_notebook(std::string_view json);
// How many lines its cells of code have; none: it has no list of cells.
std::optional<uint32_t> code_lines_of_notebook(std::string_view json);

}  // namespace fathom
