// Traces whose names and arguments are long, all distinct, or alike.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "linear_cases.h"
#include "linear_trace.h"

namespace fathom::test {
namespace {

// Texts of 32 letters that meet in a hash without a secret: the third eight bytes make a factor of
// its product zero, so that the fourth do not count.
std::string colliding_prefix() {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15ull;  // of mix_bits
  const auto load = [](const char* from) {
    uint64_t word = 0;
    std::memcpy(&word, from, sizeof word);
    return word;
  };
  for (size_t i = 0;; ++i) {
    std::string prefix = fmt::format("{:016}", i);
    const uint64_t zero = mix_bits(load(prefix.data()) ^ 32, load(prefix.data() + 8)) ^ kFactor;
    std::string word(sizeof zero, '\0');
    std::memcpy(word.data(), &zero, sizeof zero);
    if (std::ranges::all_of(word, [](char c) { return c >= '0' && c <= 'z' && c != '\\'; })) {
      return prefix + word;
    }
  }
}

void colliding_names(TraceText& t, size_t n) {
  const std::string prefix = colliding_prefix();
  for (size_t i = 0; i < n; ++i) t.unit(i + 1, 20 * i, fmt::format("{}{:08}", prefix, i));
}

void all_names_distinct(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.unit(i + 1, 20 * i, fmt::format("op{}", i), dims(fmt::format("[[{},8],[8,{}]]", i, i)),
           fmt::format("k{}", i));
  }
}

void types_all_distinct(TraceText& t, size_t n) {
  std::string shapes = "[", types = "[";
  for (size_t i = 0; i < n; ++i) {
    shapes += "[8,8],";
    types += fmt::format(R"("t{}",)", i);
  }
  shapes.back() = types.back() = ']';
  t.unit(1, 0, "aten::mm", dims(shapes, types));
  t.unit(2, 20, "aten::add", dims(shapes, types));
}

void files_of_one_name(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    // ':' and '/' and '.' all become '_'.
    std::string name = "a::b";
    for (size_t bits = i; bits > 0; bits /= 3) name += ":/."[bits % 3];
    t.unit(i + 1, 20 * i, name, dims("[[8,8],[8,8]]"));
  }
}

void long_name_over_kernels(TraceText& t, size_t n) {
  t.op(std::string(10 * n, 'N'), 0, 40 * n + 100);
  for (size_t i = 0; i < n; ++i) {
    t.launch(20 * i + 1, 2, i + 1);
    t.kernel(fmt::format("k{}", i), 20 * i + 4, 3, i + 1);
  }
  t.unit(n + 1, 20 * n + 10, "aten::mm", dims("[[8,8],[8,8]]"));
}

void long_arguments_over_kernels(TraceText& t, size_t n) {
  const std::string shape = "[[" + repeated("[8,8],", n) + "[8,8]]]";
  t.op("myop", 0, 40 * n + 100, dims(shape, R"(["TensorList"])"));
  for (size_t i = 0; i < n; ++i) {
    t.launch(20 * i + 1, 2, i + 1);
    t.kernel(fmt::format("k{}", i), 20 * i + 4, 3, i + 1);
  }
  t.unit(n + 1, 20 * n + 10, "aten::mm", dims("[[8,8],[8,8]]"));
}

void long_process_name(TraceText& t, size_t n) {
  const std::string name(10 * n, 'P');
  t.raw(fmt::format(R"({{"ph":"M","name":"process_name","pid":1,"tid":1,"args":{{"name":"{}"}}}})",
                    name));
  t.raw(fmt::format(R"({{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{{"name":"{}"}}}})",
                    name));
  for (size_t i = 0; i < n; ++i) t.unit(i + 1, 20 * i, fmt::format("op{}", i));
}

void long_frame_around_findings(TraceText& t, size_t n) {
  t.event("python_function", "f.py(1): " + std::string(10 * n, 'f'), 0, 100 * n, "1");
  for (size_t i = 0; i < n; ++i) {
    t.unit(i + 1, 1 + 20 * i, fmt::format("triton_poi_fused_{}", i),
           dims("[[1024,1024],[1024,1024]]"), fmt::format("triton_poi_fused_{}", i));
  }
}

}  // namespace

std::vector<LinearCase> text_cases() {
  return {
      trace_case("CollidingNames", colliding_names, 1000),
      trace_case("AllNamesDistinct", all_names_distinct, 300),
      trace_case("AllNamesDistinctDiff", all_names_distinct, 300, kDiff),
      trace_case("LongNameOverKernels", long_name_over_kernels, 250),
      trace_case("LongNameOverKernelsDiff", long_name_over_kernels, 250, kDiff),
      trace_case("LongArgumentsOverKernels", long_arguments_over_kernels, 400),
      trace_case("LongProcessName", long_process_name, 250),
      trace_case("LongFrameAroundFindings", long_frame_around_findings, 250),
      trace_case("TypesAllDistinct", types_all_distinct, 1000),
      trace_case("FilesOfOneName", files_of_one_name, 200, kReplay),
      trace_case("LongNameOverKernelsStory", long_name_over_kernels, 250, kStory),
  };
}

}  // namespace fathom::test
