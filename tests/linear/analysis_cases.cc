// Traces whose events relate to each other in ways that a careless join pays for.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/hash.h"
#include "linear_cases.h"
#include "test_files.h"

namespace fathom::test {
namespace {

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

std::string dims(std::string_view shapes, std::string_view types = R"(["float","float"])") {
  return fmt::format(R"("Input Dims":{},"Input type":{},"Input Strides":[],"Concrete Inputs":[])",
                     shapes, types);
}

constexpr std::string_view kAnalyze = "analyze t.json --out out",
                           kDiff = "diff t.json u.json --out out",
                           kReplay = "replay pack t.json --top 100000 --out out",
                           kStory = "story t.json --evidence --out out",
                           kSteps = "analyze t.json --steps 1:3 --out out";

using Maker = void (*)(TraceText& trace, size_t n);

LinearCase one(std::string name, Maker make, size_t n, std::string_view arguments = kAnalyze,
               int exit_code = 0) {
  const auto write = [make](const std::filesystem::path& directory, size_t size) {
    TraceText trace;
    make(trace, size);
    const std::string text = trace.finish();
    write_file(directory / "t.json", text);
    write_file(directory / "u.json", text);
  };
  return {std::move(name), write, std::string(arguments), n, exit_code};
}

// D6 of the hostile inputs.
void backward_of_one_number(TraceText& t, size_t n) {
  t.unit(1, 0, "aten::mm", R"("Sequence number":5)");
  for (size_t i = 0; i < n; ++i) {
    t.op("autograd::engine::evaluate_function: MmBackward0", 20 + 20 * i, 10,
         R"("Sequence number":5,"Fwd thread id":1)", "2");
  }
}

void nested_calls(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.op("aten::foo", 4 * i, 4 * (2 * n - i));
    t.launch(4 * i + 1, 2, i + 1);
    t.kernel("k", 4 * i + 2, 2, i + 1);
  }
}

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

void waits_and_a_long_one(TraceText& t, size_t n) {
  t.event("cuda_runtime", "cudaDeviceSynchronize", 0, 20 * n + 100, "9");
  t.op("DataLoader", 0, 20 * n + 100, "", "8");
  for (size_t i = 0; i < n; ++i) {
    const int64_t at = 1 + 20 * i;
    t.event("cuda_runtime", "cudaStreamSynchronize", at, 1, "3");
    t.op("DataLoader.next", at, 1, "", "4");
    t.op("nccl:wait", at, 1, "", "5");
    t.op("cuModuleLoadData", at, 1, "", "6");
    t.launch(at + 2, 2, i + 1, "2");
    t.kernel("k", at + 5, 3, i + 1);
  }
}

// Gaps of many GPUs and threads beside long and deep events of the host, each looked at by many.
void idle_gpus_and_busy_threads(TraceText& t, size_t n) {
  t.event("python_function", "train.py(1): main", 0, 40 * n + 100, "1", R"("Python id":1)");
  for (size_t i = 0; i < n; ++i) {
    const int64_t at = 1 + 20 * i;
    t.event("python_function", "model.py(2): forward", at, 40 * (n - i), "1",
            fmt::format(R"("Python id":{})", i + 2));
    t.event("user_annotation", "range", at, 40 * (n - i), "1");
    t.op("aten::deep", at, 40 * (n - i));
    t.event("overhead", "Lazy Function Loading", at, 40 * (n - i), "5");
    t.event("cuda_runtime", "cudaDeviceSynchronize", at + 4, 1, "1");
    t.launch(at + 6, 2, i + 1, fmt::format("{}", i % 3 + 1));
    t.raw(fmt::format(R"({{"ph":"X","cat":"kernel","name":"k","pid":{},"tid":7,"ts":{},"dur":3,)"
                      R"("args":{{"device":{},"stream":7,"correlation":{}}}}})",
                      i, at + 9, i, i + 1));
  }
}

void steps_before_the_work(TraceText& t, size_t n) {
  t.event("user_annotation", "ProfilerStep#0", 0, 5, "1");
  for (size_t i = 0; i < n; ++i) {
    t.event("user_annotation", fmt::format("ProfilerStep#{}", i), 10 * i, 5, "1");
    t.event("gpu_user_annotation", fmt::format("ProfilerStep#{}", i), 10 * i, 5, "7");
  }
  for (size_t i = 0; i < n; ++i) t.unit(i + 1, 10 * n + 20 * i, "aten::foo");
  for (size_t i = 0; i < n; ++i) t.kernel("unlinked", 40 * n + 20 * i, 3, n + i + 1);
}

void distinct_chains(TraceText& t, size_t n) {
  constexpr std::array<std::string_view, 8> kOps = {"aten::add", "aten::mul",  "aten::sub",
                                                    "aten::div", "aten::relu", "aten::silu",
                                                    "aten::neg", "aten::exp"};
  int64_t at = 0;
  size_t id = 0;
  for (size_t i = 0; i < n; ++i) {
    t.op(fmt::format("block{}", i), at, 100);
    size_t digits = i;
    for (size_t k = 0; k < 6; ++k, digits /= kOps.size()) {
      t.unit(++id, at += 15, kOps[digits % kOps.size()], dims("[[1024,1024],[1024,1024]]"));
    }
    at += 100;
  }
}

// Further shapes.
void deep_chain_of_pointwise_ops(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.unit(i + 1, 20 * i, i * i % 7 % 2 == 0 ? "aten::add" : "aten::mul",
           dims("[[1024,1024],[1024,1024]]"));
  }
}

