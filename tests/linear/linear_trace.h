#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "linear_cases.h"

namespace fathom::test {

// Events as torch.profiler writes them; times in µs.
class TraceText {
 public:
  void event(std::string_view category, std::string_view name, int64_t start, int64_t duration,
             std::string_view tid, std::string_view args = "") {
    text_ += fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":{},"ts":{},"dur":{},"args":{{{}}}}},)",
        category, name, tid, start, duration, args);
  }
  void op(std::string_view name, int64_t start, int64_t duration, std::string_view args = "",
          std::string_view tid = "1") {
    event("cpu_op", name, start, duration, tid, args);
  }
  void launch(int64_t start, int64_t duration, size_t id, std::string_view tid = "1",
              std::string_view name = "cudaLaunchKernel") {
    event("cuda_runtime", name, start, duration, tid, fmt::format(R"("correlation":{})", id));
  }
  void kernel(std::string_view name, int64_t start, int64_t duration, size_t id,
              std::string_view args = "") {
    text_ +=
        fmt::format(R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{},"dur":{},)"
                    R"("args":{{"device":0,"stream":7,"correlation":{}{}}}}},)",
                    name, start, duration, id, args);
  }
  // An op of 10 µs that launches one kernel.
  void unit(size_t id, int64_t start, std::string_view name, std::string_view args = "",
            std::string_view kernel_name = "k") {
    op(name, start, 10, args);
    launch(start + 1, 2, id);
    kernel(kernel_name, start + 4, 3, id);
  }
  void raw(std::string_view event) { (text_ += event) += ','; }

  std::string finish() {
    if (text_.ends_with(',')) text_.pop_back();
    return fmt::format(
        R"({{"deviceProperties":[{{"id":0,"name":"NVIDIA H200","totalGlobalMem":150000000000,)"
        R"("numSms":132}}],"traceEvents":[{}]}})",
        text_);
  }

 private:
  std::string text_;
};

// The arguments of an op with these shapes.
std::string dims(std::string_view shapes, std::string_view types = R"(["float","float"])");

inline constexpr std::string_view kAnalyze = "analyze t.json --out out",
                                  kDiff = "diff t.json u.json --out out",
                                  kReplay = "replay pack t.json --top 100000 --out out",
                                  kStory = "story t.json --evidence --out out",
                                  kSteps = "analyze t.json --steps 1:3 --out out";

// A case whose trace is t.json and, the same, u.json.
using TraceMaker = void (*)(TraceText& trace, size_t n);

LinearCase trace_case(std::string name, TraceMaker make, size_t n,
                      std::string_view arguments = kAnalyze, int exit_code = 0);

}  // namespace fathom::test
