#pragma once

#include <string>
#include <vector>

#include "scan/code_facts.h"
#include "scan/cpp/cpp_file.h"
#include "scan/python/python_file.h"

namespace fathom {

// What one file said, before it is joined with the others. Only the part of its language is filled.
struct FileReading {
  cpp::Definitions cpp;
  cpp::Usage usage;
  python::PythonFile python;
};

// All files of a repository as they were read: readings[i] is of files[i].
struct Readings {
  std::vector<SourceFile> files;
  std::vector<FileReading> readings;
};

}  // namespace fathom
