#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "events/event_store.h"

// What was observed of a trace's kernels elsewhere, joined with them once, before sheets and
// findings are made. Nothing here depends on a scope.
namespace fathom {

struct CodeFacts;

// What a kernel of a trace is known by elsewhere. Observations of different keys are never mixed.
struct KernelKey {
  StringId name;  // the profiler's

  bool operator==(const KernelKey&) const = default;
};
struct KernelKeyHash {
  size_t operator()(const KernelKey& key) const { return std::hash<StringId>{}(key.name); }
};
KernelKey kernel_key(const EventStore& store, EventId kernel);

// How sure a join is.
enum class JoinQuality : uint8_t {
  kNone,       // nothing fits the kernel
  kAmbiguous,  // several things do, and its key does not tell them apart
  kByKey,      // one does
};

// Where a repository's code defines a kernel, and what is known of it there.
struct KernelCode {
  std::vector<size_t> definitions;  // in CodeFacts::kernels
  std::string source;               // "csrc/rows.cu:11"; several with " or " between; empty: none
  std::string facts;  // "gather, vector_access 16 bytes"; empty where there is not one definition

  JoinQuality quality() const;
};

class KernelMeasures {
 public:
  // Nothing was observed elsewhere.
  KernelMeasures() = default;
  // Finds the trace's kernels in the code by their names. The store must outlive it.
  KernelMeasures(const EventStore& store, const CodeFacts& code);

  bool has_code() const { return store_ != nullptr; }
  const std::string& repository() const { return repository_; }  // the code's
  // Of an event that is no kernel, or without code: that of no definition.
  const KernelCode& code(EventId kernel) const;

 private:
  const EventStore* store_ = nullptr;
  std::string repository_;
  std::unordered_map<KernelKey, KernelCode, KernelKeyHash> code_;
};

// How much of the time of some kernels was found in the code.
struct CodeCoverage {
  struct Kernel {
    std::string_view name;
    Nanos time;  // of all its runs
    const KernelCode* code;
  };
  std::string repository;
  std::vector<Kernel> kernels;  // each key once, the longest first
  Nanos total;
  Nanos found;      // ambiguous ones among it
  Nanos ambiguous;  // the name fits several definitions
};
// Of those of the events that are kernels. Store and measures must outlive it.
CodeCoverage code_coverage(const EventStore& store, std::span<const EventId> events,
                           const KernelMeasures& measures);

}  // namespace fathom
