#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tree/phases.h"
#include "unit/small_trace.h"

// Small programs and the phases that are found in them, as text.
namespace fathom::test {

using Lines = std::vector<std::string>;

// A program's ranges, ops and launches, in µs. A kernel begins 1 µs after its launch.
class PhaseProgram {
 public:
  PhaseProgram& range(std::string_view name, int64_t start, int64_t duration,
                      std::string_view thread = "1") {
    return add(event_text("user_annotation", name, start, duration, "", "1", thread));
  }
  PhaseProgram& op(std::string_view name, int64_t start, int64_t duration,
                   std::string_view args = "", std::string_view thread = "1") {
    return add(cpu_op(name, start, duration, args, thread));
  }
  PhaseProgram& work(std::string_view kernel, int64_t at, std::string_view thread = "1") {
    add(launch_call(at, 1, ++launches_, thread));
    return add(test::kernel(kernel, at + 1, 1, launches_));
  }
  // A forward op with a kernel, and one of the backward pass on its thread.
  PhaseProgram& forward(std::string_view kernel, int64_t at) {
    op("aten::mm", at, 4, R"("Sequence number":7)");
    return work(kernel, at + 1);
  }
  PhaseProgram& backward(std::string_view kernel, int64_t at, std::string_view thread = "2") {
    op("autograd::engine::evaluate_function: MmBackward0", at, 4, R"("Sequence number":7)", thread);
    return work(kernel, at + 1, thread);
  }
  PhaseProgram& add(std::string event) {
    events_.push_back(std::move(event));
    return *this;
  }
  Trace open() const { return open_events(events_); }

 private:
  std::vector<std::string> events_;
  int64_t launches_ = 0;
};

std::vector<Phase> phases_of(const Trace& trace);
// "decode 'step' annotation: k1 k2 | k3"
Lines phases(const PhaseProgram& program);
// "decode 3": three runs.
Lines counts(const PhaseProgram& program);

}  // namespace fathom::test
