#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"
#include "sheets/gpu_selection.h"

// What PC samples say of kernels. They are of the whole recording: samples carry no time.
namespace fathom {

// A line of the source, or an instruction where the code has no line information.
struct StalledPlace {
  std::optional<std::string_view> file;  // none: no line information
  uint32_t line = 0;
  uint64_t pc = 0;                    // of one instruction of it
  uint64_t samples = 0, stalled = 0;  // stalled: those with a reason that is a stall
  struct Reason {
    std::string_view name;
    uint64_t samples = 0;
  };
  std::vector<Reason> reasons;  // stalls, the most frequent first

  // "rows.cu:24"; "PC 0x1a0" without line information. Made when it is shown: a path may be long,
  // and there may be as many places as instructions.
  std::string text() const;
};

struct StalledKernel {
  std::string_view name;
  Nanos time;  // of its runs in the trace; 0: it has none, such as a function that kernels call
  uint64_t samples = 0, stalled = 0;
  std::vector<StalledPlace> places;  // those with the most stalls first
};

// By time in the trace, then by samples. Input and samples must outlive them.
std::vector<StalledKernel> stalled_kernels(const SheetInput& input, const StallSamples& samples);

// A row for each kernel, instruction and reason, a million at most.
Table stall_samples_sheet(const SheetInput& input, const StallSamples& samples);

}  // namespace fathom
