#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

// What `fathom ablate` is asked: variants of a program, how each is built, checked and timed.
namespace fathom::ablate {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// An argument vector, or one line for /bin/sh where the file has `shell = true`.
struct CommandLine {
  std::vector<std::string> words;
  bool shell = false;
  std::string folder;  // below the tree; empty: the tree
  int64_t timeout_ms = 0;
  bool empty() const { return words.empty(); }
};

// What a variant must move and compute at least. Unknown: not said.
struct Work {
  std::optional<double> bytes, flop;
  std::string spec;  // the platform's rate that `flop` is of: "matrix_fp16"
};

// How a variant differs from the source. `values` fill {NAME} in commands.
struct Changes {
  std::string commit;                // of the source's git repository
  std::vector<std::string> patches;  // beside the suite
  Pairs files;                       // path in the tree ← file beside the suite
  Pairs macros;                      // {macros}: -DNAME=VALUE
  std::vector<std::string> flags;    // {flags}
  Pairs environment, values;
  CommandLine build, run;  // in place of the suite's; empty: the suite's
};

enum class Direction : uint8_t { kUp, kDown, kSame };

// A counter that a change is expected to move.
struct ExpectedMove {
  std::string value;  // as data/hypotheses names it
  Direction direction = Direction::kDown;
};

// The seed of a fix record: metric, target; the value is measured at the parent.
struct Identified {
  std::string metric;  // of data/hypotheses; empty: none named
  std::optional<double> target;
  std::string evidence;  // in words
};

struct Variant {
  std::string name, change;
  std::string parent;  // empty: the baseline
  // The suite names no parent: `parent` is the variant before it. A study takes the last one that
  // is right, see Study::parent_of().
  bool parent_is_default = false;
  Identified identified;
  std::string hypothesis;  // an id of data/hypotheses, or words
  std::vector<ExpectedMove> expects;
  std::vector<std::string> sources;     // files that hold it, for the diff with its parent's
  std::vector<std::string> flag_names;  // of a combination of flags
  bool only_if_pairs_matter = false;    // a pair of flags: run where their effects interact
  Changes changes;
  Work work;  // replaces the suite's where known
  int line = 0;
};

// An input size. The first one decides; the others are columns.
struct Case {
  std::string name;  // empty where the suite has none
  Pairs values;
  Work work;
};

enum class OutputFormat : uint8_t { kText, kFloat32, kFloat64, kBytes };

struct Check {
  CommandLine command;    // exit status 0: right; or what writes the output
  std::string output;     // "stdout" or a file in the tree; empty: the exit status decides
  std::string reference;  // a file beside the suite
  std::string reference_variant;
  OutputFormat format = OutputFormat::kText;
  double absolute = 0, relative = 0;
  std::optional<double> norm;  // ‖got − expected‖ ÷ ‖expected‖, in place of each element
  bool empty() const { return command.empty(); }
};

enum class SecondTimer : uint8_t { kNone, kCapture, kPrinted, kWall };

struct Timing {
  std::string pattern;  // empty: the wall time of the process
  double unit = 1e-6;   // seconds of what it prints
  SecondTimer second = SecondTimer::kNone;
  std::string second_pattern;  // kPrinted
  double disagreement = 5;     // percent
  int pattern_line = 0, second_line = 0;
};

struct Counters {
  bool wanted = false;
  std::string set = "full";
  bool replay = true;
  CommandLine command;  // empty: the run's
  std::string kernel;   // the kernels of the work, a pattern; empty: the longest
  int set_line = 0;
};

struct Suite {
  std::string title, objective, platform;
  std::filesystem::path file, folder;  // the suite, and where it lies
  std::string source;                  // what is copied, below or above the folder
  uint64_t most_source_mb = 256;
  CommandLine build, run;
  int64_t build_jobs = 1;  // builds at the same time
  int64_t warmup = 1, repetitions = 10;
  Check check;
  Timing timing;
  Counters counters;
  Work work;
  std::string baseline;
  std::vector<Case> cases;  // at least one
  bool has_flags = false;   // variants are combinations of independent flags
  int64_t most_pairs = 6;
  std::vector<std::string> flags;  // their names
  std::vector<Variant> variants;

  const Variant* find(std::string_view name) const;
};

// Bounds of a suite; beyond them it is refused.
constexpr size_t kMostVariants = 200, kMostFlags = 12, kMostCases = 16;
constexpr int64_t kMostRepetitions = 1000, kMostRuns = 50000;

// Reads and checks a suite. An error has a line "FILE:LINE: what" for each mistake.
Result<Suite> read_suite(const std::filesystem::path& file);
Result<Suite> parse_suite(std::string_view text, const std::filesystem::path& file);

// A name that is a file's too: letters, digits, '.', '_', '+', '-', and no dot first.
bool is_plain_name(std::string_view name);
// Relative, without "..": it stays below where it is put.
bool stays_below(std::string_view path);

}  // namespace fathom::ablate