void nested_launches_of_the_runtime(TraceText& t, size_t n) {
  t.op("aten::foo", 0, 10 * n + 10);
  for (size_t i = 0; i < n; ++i) {
    t.launch(4 * i + 1, 4 * (2 * n - i), i + 1);
    t.kernel("k", 4 * i + 2, 2, i + 1);
  }
}

void nested_above_a_model(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) t.op("wrap", 4 * i, 4 * (2 * n - i));
  t.unit(1, 4 * n, "aten::mm", dims("[[8,8],[8,8]]"));
}

void nested_execute(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.op("execute", 4 * i, 4 * (2 * n - i));
    t.launch(4 * i + 1, 2, i + 1);
    t.kernel("k", 4 * i + 2, 2, i + 1);
  }
}

void ops_below_nested_aten(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) t.op("aten::x", i, 100 * n - i);
  for (size_t i = 0; i < n; ++i) {
    t.unit(i + 1, n + 20 * i, "aten::mm", dims(fmt::format("[[8,{}],[{},8]]", i + 8, i + 8)));
  }
}

void nested_collectives(TraceText& t, size_t n) {
  constexpr std::string_view kArgs =
      R"("Collective name":"allreduce","dtype":"Float","Group size":8,"In msg nelems":1)";
  for (size_t i = 0; i < n; ++i) {
    t.op("record_param_comms", 4 * i, 4 * (2 * n - i), kArgs);
    t.launch(4 * i + 1, 2, i + 1);
    t.kernel("k", 4 * i + 2, 2, i + 1);
  }
}

void nested_gradients(TraceText& t, size_t n) {
  t.op("aten::mm", 0, 1, R"("Sequence number":5)");
  for (size_t i = 0; i < n; ++i) {
    t.op("autograd::engine::evaluate_function: Q", 10 + i, 100 * n - i,
         R"("Sequence number":5,"Fwd thread id":1)", "2");
  }
  for (size_t i = 0; i < n; ++i) {
    const int64_t at = 10 + n + 4 * i;
    t.op("Q", at, 3, "", "2");
    t.launch(at + 1, 1, i + 1, "2");
    t.kernel("k", at + 2, 2, i + 1);
  }
}

void everything_at_once(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.op("aten::foo", 5, 10);
    t.launch(5, 5, i + 1);
    t.kernel("k", 5, 3, i + 1);
  }
}

void everything_overlaps(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.op("aten::foo", 5 + i, n + i);
    t.launch(5 + i, n, i + 1);
    t.kernel("k", 5 + i, n, i + 1);
  }
}

void a_thread_and_stream_each(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const std::string tid = std::to_string(i + 10);
    t.op("aten::foo", 20 * i, 10, "", tid);
    t.launch(20 * i + 1, 2, i + 1, tid);
    t.kernel("k", 20 * i + 4, 3, i + 1, fmt::format(R"(,"context":{})", i));
  }
}

void all_names_distinct(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.unit(i + 1, 20 * i, fmt::format("op{}", i), dims(fmt::format("[[{},8],[8,{}]]", i, i)),
           fmt::format("k{}", i));
  }
}

