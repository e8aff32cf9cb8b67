#pragma once

#include <string>
#include <vector>

#include "base/tsv.h"
#include "checks.h"
#include "session/counters.h"
#include "session/trace.h"
#include "sheets/kernel_contexts.h"

// Kernels that were recorded with their counters, and what hypotheses say of them.
namespace fathom::test {

// "a, b" in parts.
inline std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> out;
  for (std::string_view part : split(text, ',')) {
    while (part.starts_with(' ')) part.remove_prefix(1);
    out.emplace_back(part);
  }
  return out;
}

// The kernels of a capture with counters.
struct Recorded {
  std::vector<KernelContext> kernels;

  const KernelContext* find(const std::string& name) const {
    for (const KernelContext& kernel : kernels) {
      if (kernel.name.starts_with(name + "(")) return &kernel;
    }
    return nullptr;
  }
};

inline Recorded contexts_of_file(const std::string& path) {
  Result<Trace> trace = open_trace(path);
  EXPECT_TRUE(trace.ok()) << path;
  Result<std::vector<CounterFile>> counters = open_capture_counters(trace.value());
  EXPECT_TRUE(counters.ok() && !counters.value().empty()) << path;
  const std::vector<CounterFile> files = counters.take();
  KernelMeasures measures;
  measures.add_counters(trace.value().store, files);
  const Scope scope;
  const SheetInput input(trace.value().store, trace.value().tree, scope, std::move(measures));
  return {kernel_contexts(input, detect_platform(trace.value()), kMostContexts)};
}

inline std::vector<std::string> confirmed_of(const KernelContext& kernel) {
  std::vector<std::string> out;
  for (const TestedHypothesis& tested : kernel.tested) {
    if (tested.verdict == Verdict::kConfirmed) out.emplace_back(tested.hypothesis->id);
  }
  return out;
}

inline const TestedHypothesis& tested_of(const KernelContext& kernel, std::string_view id) {
  for (const TestedHypothesis& tested : kernel.tested) {
    if (tested.hypothesis->id == id) return tested;
  }
  static const TestedHypothesis none;
  return none;
}

}  // namespace fathom::test
