#pragma once

#include <map>
#include <string>
#include <vector>

#include "scan/facts/code_facts.h"

namespace fathom {

struct SizeCount {
  size_t files = 0;
  uint64_t lines = 0, bytes = 0;

  void add(const SourceFile& file) {
    ++files;
    lines += file.lines;
    bytes += file.size;
  }
};

struct LanguageCount {
  Language language = Language::kNone;
  SizeCount size;
};

// By lines, the most first. Others' code, that is vendored and submodules, is left out unless asked
// for.
std::vector<LanguageCount> count_languages(const CodeFacts& facts, bool others_too);
// "Python 86 %, CUDA 4 %": of the lines of program code, the largest few.
std::string language_shares(const std::vector<LanguageCount>& languages, size_t shown);
std::map<Origin, SizeCount> count_origins(const CodeFacts& facts);

struct NameCount {
  std::string name;
  size_t count = 0;
};
// The most frequent first, then by name.
std::vector<NameCount> by_count(const std::map<std::string, size_t>& counts);
std::vector<NameCount> count_kernel_kinds(const CodeFacts& facts);
// How many kernels do each thing that the evidence names.
std::vector<NameCount> count_kernel_features(const CodeFacts& facts);
// How many kernels stand in each file, the most first.
std::vector<NameCount> count_kernel_files(const CodeFacts& facts);
std::vector<NameCount> count_entry_kinds(const CodeFacts& facts);
std::vector<NameCount> count_option_kinds(const CodeFacts& facts);
// "3 cuda, 2 triton"; in the plural "3 mains, 1 test".
std::string joined_counts(const std::vector<NameCount>& counts, bool plural = false);

size_t count_dead(const CodeFacts& facts);
// Neither dead nor launched where the scanner could see it.
size_t count_without_launcher(const CodeFacts& facts);

// "imported by 2 files in 1 folder; 4 calls into it": why a module is ranked as it is.
std::string module_reason(const ModuleFacts& module);

// A folder and all below it. A chain of folders that hold nothing else is one.
struct FolderCount {
  std::string path;  // "python/minisgl/"
  int depth = 0;     // 0: at the root
  SizeCount size;
  std::map<Language, size_t> languages;  // lines
  size_t kernels = 0, entry_points = 0, options = 0;
  Origin origin = Origin::kOwn;  // kOwn where at least one file is
};
// The root's folders but for hidden ones, and in them those that hold a fair part or kernels; in
// order of path.
std::vector<FolderCount> key_folders(const CodeFacts& facts, size_t at_most);

}  // namespace fathom
