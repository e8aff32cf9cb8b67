#include "tree/training_kernels.h"

#include "checks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

// One letter for each kernel: g a matrix product, b and B kernels of the backward pass, o one of
// the optimiser. The kinds: f, b, o, and . for none.
std::string passes(std::string_view letters) {
  std::vector<std::string> events;
  for (size_t i = 0; i < letters.size(); ++i) {
    const char* name = "gemm";
    if (letters[i] == 'b') name = "layer_norm_grad_input_kernel";
    if (letters[i] == 'B') name = "flash_bwd_kernel";
    if (letters[i] == 'o') name = "multi_tensor_apply_kernel<Adam>";
    events.push_back(test::kernel(name, static_cast<int64_t>(2 * i), 1, static_cast<int64_t>(i)));
  }
  const Trace trace = test::open_events(events);
  std::vector<EventId> work;
  for (size_t i = 0; i < trace.store.size(); ++i) work.emplace_back(i);
  std::string kinds;
  for (PhaseKind kind : passes_of_kernels(trace.store, work)) {
    kinds += kind == PhaseKind::kForward     ? 'f'
             : kind == PhaseKind::kBackward  ? 'b'
             : kind == PhaseKind::kOptimizer ? 'o'
                                             : '.';
  }
  return kinds;
}

TEST(TrainingKernels, UnnamedKernelsGoWithThoseAround) {
  EXPECT_EQ(passes("ggggbgBgbgBgogoggggbgBgbgBgoo"),  //
            "ffffbbbbbbbbooo"
            "ffffbbbbbbbboo");
}

TEST(TrainingKernels, ALongGapIsTheForwardPassOfTheNextMicroBatch) {
  EXPECT_EQ(passes("ggggggbgBgbggggggggbgBgbo"), "ffffffbbbbbffffffffbbbbbo");
}

TEST(TrainingKernels, SetUpComesBeforeTheFirstForwardPass) {
  EXPECT_EQ(passes("ggggggggggggggbBbBoggggbBbBoggggbBbBo").substr(0, 14), "..........ffff");
}

TEST(TrainingKernels, ARecordingMayBeginAndEndInTheMiddle) {
  EXPECT_EQ(passes("bBgoggggbBbBbogg"),
            "bbbofff"
            "fbbbbboff");
}

TEST(TrainingKernels, AKernelNamedBackwardIsNoTraining) {
  EXPECT_EQ(passes("ggggbggggbggggbggggbggggbggggbggggb"), "") << "one name";
  EXPECT_EQ(passes("ggggbBggggg"), "") << "two kernels";
  EXPECT_EQ(passes("ggggoggggoggggo"), "") << "foreach ops without a backward pass";
  EXPECT_EQ(passes(""), "");
}

}  // namespace
}  // namespace fathom
