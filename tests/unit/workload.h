#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyze/pipeline.h"
#include "unit/small_trace.h"

namespace fathom::test {

// Events of one op with one kernel, launched ahead so that the GPU never waits unless told to.
class Workload {
 public:
  // dims and types as JSON lists; the kernel runs for `gpu` µs right after the one before.
  Workload& op(const std::string& name, const std::string& dims, const std::string& types,
               int64_t gpu, const std::string& kernel_name = "k", int64_t wait = 0,
               const std::string& more = "") {
    const std::string args = fmt::format(R"("Input Dims":{},"Input type":{}{})", dims, types,
                                         more.empty() ? "" : "," + more);
    events_.push_back(cpu_op(name, host_, 8, args));
    events_.push_back(launch_call(host_ + 2, 4, ++correlation_));
    gpu_ = std::max(gpu_ + wait, host_ + 7);
    events_.push_back(kernel(kernel_name, gpu_, gpu, correlation_));
    gpu_ += gpu;
    host_ += 10;
    return *this;
  }
  // The host does something else: the GPU may run dry.
  Workload& host_pause(int64_t micros) {
    host_ += micros;
    return *this;
  }
  // The host waits for the GPU, then goes on.
  Workload& synchronize(const std::string& name = "cudaStreamSynchronize") {
    const int64_t end = std::max(host_ + 1, gpu_ + 1);
    events_.push_back(launch_call(host_, end - host_, ++correlation_, "1", name));
    host_ = end + 60;
    return *this;
  }
  Workload& annotate(const std::string& name, int64_t duration) {
    events_.push_back(annotation(name, host_, duration));
    return *this;
  }
  Workload& raw(const std::string& event) {
    events_.push_back(event);
    return *this;
  }
  int64_t host() const { return host_; }
  int64_t gpu() const { return gpu_; }
  int64_t next_correlation() { return ++correlation_; }

  // The next kernel of an op starts so much later: other work runs until then.
  Workload& skip_gpu(int64_t micros) {
    gpu_ += micros;
    return *this;
  }

  // Calls look(assessment), which must not outlive the call.
  template <typename Look>
  void assess(Look look, const char* platform = "H200") const {
    const Trace trace = open_events(events_);
    const Scope scope;
    const SheetInput input(trace.store, trace.tree, scope);
    const MeasuredOps ops(input, find_launchers(input));
    const Platform* known = nullptr;
    if (platform != nullptr) known = Platforms::built_in().find(platform).value();
    look(Assessment(input, ops, known));
  }
  std::vector<Finding> find(const char* platform = "H200") const {
    std::vector<Finding> findings;
    assess([&findings](const Assessment& a) { findings = find_all(a); }, platform);
    return findings;
  }

 private:
  std::vector<std::string> events_;
  int64_t host_ = 100, gpu_ = 0, correlation_ = 0;
};

// The first of a kind; null: there is none.
inline const Finding* first_finding(const std::vector<Finding>& findings, FindingKind kind) {
  const auto found = std::ranges::find(findings, kind, &Finding::kind);
  return found == findings.end() ? nullptr : &*found;
}

inline bool finds(const Workload& workload, FindingKind kind, const char* platform = "H200") {
  return first_finding(workload.find(platform), kind) != nullptr;
}

inline constexpr const char* kMatrix = "[[4096,4096],[4096,4096]]";
inline constexpr const char* kTwoBf16 = R"(["c10::BFloat16","c10::BFloat16"])";
inline constexpr const char* kImage = "[[64,1024,1024]]";
inline constexpr const char* kOneBf16 = R"(["c10::BFloat16"])";

}  // namespace fathom::test