void one_op_of_many_kernels(TraceText& t, size_t n) {
  t.op("aten::foo", 0, 20 * n);
  for (size_t i = 0; i < n; ++i) {
    t.launch(20 * i + 1, 2, i + 1);
    t.kernel(fmt::format("k{}", i), 20 * i + 4, 3, i + 1);
  }
}

void one_graph_of_many_nodes(TraceText& t, size_t n) {
  t.launch(0, 5, 1, "1", "cudaGraphLaunch");
  for (size_t i = 0; i < n; ++i) t.kernel(fmt::format("k{}", i % 7), 20 * i + 4, 3, 1);
}

void one_correlation(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) t.unit(1, 20 * i, "aten::foo");
}

void nested_annotations_of_requests(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.event("user_annotation", fmt::format("a{}", i), i, 100 * n - i, "1");
  }
  for (size_t i = 0; i < n; ++i) {
    t.unit(i + 1, n + 20 * i, "vllm::unified_attention_with_output",
           dims("[[8,8,8],[8,8,8],[8,8,8],[8,8,8]]"));
  }
}

void deep_python_stack_of_noise(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.event("python_function", "torch/nn/modules/module.py(1): _call_impl", i, 100 * n - i, "1",
            fmt::format(R"("Python id":{},"Python parent id":{})", i + 1, i));
  }
  for (size_t i = 0; i < n; ++i) {
    t.unit(i + 1, n + 20 * i, fmt::format("triton_poi_fused_{}", i),
           dims("[[1024,1024],[1024,1024]]"), fmt::format("triton_poi_fused_{}", i));
  }
}

void deep_modules(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.event("python_function", fmt::format("nn.Module: Block{}_0", i), i, 100 * n - i, "1",
            fmt::format(R"("Python id":{},"Python parent id":{})", i + 1, i));
  }
  for (size_t i = 0; i < n; ++i) t.unit(i + 1, n + 20 * i, fmt::format("op{}", i));
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

void loops_of_small_products(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.unit(2 * i + 1, 40 * i, "aten::mm",
           dims(fmt::format("[[{},64],[64,{}]]", i % 50 + 1, i + 64)));
    t.unit(2 * i + 2, 40 * i + 20, "aten::layer_norm", dims("[[8,64],[64]]"));
  }
}

void recomputed_in_nested_nodes(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) t.op("CheckpointFunctionBackward", i, 100 * n - i);
  for (size_t i = 0; i < n; ++i) {
    t.launch(n + 20 * i, 2, i + 1);
    t.kernel("k", n + 20 * i + 4, 3, i + 1);
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

void optimizers_and_gradients(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.op("torch::autograd::AccumulateGrad", 20 * i, 5, dims("[[8,8]]", R"(["float"])"));
    t.unit(i + 1, 20 * i + 6, "aten::_fused_adamw_",
           dims("[[],[],[],[],[]]",
                R"(["TensorList","TensorList","TensorList","TensorList","TensorList"])"));
  }
}

void files_of_one_name(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    // ':' and '/' and '.' all become '_'.
    std::string name = "a::b";
    for (size_t bits = i; bits > 0; bits /= 3) name += ":/."[bits % 3];
    t.unit(i + 1, 20 * i, name, dims("[[8,8],[8,8]]"));
  }
}

void cpu_ops_nested(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) t.op(fmt::format("aten::op{}", i), i, 4 * n - 2 * i);
}

// No GPU work: ranges around each other, and values of many counters, one with a long name.
void ranges_and_counters(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.event("user_annotation", fmt::format("range {}", i % (n / 2)), i, 4 * n - 2 * i, "1");
    for (const std::string& name : {fmt::format("counter {}", i), std::string(300, 'x')}) {
      t.raw(fmt::format(R"({{"ph":"C","name":"{}","pid":1,"tid":1,"ts":{},"args":{{"value":{}}}}})",
                        name, 3 * i, i % 7));
    }
  }
}

// Kernels of a trace and their definitions: some once, some twice, some in no file.
void joined_kernels(const std::filesystem::path& directory, size_t n) {
  TraceText trace;
  std::string code;
  for (size_t i = 0; i < n; ++i) {
    trace.unit(i + 1, 20 * i, "aten::foo", "", fmt::format("k{}<{}>(int*)", i, i));
    const std::string definition =
        fmt::format("template <int N> __global__ void k{}(int* x) {{ x[threadIdx.x] = N; }}\n", i);
    for (size_t k = 0; k < i % 3; ++k) code += definition;
  }
  write_file(directory / "t.json", trace.finish());
  write_file(directory / "repo/a.cu", code);
}

