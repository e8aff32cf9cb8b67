#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "report/scan/scan_counts.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// Which of a repository's many entry points and options come first, by what the code shows.
// Derived.

// Whether a file is for trying, measuring, building or tending the program: tests, benchmarks,
// examples, tools, what developers keep for themselves, and copies of others' code.
bool is_aside(const SourceFile& file);

struct RankedEntry {
  uint32_t entry = 0;               // position in CodeFacts::entry_points
  bool aside = false;               // a test, benchmark or example, or the file is_aside()
  std::optional<uint32_t> kernels;  // that a request's way from here reaches; none: not followed
};
// The product's own before what lies aside; what the README starts, then console scripts, then what
// reaches kernels, the most first; other programs, routes, commands, examples, benchmarks, tests,
// those nearest to the root first.
std::vector<RankedEntry> ranked_entries(const CodeFacts& facts);

// Options of one name and kind, which several programs of a repository may declare.
struct RankedOption {
  uint32_t option = 0;                       // position in CodeFacts::options, of the first
  uint32_t places = 1;                       // that declare it; of the environment, that read it
  bool aside = false;                        // all of them lie aside
  std::vector<const FeatureFacts*> affects;  // features
};
// The product's own before what lies aside; of these what the README writes, then those that affect
// a feature or that code on the way to a kernel reads, then those that say what they are for; then
// by the number of features, and of places that read them.
std::vector<RankedOption> ranked_options(const CodeFacts& facts, OptionKind kind);

// How many of these places lie in each folder, at most so many folders deep; the most first.
std::vector<NameCount> count_by_folder(const CodeFacts& facts, const std::vector<CodePlace>& places,
                                       size_t depth);

}  // namespace fathom
