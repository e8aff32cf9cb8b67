#pragma once

#include <optional>
#include <vector>

#include "base/table.h"
#include "sheets/gpu_selection.h"

namespace fathom {

// Calls of one op with the same arguments on the CPU.
struct CpuOp {
  StringId name;
  ArgsId args;
  EventId first;  // its first call
  size_t calls = 0;
  Nanos self, total;  // without and with the ops that it calls
};

// Where the CPU's time went in a trace without GPU work.
class CpuOps {
 public:
  explicit CpuOps(const SheetInput& input);

  const std::vector<CpuOp>& by_args() const { return by_args_; }  // by self time
  const std::vector<CpuOp>& by_name() const { return by_name_; }  // likewise; args of the first
  size_t calls() const { return calls_; }
  Nanos self() const { return self_; }  // of all ops, over all threads
  Nanos length() const { return length_; }

  // Ops too short for what it takes to dispatch them.
  static constexpr Nanos kShort{5000};
  size_t short_calls() const { return short_calls_; }
  Nanos short_self() const { return short_self_; }

  // The thread whose ops take the most time: from its first op to the end of its last, and how
  // much of that no op runs.
  struct Thread {
    TrackId track;
    Nanos span, between;
  };
  const std::optional<Thread>& busiest() const { return busiest_; }

 private:
  void add_calls(const SheetInput& input, const std::vector<bool>& selected);
  void find_busiest(const SheetInput& input, const std::vector<bool>& selected);

  std::vector<CpuOp> by_args_, by_name_;
  size_t calls_ = 0, short_calls_ = 0;
  Nanos self_, short_self_, length_;
  std::optional<Thread> busiest_;
};

// Whether the file has ops but no GPU work at all, whatever the scope.
bool is_cpu_only(const SheetInput& input);

// cpu_ops_summary and cpu_ops_unique_args; nothing where the trace has GPU work.
std::vector<Table> cpu_sheets(const SheetInput& input);

}  // namespace fathom