// A captured graph of n nodes and three replays of it; n graphs of four nodes, and as many replays.
void write_captures(const std::filesystem::path& directory, size_t graphs, size_t nodes) {
  TraceText capture, replay;
  int64_t at = 0;
  size_t id = 0;
  for (size_t g = 0; g < graphs; ++g) {
    capture.event("cuda_runtime", "cudaStreamBeginCapture", at, 1, "1");
    for (size_t n = 0; n < nodes; ++n, at += 10) {
      capture.op("aten::mm", at + 2, 8, dims(fmt::format("[[{},8],[8,8]]", g + 1)));
      capture.launch(at + 4, 2, ++id);
    }
    capture.event("cuda_runtime", "cudaStreamEndCapture", at + 2, 1, "1");
    at += 10;
  }
  const size_t replays = graphs == 1 ? 3 : graphs;
  for (size_t r = 0; r < replays; ++r, at += 20) {
    replay.launch(at, 10, ++id, "1", "cudaGraphLaunch");
    for (size_t n = 0; n < nodes; ++n)
      replay.kernel(fmt::format("nvjet_{}", graphs == 1 ? 0 : r), at + static_cast<int64_t>(n), 1,
                    id);
  }
  write_file(directory / "c.json", capture.finish());
  write_file(directory / "t.json", replay.finish());
}

LinearCase captured_nodes() {
  return {"CapturedNodes",
          [](const std::filesystem::path& d, size_t n) { write_captures(d, 1, n); },
          "analyze t.json --capture c.json --out out", 300};
}

LinearCase captured_graphs() {
  return {"CapturedGraphs",
          [](const std::filesystem::path& d, size_t n) { write_captures(d, n, 4); },
          "analyze t.json --capture c.json --out out", 600, 1};
}

// Threads that hand over to each other, streams that wait for each other, and waits of the host.
void waits_of_threads_and_streams(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<int64_t>(i * 40);
    t.op("aten::mm", at, 10);
    t.launch(at + 1, 2, 3 * i);
    t.event("cuda_runtime", "cudaStreamWaitEvent", at + 4, 1, "1");
    t.op("aten::add_backward", at + 12, 8, R"("Sequence number":5,"Fwd thread id":1)", "2");
    t.launch(at + 13, 2, 3 * i + 1, "2");
    t.event("cuda_runtime", "cudaStreamSynchronize", at + 30, 8, "1");
    for (size_t k = 0; k < 2; ++k) {
      t.raw(
          fmt::format(R"({{"ph":"X","cat":"kernel","name":"k{}","pid":0,"tid":{},"ts":{},"dur":9,)"
                      R"("args":{{"device":0,"stream":{},"correlation":{}}}}})",
                      i % 7, i % 60, at + 4 + static_cast<int64_t>(k) * 12, i % 60, 3 * i + k));
    }
  }
}

}  // namespace

// What each pattern looks around for, again and again.
void work_of_all_patterns(TraceText& t, size_t n) {
  int64_t at = 0;
  size_t id = 0;
  const auto unit = [&](std::string_view name, std::string_view args) {
    t.unit(++id, at, name, args);
    at += 20;
  };
  for (size_t i = 0; i < n; ++i) {
    unit("aten::arange", dims("[[],[]]", R"(["Scalar","Scalar"])"));
    unit("aten::fill_", dims("[[64,4096],[]]", R"(["float","Scalar"])"));
    unit("aten::scatter_",
         dims("[[64,4096],[],[64,1],[]]", R"(["float","Scalar","long int","Scalar"])"));
    unit("aten::mm", dims("[[64,4096],[4096,128]]"));
    unit("aten::sort", dims("[[64,4096],[],[]]", R"(["float","Scalar","Scalar"])"));
    t.op("aten::slice", at - 5, 2);
    unit("aten::copy_", dims("[[64,4096],[64,4096],[]]", R"(["float","c10::Half","Scalar"])"));
    unit("aten::copy_", dims("[[64,4096],[64,4096],[]]", R"(["c10::Half","float","Scalar"])"));
    unit("aten::cat",
         dims(fmt::format("[[[8,{},64],[8,1,64]],[]]", 100 + i), R"(["TensorList","Scalar"])"));
    unit("aten::addcdiv_", dims("[[64],[64],[64],[]]", R"(["float","float","float","Scalar"])"));
    unit("aten::bmm", dims("[[8,64,64],[8,64,64]]"));
    unit("aten::_softmax", dims("[[8,64,64],[],[]]", R"(["float","Scalar","Scalar"])"));
    unit("aten::bmm", dims("[[8,64,64],[8,64,64]]"));
  }
}

