// Traces of ops, ranges and frames around each other, as deep as the trace is long.
#include <fmt/format.h>

#include "linear_cases.h"
#include "linear_trace.h"

namespace fathom::test {
namespace {

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

void nested_launches_of_the_runtime(TraceText& t, size_t n) {
  t.op("aten::foo", 0, 10 * n + 10);
  for (size_t i = 0; i < n; ++i) {
    t.launch(4 * i + 1, 4 * (2 * n - i), i + 1);
    t.kernel("k", 4 * i + 2, 2, i + 1);
  }
}

void nested_launches_without_ops(TraceText& t, size_t n) {
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

void recomputed_in_nested_nodes(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) t.op("CheckpointFunctionBackward", i, 100 * n - i);
  for (size_t i = 0; i < n; ++i) {
    t.launch(n + 20 * i, 2, i + 1);
    t.kernel("k", n + 20 * i + 4, 3, i + 1);
  }
}

void cpu_ops_nested(TraceText& t, size_t n) {
  for (size_t i = 0; i < n; ++i) t.op(fmt::format("aten::op{}", i), i, 4 * n - 2 * i);
}

}  // namespace

std::vector<LinearCase> nested_cases() {
  return {
      trace_case("BackwardOfOneNumber", backward_of_one_number, 2000),
      trace_case("NestedCalls", nested_calls, 1000),
      trace_case("NestedCallsDiff", nested_calls, 500, kDiff),
      trace_case("NestedCallsReplay", nested_calls, 1000, kReplay, 1),
      trace_case("NestedRuntime", nested_launches_of_the_runtime, 1000),
      trace_case("NestedLaunchesWithoutOps", nested_launches_without_ops, 1000),
      trace_case("NestedAboveAModel", nested_above_a_model, 2000),
      trace_case("NestedExecute", nested_execute, 1000),
      trace_case("OpsBelowNestedAten", ops_below_nested_aten, 600),
      trace_case("NestedCollectives", nested_collectives, 1000),
      trace_case("NestedGradients", nested_gradients, 1000),
      trace_case("NestedAnnotations", nested_annotations_of_requests, 2500),
      trace_case("NestedAnnotationsDiff", nested_annotations_of_requests, 400, kDiff),
      trace_case("DeepPythonStack", deep_python_stack_of_noise, 300),
      trace_case("DeepModulesDiff", deep_modules, 600, kDiff),
      trace_case("RecomputedInNestedNodes", recomputed_in_nested_nodes, 1000),
      trace_case("CpuOpsNested", cpu_ops_nested, 1000),
      trace_case("DeepModulesStory", deep_modules, 600, kStory),
      trace_case("NestedAnnotationsStory", nested_annotations_of_requests, 600, kStory),
  };
}

}  // namespace fathom::test
