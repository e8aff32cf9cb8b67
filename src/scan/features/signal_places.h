#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "scan/facts/code_facts.h"
#include "scan/features/feature_rules.h"
#include "scan/features/file_weight.h"
#include "scan/features/signal_table.h"

namespace fathom {

// One place where a signal was found.
struct SignalPlace {
  CodePlace at;
  std::string name;
  uint32_t count = 1;  // uses in the file; of a kernel its lines
};

// Where every signal of the rules was found in a repository: in files that carry weight, on kernels
// that are launched, on options that the program itself has.
class SignalPlaces {
 public:
  SignalPlaces(const CodeFacts& facts, std::span<const FileSignals> signals,
               const FeatureRules& rules);

  // In order of file and line.
  const std::vector<SignalPlace>& of(uint32_t signal) const { return places_[signal]; }
  // Kernels that show the signal: by name or by what they do.
  const std::set<uint32_t>& kernels_of(uint32_t signal) const { return kernels_[signal]; }
  bool weighs(uint32_t file) const { return weights_[file] != FileWeight::kNone; }
  bool is_product(uint32_t file) const { return weights_[file] == FileWeight::kProduct; }

 private:
  void from_files(std::span<const FileSignals> signals);
  void from_kernel(uint32_t kernel, uint32_t signal);
  void from_host(const HostFacts& host, uint32_t signal);
  void from_option(uint32_t option, uint32_t signal);
  void from_path(uint32_t file, uint32_t signal);

  const CodeFacts& facts_;
  const FeatureRules& rules_;
  std::vector<FileWeight> weights_;
  std::vector<std::string> folded_kernels_, folded_options_, folded_paths_;
  std::vector<std::vector<SignalPlace>> places_;
  std::vector<std::set<uint32_t>> kernels_;
};

// The evidence that signals give, the strongest first. Each points to the product's code rather
// than to what lies aside, to the file that shows most of these signals, and there to the most used
// name or the longest kernel.
std::vector<RuleEvidence> make_evidence(const SignalPlaces& places, const FeatureRules& rules,
                                        std::span<const uint32_t> signals);

bool any_glob_matches(std::span<const std::string> globs, std::string_view folded);
// The same where a glob's first * stands for whole words: "*mm_*" is in "use_mm_cache", not in
// "gemm_cache".
bool word_glob_matches(std::span<const std::string> globs, std::string_view folded);

}  // namespace fathom
