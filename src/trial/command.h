#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom {

// A command that is measured: an argument list, so that no shell reads it.
struct TrialCommand {
  std::vector<std::string> words;        // the program, found on PATH, and its arguments
  std::filesystem::path folder;          // where it runs; empty: here
  std::vector<std::string> environment;  // "NAME=value", all of it
  double limit_s = 600;                  // it is ended after so long
  // Standard output and error go there, from the beginning and the end `log_limit` bytes in all;
  // empty: nowhere. The file is written over.
  std::filesystem::path log;
  uint64_t log_limit = 8 << 20;
  double grace_s = 3;  // from SIGTERM, at the limit or an interrupt, to SIGKILL
  // SIGKILL, or SIGTERM for a program that has to end its own child: what it gets when this program
  // is killed.
  bool ends_child = false;
  bool heeds_interrupt = true;  // false: what puts the machine back is not cut short
};

// "/bin/sh -c TEXT": for files that say so.
std::vector<std::string> shell_words(const std::string& text);

// `environment` with the changes, "NAME=value"; the last one of a name counts.
std::vector<std::string> changed_environment(std::vector<std::string> environment,
                                             const std::vector<std::string>& changes);

enum class EndKind : uint8_t { kExited, kSignalled, kTimedOut, kNotStarted, kInterrupted };

struct TrialEnd {
  EndKind kind = EndKind::kExited;
  int code = 0;     // exit status, or the signal
  std::string why;  // kNotStarted: the system's word
  bool not_found = false;
  int64_t wall_ns = 0, user_ns = 0, system_ns = 0;
  // Of its largest process. Unknown where it is no larger than this program was: a child begins as
  // a copy of it.
  std::optional<int64_t> max_rss_bytes;
  uint64_t log_bytes = 0;  // that it printed
  bool log_cut = false;
  bool ok() const { return kind == EndKind::kExited && code == 0; }
};

// "exit status 3", "killed by SIGSEGV", "ended at its limit of 10 s".
std::string end_text(const TrialEnd& end, double limit_s);

// `started` is called with the process group once it runs. Fails where no process can be made or
// the log cannot be written. Whatever the command leaves running is killed, in its process group
// and outside of it. A group that is still there after this program was killed is found by
// processes_of_group() of trial/processes.h.
using StartedCall = void (*)(void* context, int64_t group);
Result<TrialEnd> run_command(const TrialCommand& command, StartedCall started = nullptr,
                             void* context = nullptr);

}  // namespace fathom