std::vector<LinearCase> analysis_cases() {
  return {
      one("WaitsOfThreadsAndStreams", waits_of_threads_and_streams, 500,
          "analyze t.json --out out --what-if 'op=aten::* x0.5' --what-if 'sync remove'"),
      one("BackwardOfOneNumber", backward_of_one_number, 2000),
      one("NestedCalls", nested_calls, 1000),
      one("NestedCallsDiff", nested_calls, 500, kDiff),
      one("NestedCallsReplay", nested_calls, 1000, kReplay, 1),
      one("CollidingNames", colliding_names, 1000),
      one("WaitsAndALongOne", waits_and_a_long_one, 1000),
      one("IdleGpusAndBusyThreads", idle_gpus_and_busy_threads, 500),
      one("StepsBeforeTheWorkDiff", steps_before_the_work, 1000, kDiff),
      one("StepsBeforeTheWork", steps_before_the_work, 1000, kSteps),
      one("DistinctChains", distinct_chains, 300),
      one("DeepChain", deep_chain_of_pointwise_ops, 1000),
      one("NestedRuntime", nested_launches_of_the_runtime, 1000),
      one("NestedAboveAModel", nested_above_a_model, 2000),
      one("NestedExecute", nested_execute, 1000),
      one("OpsBelowNestedAten", ops_below_nested_aten, 600),
      one("NestedCollectives", nested_collectives, 1000),
      one("NestedGradients", nested_gradients, 1000),
      one("EverythingAtOnce", everything_at_once, 1000),
      one("EverythingOverlaps", everything_overlaps, 1000),
      one("AThreadAndStreamEach", a_thread_and_stream_each, 1000),
      one("AllNamesDistinct", all_names_distinct, 600),
      one("AllNamesDistinctDiff", all_names_distinct, 300, kDiff),
      one("OneOpOfManyKernels", one_op_of_many_kernels, 1000),
      one("OneGraphOfManyNodes", one_graph_of_many_nodes, 1000),
      one("OneCorrelation", one_correlation, 1000),
      one("NestedAnnotations", nested_annotations_of_requests, 2500),
      one("NestedAnnotationsDiff", nested_annotations_of_requests, 400, kDiff),
      one("DeepPythonStack", deep_python_stack_of_noise, 600),
      one("DeepModulesDiff", deep_modules, 600, kDiff),
      one("LongNameOverKernels", long_name_over_kernels, 250),
      one("LongNameOverKernelsDiff", long_name_over_kernels, 250, kDiff),
      one("LongArgumentsOverKernels", long_arguments_over_kernels, 400),
      one("LongProcessName", long_process_name, 250),
      one("LongFrameAroundFindings", long_frame_around_findings, 250),
      one("LoopsOfSmallProducts", loops_of_small_products, 500),
      one("RecomputedInNestedNodes", recomputed_in_nested_nodes, 1000),
      one("TypesAllDistinct", types_all_distinct, 1000),
      one("OptimizersAndGradients", optimizers_and_gradients, 500, kReplay, 1),
      one("FilesOfOneName", files_of_one_name, 200, kReplay),
      one("CpuOpsNested", cpu_ops_nested, 1000),
      one("RangesAndCounters", ranges_and_counters, 400),
      one("RangesAndCountersStory", ranges_and_counters, 400, kStory),
      one("DeepModulesStory", deep_modules, 600, kStory),
      one("LongNameOverKernelsStory", long_name_over_kernels, 250, kStory),
      one("NestedAnnotationsStory", nested_annotations_of_requests, 600, kStory),
      one("WorkOfAllPatterns", work_of_all_patterns, 100),
      captured_nodes(),
      captured_graphs(),
      {"JoinedKernels", joined_kernels, "analyze t.json --repo repo --out out", 200},
  };
}

}  // namespace fathom::test
