#pragma once

#include "scan/cpp/cpp_file.h"
#include "scan/facts/code_facts.h"
#include "scan/python/python_file.h"

namespace fathom {

// What the index reads of a file. Of another language than the file's the parts are empty, not
// null; a Python file that holds CUDA source in strings has both.
struct FileCode {
  const SourceFile* file;
  const cpp::Definitions* cpp;
  const cpp::Usage* usage;
  const python::PythonFile* python;
};

}  // namespace fathom
