#pragma once

#include <map>
#include <string>
#include <vector>

#include "scan/accesses/access_walk.h"
#include "scan/accesses/device_code.h"
#include "scan/cpp/cpp_file.h"
#include "scan/cpp/cpp_options.h"
#include "scan/cpp/device_patterns.h"
#include "scan/cpp/evidence.h"
#include "scan/cpp/found_kernels.h"
#include "scan/cpp/launch_values.h"
#include "scan/cpp/local_values.h"
#include "scan/facts/code_facts.h"
#include "scan/features/signal_table.h"
#include "scan/index/file_code.h"
#include "scan/index/include_graph.h"
#include "scan/python/assigned_values.h"
#include "scan/python/python_file.h"

namespace fathom {

// What one file said, before it is joined with the others. Only the part of its language is filled;
// a Python file that holds CUDA source in strings has a C++ part too, with the lines of the file.
struct FileReading {
  cpp::Definitions cpp;
  cpp::Usage usage;
  std::vector<cpp::FoundKernel> found_kernels;                // known by their place alone
  std::vector<cpp::NamedLaunch> found_launches;               // of such kernels
  std::vector<std::vector<cpp::LocalValue>> launch_values;    // of each of usage.launches
  std::vector<std::vector<cpp::LocalValue>> argument_values;  // the same, of their arguments
  std::vector<std::vector<std::string>> launch_conditions;    // the same: what leads to them
  DeviceCode device_code;
  std::map<size_t, KernelAccesses> triton_accesses;  // of the kernels among python.functions
  cpp::FileUnits units;  // functions, aliases and classes with what they do; not of literals
  std::vector<std::vector<cpp::PatternHit>> literal_patterns;  // of cpp.functions in literals
  std::vector<cpp::LocalValue> constants;
  std::vector<cpp::Option> cpp_options;
  std::vector<cpp::UsageLine> usage_lines;  // of files that compare argv themselves
  python::PythonFile python;
  std::vector<python::AssignedValue> python_values;  // of files that generate CUDA at run time
  std::vector<std::vector<cpp::PatternHit>> python_patterns;  // of each of python.functions
  // Kernels whose names are the whole text of a string, with its line.
  std::map<std::string, uint32_t, std::less<>> kernels_by_name;
  FileSignals signals;
  uint32_t host_main = 0;  // line of the main function in Rust, Go or Zig; 0: it has none
};

// All files of a repository as they were read: readings[i] is of files[i].
struct Readings {
  std::vector<SourceFile> files;
  std::vector<FileReading> readings;
};

// What the index is made of. Points into the readings.
inline std::vector<FileCode> code_of(const Readings& readings) {
  std::vector<FileCode> out;
  out.reserve(readings.files.size());
  for (size_t i = 0; i < readings.files.size(); ++i) {
    const FileReading& one = readings.readings[i];
    out.push_back({&readings.files[i], &one.cpp, &one.usage, &one.python});
  }
  return out;
}

inline std::vector<IncludeGraph::File> includes_of(const Readings& readings) {
  std::vector<IncludeGraph::File> out;
  out.reserve(readings.files.size());
  for (size_t i = 0; i < readings.files.size(); ++i) {
    const cpp::Definitions& cpp = readings.readings[i].cpp;
    out.push_back({readings.files[i].path, cpp.includes, cpp.include_lines});
  }
  return out;
}

}  // namespace fathom
