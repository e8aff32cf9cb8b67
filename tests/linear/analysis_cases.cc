// Traces whose events relate to each other in ways that a careless join pays for.
#include <fmt/format.h>

#include <array>

#include "linear_cases.h"
#include "linear_trace.h"
#include "test_files.h"

namespace fathom::test {
namespace {

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

void deep_chain_of_pointwise_ops(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.unit(i + 1, 20 * i, i * i % 7 % 2 == 0 ? "aten::add" : "aten::mul",
           dims("[[1024,1024],[1024,1024]]"));
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

void loops_of_small_products(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.unit(2 * i + 1, 40 * i, "aten::mm",
           dims(fmt::format("[[{},64],[64,{}]]", i % 50 + 1, i + 64)));
    t.unit(2 * i + 2, 40 * i + 20, "aten::layer_norm", dims("[[8,64],[64]]"));
  }
}

void optimizers_and_gradients(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.op("torch::autograd::AccumulateGrad", 20 * i, 5, dims("[[8,8]]", R"(["float"])"));
    t.unit(i + 1, 20 * i + 6, "aten::_fused_adamw_",
           dims("[[],[],[],[],[]]",
                R"(["TensorList","TensorList","TensorList","TensorList","TensorList"])"));
  }
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

}  // namespace

std::vector<LinearCase> analysis_cases() {
  return {
      trace_case("WaitsOfThreadsAndStreams", waits_of_threads_and_streams, 500,
                 "analyze t.json --out out --what-if 'op=aten::* x0.5' --what-if 'sync remove'"),
      trace_case("WaitsAndALongOne", waits_and_a_long_one, 1000),
      trace_case("IdleGpusAndBusyThreads", idle_gpus_and_busy_threads, 500),
      trace_case("StepsBeforeTheWorkDiff", steps_before_the_work, 1000, kDiff),
      trace_case("StepsBeforeTheWork", steps_before_the_work, 1000, kSteps),
      trace_case("DistinctChains", distinct_chains, 300),
      trace_case("DeepChain", deep_chain_of_pointwise_ops, 1000),
      trace_case("EverythingAtOnce", everything_at_once, 1000),
      trace_case("EverythingOverlaps", everything_overlaps, 1000),
      trace_case("AThreadAndStreamEach", a_thread_and_stream_each, 1000),
      trace_case("OneOpOfManyKernels", one_op_of_many_kernels, 500),
      trace_case("OneGraphOfManyNodes", one_graph_of_many_nodes, 1000),
      trace_case("OneCorrelation", one_correlation, 1000),
      trace_case("LoopsOfSmallProducts", loops_of_small_products, 500),
      trace_case("OptimizersAndGradients", optimizers_and_gradients, 500, kReplay, 1),
      trace_case("RangesAndCounters", ranges_and_counters, 400),
      trace_case("RangesAndCountersStory", ranges_and_counters, 400, kStory),
      trace_case("WorkOfAllPatterns", work_of_all_patterns, 100),
      captured_nodes(),
      captured_graphs(),
      {"JoinedKernels", joined_kernels, "analyze t.json --repo repo --out out", 200},
  };
}

}  // namespace fathom::test
