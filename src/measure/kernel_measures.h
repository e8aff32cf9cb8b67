#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "events/event_store.h"
#include "events/stall_samples.h"
#include "measure/counter_join.h"
#include "measure/join_quality.h"

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

  // Joins counters with the trace's kernels. Both must outlive it.
  void add_counters(const EventStore& store, const std::vector<CounterFile>& files);
  void add_counters(CounterJoin join);

  // PC samples, which must outlive it. They know a kernel by its name.
  void add_samples(const StallSamples& samples) { samples_ = &samples; }

  bool has_code() const { return store_ != nullptr; }
  const std::string& repository() const { return repository_; }  // the code's
  // Of an event that is no kernel, or without code: that of no definition.
  const KernelCode& code(EventId kernel) const;
  // Null where none were given.
  const CounterJoin* counters() const { return counters_.get(); }
  const StallSamples* samples() const { return samples_; }

 private:
  const EventStore* store_ = nullptr;
  std::string repository_;
  std::unordered_map<KernelKey, KernelCode, KernelKeyHash> code_;
  std::shared_ptr<const CounterJoin> counters_;
  const StallSamples* samples_ = nullptr;
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
