#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/chunk_writer.h"
#include "session/time_windows.h"

namespace fathom {

// What the library in src/probe left in the directory that was recorded into.
struct NativeCallFile {
  std::filesystem::path path;
  std::set<int64_t> processes;  // with calls in it
  bool is_cut = false;          // there was no room for more than a part of its head
};
std::vector<NativeCallFile> find_native_calls(const std::filesystem::path& directory);

// The calls of one process in the windows as ranges, and their numbers. `probes` as they were asked
// for.
Status add_native_calls(const std::filesystem::path& path, int64_t process,
                        const std::vector<std::string>& probes, const TimeWindows& windows,
                        capture::ChunkWriter& to);

// The environment of a program whose C functions are recorded.
struct NativeProbes {
  std::vector<std::string> probes;
  std::filesystem::path library;  // empty: not made for this machine
};
void add_native_environment(const NativeProbes& probes, const std::filesystem::path& directory,
                            std::vector<std::string>& environment);

// A sentence for each probe that recorded nothing.
std::vector<std::string> native_probe_notes(const NativeProbes& probes,
                                            const std::vector<NativeCallFile>& files);

}  // namespace fathom
