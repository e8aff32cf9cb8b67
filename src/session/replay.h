#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "replay/replay_ops.h"
#include "session/trace.h"

namespace fathom {

struct PackOptions {
  std::vector<std::string> ops;  // names, or patterns with * and ?
  size_t top = 0;                // instead of names: the ops with most GPU time
  size_t max_cases = 20;         // argument sets of one op
};

struct PackedOp {
  std::string op, file;
  size_t calls = 0, cases = 0, left_out = 0;
  Nanos time, left_out_time, refused_time;
};

// An op that was asked for and of which no call can be made again.
struct UnpackedOp {
  std::string op;
  std::string why;       // a sentence
  bool by_name = false;  // not found by a pattern or by its time
  Nanos time;
};

struct PackResult {
  std::filesystem::path directory;
  std::string trace, gpu;
  std::vector<PackedOp> packed;
  std::vector<UnpackedOp> unpacked;
  Nanos whole;                     // GPU time of all ops of the trace
  std::string bytes;               // of the package, for standard output
  std::vector<std::string> notes;  // on files that were in the way
};

struct PackPlace {
  std::filesystem::path path;
  bool one_file = false;  // the path is the package itself; "-": into the result
  bool force = false;     // what is in the way is kept under another name
  bool write = true;
};

// Writes OP_replay_package.zip for each op asked for, all or none. Fails, with nothing written,
// when a name is not in the trace, or when a file that is no package of the trace is in the way.
Result<PackResult> pack_replays(const Trace& trace, const PackOptions& options,
                                const PackPlace& place);

// traces/llama.json.gz → traces/llama.replay_packages
std::filesystem::path default_package_directory(const std::string& trace_path);

}  // namespace fathom
