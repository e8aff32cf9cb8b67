#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "platform/platform.h"
#include "report/trace/summary.h"
#include "scan/facts/code_facts.h"
#include "session/trace.h"
#include "story/measured_run.h"

namespace fathom {

class SourceOutlines;

// What is asked of captures, traces and files of counters about a repository's kernels.
struct MeasureRequest {
  std::vector<std::string> files;
  const CodeFacts* code = nullptr;
  const Parameters* parameters = nullptr;
  SourceOutlines* sources = nullptr;  // the code, to follow the arguments of ops; null: not at hand
  const Platform* platform = nullptr;  // recordings of another GPU are refused; null: their own
  size_t threads = 0;
};

// As analyze reads them: a capture has counters of its own, files of counters are joined with every
// trace given, and stand for themselves where there is none. Fails on a file that cannot be read.
Result<std::vector<MeasuredRun>> measure_kernels(const MeasureRequest& request);

// The counted launches as the events of a trace, one after the other.
Trace trace_of_counters(const CounterFile& file);

// What a trace tells of the code's kernels, with its contexts. `platform`: the trace's.
MeasuredRun measured_run(const SheetInput& input, std::vector<KernelContext> contexts,
                         const CodeFacts& code, const Parameters& parameters,
                         const Platform* platform, SourceOutlines* sources);
// Adds the lines where the code's kernels wait.
void add_hot_lines(const SheetInput& input, const StallSamples& samples, const CodeFacts& code,
                   MeasuredRun& run);

}  // namespace fathom
