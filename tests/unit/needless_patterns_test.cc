// Fills, layout copies, gradient graphs and dense gradients that are not needed, with near-twins.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/pipeline.h"
#include "checks.h"
#include "sheets/launchers.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

// Ops one after another, each with a kernel.
class OpsInARow {
 public:
  explicit OpsInARow(int64_t kernel_time = 100) : kernel_time_(kernel_time) {}

  void add(std::string_view op, std::string_view args, int64_t kernel_time = 0) {
    const int64_t at = 20 * count_++;
    events_.push_back(test::cpu_op(op, at, 10, args));
    events_.push_back(test::launch_call(at + 2, 4, count_));
    const int64_t length = kernel_time > 0 ? kernel_time : kernel_time_;
    next_ = std::max(next_, at + 8);
    events_.push_back(test::kernel("k", next_, length, count_));
    next_ += length;
  }
  // Without work of its own.
  void add_view(std::string_view op, std::string_view args) {
    events_.push_back(test::cpu_op(op, 20 * count_++, 10, args));
  }
  void add_step(int64_t begin, int64_t length) {
    events_.push_back(test::annotation(fmt::format("ProfilerStep#{}", steps_++), begin, length));
  }
  bool gives(FindingKind kind) const {
    const Trace trace = test::open_events(events_);
    const Scope scope;
    const SheetInput input(trace.store, trace.tree, scope);
    const MeasuredOps ops(input, find_launchers(input));
    const std::vector<Finding> found = find_all(Assessment(input, ops, nullptr), nullptr);
    return std::ranges::find(found, kind, &Finding::kind) != found.end();
  }

 private:
  std::vector<std::string> events_;
  int64_t kernel_time_, next_ = 0;
  int64_t count_ = 0, steps_ = 0;
};

constexpr const char* kWhole = R"("Input Dims":[[4096,1024],[]],"Input type":["float","Scalar"])";
constexpr const char* kHalfPrecision = R"("Input Dims":[[2048,1024],[2048,1024],[]],)"
                                       R"("Input type":["float","float","Scalar"])";

TEST(NeedlessPatterns, AFillThatCopiesWriteOver) {
  const auto filled = [](int copies, const char* args) {
    OpsInARow ops;
    ops.add("aten::fill_", kWhole);
    for (int i = 0; i < copies; ++i) ops.add("aten::copy_", args);
    ops.add("aten::mm", R"("Input Dims":[[4096,1024],[1024,64]],"Input type":["float","float"])");
    return ops.gives(FindingKind::kOverwrittenFills);
  };
  EXPECT_TRUE(filled(2, kHalfPrecision)) << "two halves are all of it";
  EXPECT_FALSE(filled(1, kHalfPrecision)) << "half of it stays as it was filled";
  EXPECT_FALSE(filled(2, R"("Input Dims":[[2048,512],[2048,512],[]],)"
                         R"("Input type":["float","float","Scalar"])"))
      << "no rows or columns of it";
}

TEST(NeedlessPatterns, OneLayoutCopyThatIsMuchOfTheStep) {
  const auto copied = [](int64_t copy_time) {
    OpsInARow ops;
    constexpr const char* kTurned =
        R"("Input Dims":[[1024,4096],[1024,4096],[]],"Input type":["float","float","Scalar"],)"
        R"("Input Strides":[[4096,1],[1,1024],[]])";
    for (int i = 0; i < 4; ++i) {
      ops.add("aten::copy_", kTurned, copy_time);
      ops.add("aten::mm", R"("Input Dims":[[64,1024],[1024,4096]],"Input type":["float","float"])",
              1000);
    }
    for (int i = 0; i < 4; ++i) ops.add_step(40 * i, 39);
    return ops.gives(FindingKind::kLayoutCopies);
  };
  EXPECT_TRUE(copied(4000));
  EXPECT_FALSE(copied(50)) << "one transpose at the input";
}

TEST(NeedlessPatterns, AGradientGraphThatNothingUses) {
  const auto served = [](bool numbered, bool backward) {
    std::vector<std::string> events;
    for (int i = 0; i < 20; ++i) {
      const int64_t at = 100 * i;
      const std::string args = numbered ? fmt::format(R"("Sequence number":{})", 100 + i) : "";
      events.push_back(test::cpu_op("aten::addmm", at, 80, args));
      events.push_back(test::launch_call(at + 50, 5, i + 1));
      events.push_back(test::kernel("k", at + 60, 5, i + 1));
    }
    if (backward)
      events.push_back(
          test::cpu_op("autograd::engine::evaluate_function: AddmmBackward0", 2100, 5));
    const Trace trace = test::open_events(events);
    const Scope scope;
    const SheetInput input(trace.store, trace.tree, scope);
    const MeasuredOps ops(input, find_launchers(input));
    const std::vector<Finding> found = find_all(Assessment(input, ops, nullptr), nullptr);
    return std::ranges::find(found, FindingKind::kGradientMode, &Finding::kind) != found.end();
  };
  EXPECT_TRUE(served(true, false));
  EXPECT_FALSE(served(false, false)) << "inference mode";
  EXPECT_FALSE(served(true, true)) << "training";
}

