#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "scan/facts/code_facts.h"

namespace fathom {

// A number that the program prints already, as `fathom record --log-pattern` reads it.
struct LogLine {
  std::string pattern;               // "cache hit rate: {float}"
  std::vector<std::string> metrics;  // what its words stand for
  CodePlace at;
};

// A Python function that `fathom record --probe` can watch.
struct ProbePlace {
  std::string probe;            // "engine.scheduler:Scheduler.schedule"
  std::string scope, function;  // folded words: "scheduler", "schedule"
  CodePlace at;
};

// How a document starts a program of the repository.
struct DocumentedCommand {
  std::vector<std::string> words;                              // without assignments in front
  std::vector<std::pair<std::string, std::string>> variables;  // NAME=value in front
  CodePlace at;
};

// A program that a build file of the repository makes.
struct BuiltProgram {
  std::string program;            // path from the root, after the build
  std::string build;              // the command line that makes it
  std::string folder;             // that it runs in; empty: the root
  std::vector<uint32_t> sources;  // positions in CodeFacts::files
  CodePlace at;
};

// What is read of a repository for a plan beside the facts of the scan.
struct ProgramSources {
  std::vector<LogLine> logs;
  std::vector<ProbePlace> functions;
  std::vector<DocumentedCommand> commands;
  std::vector<BuiltProgram> built;
  bool names_gpu = false;  // Python code that names a device: .cuda(), "cuda"
};

// Reads the source files at these positions of CodeFacts::files, and the documents that introduce
// to the repository. Bounded: at most kMaxPlanFiles files of at most 1 MB.
inline constexpr size_t kMaxPlanFiles = 400;
ProgramSources read_program_sources(const std::filesystem::path& root, const CodeFacts& facts,
                                    const std::vector<uint32_t>& files);

// Of one text; their places have file 0.
std::vector<LogLine> python_log_lines(std::string_view text);
std::vector<LogLine> cpp_log_lines(std::string_view text);
std::vector<DocumentedCommand> documented_commands(std::string_view text, bool markdown);

}  // namespace fathom
