#include "sheets/work_category.h"

#include <fmt/format.h>

#include "analyze/diff/diff.h"
#include "checks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::cpu_op;
using test::kernel;
using test::launch_call;
using test::open_events;

// Category of each unified op, as "op name: category".
std::vector<std::string> categories(const std::vector<std::string>& events) {
  const Trace trace = open_events(events);
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  WorkCategories work(input);
  std::vector<std::string> lines;
  for (const UnifiedOp& op : find_unified_ops(input, find_launchers(input)))
    lines.push_back(op.name.substr(0, 60) + ": " + std::string(work.of(op)));
  return lines;
}

using Lines = std::vector<std::string>;
constexpr const char* kAdd = "void at::native::vectorized_elementwise_kernel<4, add>(int)";
constexpr const char* kProduct = "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT";

// A graph launch whose first kernel adds: its products are products all the same.
TEST(WorkCategory, KernelsOfAGraphLaunchHaveTheirOwn) {
  EXPECT_EQ(
      categories({cpu_op("aten::empty", 0, 5), launch_call(10, 5, 1, "1", "cudaGraphLaunch"),
                  kernel(kAdd, 20, 5, 1), kernel(kProduct, 30, 100, 1),
                  kernel("attn_fwd", 140, 50, 1)}),
      (Lines{std::string("cudaGraphLaunch->void at::native::vectorized_elementwise_ker") +
                 ": elementwise",
             std::string("cudaGraphLaunch->nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT (Syn") + ": gemm",
             "cudaGraphLaunch->attn_fwd (Synthetic Op): sdpa_fwd"}));
}

TEST(WorkCategory, AnUnknownOpIsWhatMostOfItsTimeIs) {
  const auto compiled = [](int64_t product) {
    return categories({cpu_op("CompiledFunction", 0, 20), launch_call(2, 2, 1),
                       kernel(kAdd, 30, 40, 1), launch_call(6, 2, 2),
                       kernel(kProduct, 100, product, 2)});
  };
  EXPECT_EQ(compiled(100), (Lines{"CompiledFunction: gemm"}));
  EXPECT_EQ(compiled(10), (Lines{"CompiledFunction: elementwise"}));
  EXPECT_EQ(compiled(40), (Lines{"CompiledFunction: other"})) << "half of it is neither";
}

TEST(WorkCategory, AKnownOpStaysWhatItIs) {
  EXPECT_EQ(categories({cpu_op("aten::mm", 0, 8), launch_call(2, 2, 1), kernel(kAdd, 20, 5, 1)}),
            (Lines{"aten::mm: gemm"}));
}

// autocast: the op with the types it was called with, below it casts and the op in BF16.
TEST(UnifiedOps, AnOpThatAutocastRunsInAnotherTypeIsTheOneBelow) {
  const auto ops = [](const std::string& below) {
    const auto args = [](const std::string& type) {
      return fmt::format(R"("Input Dims":[[64,32],[32,16]],"Input type":["{0}","{0}"])", type);
    };
    return categories({cpu_op("aten::mm", 0, 40, args("float")), cpu_op("aten::copy_", 2, 8),
                       launch_call(4, 2, 1), kernel(kAdd, 50, 5, 1),
                       cpu_op("aten::mm", 20, 10, args(below)), launch_call(22, 2, 2),
                       kernel(kProduct, 60, 20, 2)});
  };
  EXPECT_EQ(ops("c10::BFloat16"), (Lines{"aten::copy_: elementwise", "aten::mm: gemm"}));
  EXPECT_EQ(ops("float"), (Lines{"aten::mm: gemm"})) << "a wrapper in the same type";
}

// vmap: the op as it was called, the same op with its arguments listed twice, the op that runs.
TEST(UnifiedOps, AnOpThatVmapRunsWithABatchIsTheOneBelow) {
  const auto ops = [](const char* listed, const char* below) {
    const auto dims = [](const std::string& text) { return "\"Input Dims\":" + text; };
    const Trace trace = open_events({cpu_op("aten::mm", 0, 40, dims("[[1,3],[3,256]]")),
                                     cpu_op("aten::mm", 1, 38, dims(listed)),
                                     cpu_op("aten::mm", 2, 36, dims(listed)),
                                     cpu_op(below, 4, 30, dims("[[12288,3],[3,256]]")),
                                     launch_call(22, 2, 2), kernel(kProduct, 60, 20, 2)});
    const Scope scope;
    const SheetInput input(trace.store, trace.tree, scope);
    Lines taken;
    for (const UnifiedOp& op : find_unified_ops(input, find_launchers(input))) {
      const ArgsId args = trace.store.args_id(op.event);
      taken.push_back(op.name + " " + std::string(trace.store.text(trace.store.args(args).dims)));
    }
    return taken;
  };
  const char* kTwice = "[[1,3],[3,256],[1,3],[3,256]]";
  EXPECT_EQ(ops(kTwice, "aten::mm"), (Lines{"aten::mm [[12288,3],[3,256]]"}));
  EXPECT_EQ(ops(kTwice, "aten::bmm"), (Lines{"aten::bmm [[12288,3],[3,256]]"}));
  EXPECT_EQ(ops("[[1,3],[3,256]]", "aten::bmm"), (Lines{"aten::mm [[1,3],[3,256]]"}))
      << "an op that calls itself with the same sizes";
  EXPECT_EQ(ops("[[1,3],[3,256]]", "aten::mm"), (Lines{"aten::mm [[12288,3],[3,256]]"}))
      << "as in a backward pass: the op that runs has more rows";
}

TEST(WorkCategory, SoftmaxIsOneThingWithOpsAndWithout) {
  constexpr const char* kSoftmax = "void (anonymous namespace)::softmax_warp_forward<float, 4>";
  EXPECT_EQ(categories(
                {cpu_op("aten::_softmax", 0, 8), launch_call(2, 2, 1), kernel(kSoftmax, 20, 5, 1)}),
            (Lines{"aten::_softmax: reduce"}));
  EXPECT_EQ(categories({launch_call(2, 2, 1), kernel(kSoftmax, 20, 5, 1)}),
            (Lines{std::string(kSoftmax) + ": reduce"}));
}

// Eagerly 100 µs of product, compiled 60: the category must shrink, not grow from nothing.
TEST(WorkCategory, ADiffOfEagerAndCompiledSeesTheSameProducts) {
  const Trace eager =
      open_events({cpu_op("aten::mm", 0, 8), launch_call(2, 2, 1), kernel(kProduct, 20, 100, 1),
                   cpu_op("aten::add", 10, 8), launch_call(12, 2, 2), kernel(kAdd, 130, 10, 2)});
  const Trace compiled =
      open_events({cpu_op("CompiledFunction", 0, 20), launch_call(2, 2, 1), kernel(kAdd, 30, 10, 1),
                   launch_call(6, 2, 2), kernel(kProduct, 50, 60, 2)});
  const Scope scope;
  const Diff diff =
      diff_traces({eager.store, eager.tree, scope}, {compiled.store, compiled.tree, scope});
  bool seen = false;
  for (const auto& category : diff.categories) {
    if (category.name != "gemm") continue;
    seen = true;
    EXPECT_EQ(category.time.a.count, 100'000);
    EXPECT_EQ(category.time.b.count, 60'000);
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace fathom