TEST(NeedlessPatterns, ADenseGradientForFewRows) {
  const auto trained = [](int indices, bool tied) {
    OpsInARow ops;
    const std::string table = fmt::format(
        R"("Input Dims":[[100000,64],[{}]],"Input type":["float","long int"])", indices);
    ops.add("aten::embedding", table);
    if (tied)
      ops.add("aten::mm", R"("Input Dims":[[32,64],[64,100000]],"Input type":["float","float"])");
    ops.add("aten::embedding_dense_backward",
            fmt::format(R"("Input Dims":[[{},64],[{}],[],[],[]],)"
                        R"("Input type":["float","long int","Scalar","Scalar","Scalar"])",
                        indices, indices));
    ops.add("aten::add_",
            R"("Input Dims":[[100000,64],[100000,64]],"Input type":["float","float"])", 500);
    return ops.gives(FindingKind::kDenseGradient);
  };
  EXPECT_TRUE(trained(1000, false));
  EXPECT_FALSE(trained(50'000, false)) << "many of the rows";
  EXPECT_FALSE(trained(1000, true)) << "the output layer has the same weights";
}

// autocast records its casts of weights as nodes even under no_grad.
TEST(NeedlessPatterns, CastsOfAutocastAreNoGradientGraph) {
  std::vector<std::string> events;
  for (int i = 0; i < 40; ++i) {
    const int64_t at = 100 * i;
    const bool casts = i % 2 == 0;
    events.push_back(test::cpu_op(casts ? "aten::copy_" : "aten::addmm", at, 80,
                                  casts ? fmt::format(R"("Sequence number":{})", 100 + i) : ""));
    events.push_back(test::launch_call(at + 50, 5, i + 1));
    events.push_back(test::kernel("k", at + 60, 5, i + 1));
  }
  const Trace trace = test::open_events(events);
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  const MeasuredOps ops(input, find_launchers(input));
  const std::vector<Finding> found = find_all(Assessment(input, ops, nullptr), nullptr);
  EXPECT_EQ(std::ranges::find(found, FindingKind::kGradientMode, &Finding::kind), found.end());
}

TEST(NeedlessPatterns, LogitsOfAllPositionsForTheLastOne) {
  const auto prefill = [](std::string_view concrete, bool is_read) {
    OpsInARow ops;
    ops.add("aten::mm", R"("Input Dims":[[2048,256],[256,32000]],"Input type":["float","float"])",
            900);
    ops.add_view("aten::slice",
                 fmt::format(R"("Input Dims":[[2,1024,32000],[],[],[],[]],)"
                             R"("Input type":["float","Scalar","Scalar","Scalar","Scalar"],)"
                             R"("Concrete Inputs":["",{}])",
                             concrete));
    if (is_read)
      ops.add("aten::_log_softmax",
              R"("Input Dims":[[2048,32000],[],[]],"Input type":["float","Scalar","Scalar"])");
    ops.add("aten::argmax", R"("Input Dims":[[2,1,32000],[]],"Input type":["float","Scalar"])");
    return ops.gives(FindingKind::kDiscardedRows);
  };
  const std::string_view last = R"("1","-1","9223372036854775807","1")";
  EXPECT_TRUE(prefill(last, false));
  EXPECT_FALSE(prefill(last, true)) << "a loss reads all of them";
  EXPECT_FALSE(prefill(R"("1","0","1000","1")", false)) << "nearly all are taken";
}

TEST(NeedlessPatterns, ACacheThatIsCopiedToReorderIt) {
  const auto decode = [](std::string_view gathered, int rows) {
    OpsInARow ops;
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 2; ++k)
        ops.add(
            "aten::index_select",
            fmt::format(R"("Input Dims":[{},[],[{}]],"Input type":["float","Scalar","long int"])",
                        gathered, rows),
            300);
      ops.add("aten::_scaled_dot_product_flash_attention",
              R"("Input Dims":[[8,4,1,64],[8,4,512,64],[8,4,512,64]],)"
              R"("Input type":["float","float","float"])");
    }
    return ops.gives(FindingKind::kMovedCache);
  };
  EXPECT_TRUE(decode("[8,4,512,64]", 8));
  EXPECT_FALSE(decode("[8,4,512,64]", 2)) << "two of eight: a selection";
  EXPECT_FALSE(decode("[90000,4,64]", 90000)) << "nothing that attention reads";
}

TEST(NeedlessPatterns, WeightsMadeFromTheirPartsInEachCall) {
  const auto run = [](std::string_view op, bool trains) {
    OpsInARow ops;
    for (int i = 0; i < 6; ++i) {
      ops.add(op, R"("Input Dims":[[1024,1024],[1024,1]],"Input type":["float","float"])", 200);
      ops.add("aten::mm", R"("Input Dims":[[64,1024],[1024,1024]],"Input type":["float","float"])");
    }
    if (trains) ops.add("autograd::engine::evaluate_function: MmBackward0", "");
    return ops.gives(FindingKind::kRepeatedTables);
  };
  EXPECT_TRUE(run("aten::_weight_norm_interface", false));
  EXPECT_FALSE(run("aten::_weight_norm_interface", true)) << "they change in each step";
  EXPECT_FALSE(run("aten::linalg_vector_norm", false)) << "of activations, as far as is known";
}

}  // namespace
}  // namespace fathom
