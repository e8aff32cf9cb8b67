// Traces whose phases a careless search pays for.
#include <fmt/format.h>

#include "linear_cases.h"
#include "test_files.h"

namespace fathom::test {
namespace {

// A program's ranges, ops and launches, one after the other; times in µs.
class PhaseTrace {
 public:
  void event(std::string_view category, std::string_view name, size_t start, size_t duration,
             std::string_view args = "", int thread = 1) {
    text_ += fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":{},"ts":{},"dur":{},"args":{{{}}}}},)",
        category, name, thread, start, duration, args);
  }
  void range(std::string_view name, size_t start, size_t duration) {
    event("user_annotation", name, start, duration);
  }
  void work(std::string_view kernel, size_t start, int thread = 1) {
    const size_t id = ++launches_;
    event("cuda_runtime", "cudaLaunchKernel", start, 1, fmt::format(R"("correlation":{})", id),
          thread);
    unlinked(kernel, start + 1, id);
  }
  void unlinked(std::string_view kernel, size_t start, size_t id) {
    text_ += fmt::format(R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{},"dur":1,)"
                         R"("args":{{"device":0,"stream":7,"correlation":{}}}}},)",
                         kernel, start, id);
  }
  std::string finish() {
    text_.pop_back();
    return fmt::format(R"({{"traceEvents":[{}]}})", text_);
  }

 private:
  std::string text_;
  size_t launches_ = 0;
};

// Digits as letters: numbers in names do not count.
std::string letters(size_t number) {
  std::string text = std::to_string(number);
  for (char& c : text) c = static_cast<char>(c - '0' + 'a');
  return text;
}

void nested_ranges(PhaseTrace& t, size_t n) {
  for (size_t i = 0; i < n; ++i) t.range(i % 2 == 0 ? "decode" : "rollout", 4 * i, 8 * n - 4 * i);
  for (size_t i = 0; i < n; ++i) t.work("k", 4 * n + 3 * i);
}

// All are over when the work begins.
void ended_ranges(PhaseTrace& t, size_t n) {
  for (size_t i = 0; i < n; ++i) t.range("decode", i, 2 * n - i);
  for (size_t i = 0; i < n; ++i) t.work("k", 4 * n + 3 * i);
}

void ranges_of_many_names(PhaseTrace& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.range(letters(i), 5 * i, 4);
    t.work("k", 5 * i + 1);
  }
}

void short_runs(PhaseTrace& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.range(i % 2 == 0 ? "prefill" : "decode", 5 * i, 4);
    t.work("k", 5 * i + 1);
  }
}

void many_steps(PhaseTrace& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.range(fmt::format("ProfilerStep#{}", i), 9 * i, 9);
    for (size_t k = 0; k < 3; ++k) t.work(letters(k), 9 * i + 3 * k);
  }
}

void passes_in_turn(PhaseTrace& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const bool backward = i % 2 == 1;
    t.event("cpu_op", backward ? "autograd::engine::evaluate_function: MmBackward0" : "aten::mm",
            6 * i, 5, R"("Sequence number":1)", backward ? 2 : 1);
    t.work("k", 6 * i + 1, backward ? 2 : 1);
    t.work("without an op", 6 * i + 5, 3);
  }
}

// Kernel d wherever d is the largest divisor of the place: each has a period of its own.
void many_periods(PhaseTrace& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    size_t divisor = 60;
    while (i % divisor != 0) --divisor;
    t.work("k" + letters(divisor), 3 * i);
  }
}

void short_repeats(PhaseTrace& t, size_t n) {
  for (size_t i = 0; i < n; ++i) t.work(letters(i % 3), 3 * i);
}

// No order, and the square root of so many names.
void no_repeats(PhaseTrace& t, size_t n) {
  size_t names = 1, random = 1;
  while (names * names < n) ++names;
  for (size_t i = 0; i < n; ++i) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    t.work(letters((random >> 33) % names), 3 * i);
  }
}

void requests(PhaseTrace& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const bool prompt = i % 40 < 4;
    t.event("cpu_op", "aten::scaled_dot_product_attention", 8 * i, 5,
            prompt ? R"("Input Dims":[[4,16,512,128],[4,4,512,128]])"
                   : R"("Input Dims":[[4,16,1,128],[4,4,512,128]])");
    t.work(prompt ? "many" : "few", 8 * i + 1);
    t.work(i % 4 == 3 ? "head" : "mlp", 8 * i + 5);
  }
}

void kernels_of_training(PhaseTrace& t, size_t n) {
  constexpr const char* kNames[] = {"gemm", "gemm",         "x_backward",
                                    "gemm", "y_bwd_kernel", "multi_tensor_apply_kernel"};
  for (size_t i = 0; i < n; ++i) t.unlinked(kNames[i % 6], 3 * i, i + 1);
}

}  // namespace

std::vector<LinearCase> phase_cases() {
  const auto one = [](const char* name, void (*make)(PhaseTrace&, size_t), size_t n) {
    const auto write = [make](const std::filesystem::path& directory, size_t size) {
      PhaseTrace trace;
      make(trace, size);
      write_file(directory / "t.json", trace.finish());
    };
    return LinearCase{name, write, "story t.json", n};
  };
  return {
      one("NestedRanges", nested_ranges, 2000),
      one("RangesThatEnded", ended_ranges, 2000),
      one("RangesOfManyNames", ranges_of_many_names, 2000),
      one("ShortRuns", short_runs, 2000),
      one("ManySteps", many_steps, 1000),
      one("PassesInTurn", passes_in_turn, 2000),
      one("ManyPeriods", many_periods, 4000),
      one("ShortRepeats", short_repeats, 8000),
      one("NoRepeats", no_repeats, 4000),
      one("Requests", requests, 3000),
      one("KernelsOfTraining", kernels_of_training, 4000),
  };
}

}  // namespace fathom::test
