#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "base/table.h"
#include "events/stall_samples.h"
#include "measure/compared_counts.h"
#include "platform/platform.h"
#include "scan/facts/code_facts.h"
#include "sheets/kernel_contexts.h"
#include "story/run/tell_run.h"

namespace fathom {

// The launches of a trace that have counters.
struct CountedLaunches {
  const SheetInput& input;
  const std::vector<KernelContext>& contexts;
  const Platform* platform = nullptr;     // null: not known
  const StallSamples* samples = nullptr;  // null: none
  std::string file;                       // as reports show it
};

// A repository's code, as far as the analysis of a trace asks for it. What answers is session/code,
// in the program fathom-code: two fifths of all code read code, and most traces come without any.
class KnownCode {
 public:
  virtual ~KnownCode() = default;
  virtual const CodeFacts& facts() const = 0;

  struct Compared {
    ComparedCounts counts;
    Table sheet;                     // expected_vs_measured.csv
    std::string page;                // expected_vs_measured.md
    std::vector<std::string> parts;  // for each context, what its page says of it; may be empty
  };
  // What the code makes expect of kernels beside what was counted.
  virtual Compared compare(const CountedLaunches& launches) const = 0;
  // What the code of a kernel shows, a few lines for its story.
  virtual CodeSteps steps(const SheetInput& input, const Platform* platform) const = 0;
};

// Reads a repository; 0 threads: as many as help.
using CodeReader = std::function<Result<std::unique_ptr<const KnownCode>>(
    const std::string& repository, size_t threads, const ProgressCallback& progress)>;

}  // namespace fathom
