#pragma once

#include "events/timeline_rows.h"

namespace fathom::rocprof {

// The memory a copy goes from and to: "Memcpy HtoD (Host -> Device)" of MEMORY_COPY_HOST_TO_DEVICE.
std::string copy_name(std::string_view direction);

// A kernel's name without what the compiler hangs on: "copy.kd", "copy [clone .kd]" → "copy".
std::string_view kernel_name(std::string_view symbol);

// "Agent 3" and 3 → 3
std::optional<int64_t> number_in(std::string_view text);

// What rocprofv3's formats tell of a kernel dispatch, each as far as it does.
struct Dispatch {
  std::optional<int64_t> begin, end, correlation, device, queue, stream, registers, lds;
  std::optional<int64_t> workgroup[3], grid[3];  // both in work-items
};

// rocprofv3's records as rows of a trace, whichever of its formats they come from.
class TraceRows {
 public:
  explicit TraceRows(EventStoreBuilder& out) : rows_(out) {}

  void add_kernel(StringId name, int64_t process, const Dispatch& dispatch);
  struct Copy {
    std::optional<int64_t> begin, end, correlation, device, stream, bytes;
  };
  void add_copy(StringId name, int64_t process, const Copy& copy);
  struct Call {
    std::optional<int64_t> begin, end, correlation, thread;
  };
  // A call of HIP or of HSA, which HIP is built on.
  void add_api(StringId name, bool is_hsa, int64_t process, const Call& call);
  // ROCTx ranges, and calls of libraries such as RCCL.
  void add_range(StringId name, int64_t process, const Call& call);

  TimelineRows& rows() { return rows_; }

 private:
  TimelineRows rows_;
};

}  // namespace fathom::rocprof
