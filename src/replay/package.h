#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "replay/replay_ops.h"

namespace fathom {

// Where the ops come from, for whoever opens the package.
struct ReplaySource {
  std::string trace;  // the file's name
  std::string gpu;    // as the trace names it; empty where it does not
};

struct PackageFile {
  std::string name, content;
};

struct ReplayPackage {
  std::vector<PackageFile> files;  // replay.py and its two modules, metadata.json, README.md
  size_t cases = 0, left_out = 0;
  Nanos left_out_time;
};

// A stand-alone reproducer of an op, with the cases that took most time. Every text of the trace
// ends up in it as an escaped literal.
ReplayPackage make_replay_package(const ReplayOp& op, const ReplaySource& source, size_t max_cases);

// The part of replay.py that is made from the trace: assignments of literals.
std::string replay_literals(const ReplayOp& op, const ReplaySource& source, size_t max_cases);

// As the bytes of a ZIP archive. The same package gives the same bytes.
Result<std::string> zip_package(const ReplayPackage& package, const std::string& trace);
// Whether these are bytes that zip_package made for the trace of this name.
bool is_package_of(std::string_view bytes, const std::string& trace);

}  // namespace fathom
