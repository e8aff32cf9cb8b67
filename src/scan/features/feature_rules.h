#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

// The rules by which features and components are recognised, as data/features/*.tsv state them;
// about.md beside them says how to write one.

enum class SignalKind : uint8_t {
  kName,     // an identifier in code
  kClass,    // a class or struct that is defined
  kDef,      // a function that is defined
  kCall,     // a function that is called, or used as a decorator
  kImport,   // a Python module that is imported
  kInclude,  // a header that is included
  kPattern,  // something a kernel or a host function does (code_patterns.tsv)
  kKernel,   // a kernel by its name
  kOption,   // an option by its name
  kPath,     // a file by its path
};
std::string_view signal_kind_name(SignalKind kind);

// One piece of evidence to look for. Whichever of its alternatives is found, it counts once.
struct Signal {
  SignalKind kind;
  std::vector<std::string> alternatives;  // globs over folded names (fold_name)
};

// Something to watch, and what it is called on each platform.
struct Metric {
  std::string_view id, title, level;  // level: hardware, process, application
  std::vector<std::string_view> nvidia, nvidia_chips, amd;
  std::string_view how;  // what to do with the counters, or where the number comes from
  // Components, one of which a program must have for the number to be its own; empty: any program.
  std::vector<std::string_view> programs;
  std::string_view amd_how;  // what to do with AMD's counters, beside `how`
};
std::string how_on_all(std::string_view how, std::string_view amd_how);

struct FeatureRule {
  std::string_view id, title, area;
  std::vector<uint32_t> proofs;   // signals, one of which is enough
  std::vector<uint32_t> signals;  // of which `needs` different ones are enough
  uint32_t needs = 0;
  std::string_view concern, implication;
  std::vector<uint32_t> metrics;
  std::vector<std::string> options;  // globs over folded option names
};

struct ComponentRule {
  std::string_view id, title, purpose;
  std::vector<uint32_t> signals;
  std::vector<uint32_t> required;  // of the signals, those without which the others mean nothing
  uint32_t needs = 0;
};

// What READMEs call a feature or a component.
struct ClaimRule {
  std::string_view rule;  // id of a feature, or of a component
  bool component = false;
  std::vector<std::string_view> phrases;
  std::vector<uint32_t> packages;  // signals: imports of what brings it along; at most one
};

// An identifier as its words: "RadixCache", "radix_cache", "RADIX_CACHE" and "kRadixCache" are one.
// Dots, stars and slashes stay, so that globs and dotted names can be folded too.
std::string fold_name(std::string_view name);

class FeatureRules {
 public:
  // The texts must outlive the rules. A rule that could never fire, or that names what does not
  // exist, is an error.
  static Result<FeatureRules> parse(std::string_view features_tsv, std::string_view components_tsv,
                                    std::string_view metrics_tsv, std::string_view claims_tsv = {});
  static const FeatureRules& built_in();

  const std::vector<Signal>& signals() const { return signals_; }
  const std::vector<FeatureRule>& features() const { return features_; }
  const std::vector<ComponentRule>& components() const { return components_; }
  const std::vector<Metric>& metrics() const { return metrics_; }
  const std::vector<ClaimRule>& claims() const { return claims_; }
  // Changes when any rule does: hits that were kept from an earlier run are then worthless.
  uint64_t stamp() const { return stamp_; }

 private:
  Status add_metrics(std::string_view tsv);
  Status add_features(std::string_view tsv);
  Status add_components(std::string_view tsv);
  Status add_claims(std::string_view tsv);
  Status check_programs() const;
  Result<std::vector<uint32_t>> add_signals(std::string_view field, std::string_view rule);
  Result<std::vector<uint32_t>> find_metrics(std::string_view field, std::string_view rule) const;

  std::vector<Signal> signals_;
  std::vector<FeatureRule> features_;
  std::vector<ComponentRule> components_;
  std::vector<Metric> metrics_;
  std::vector<ClaimRule> claims_;
  uint64_t stamp_ = 0;
};

}  // namespace fathom
