// Gradients that are reduced for each micro-batch, and near-twins.
#include <fmt/format.h>

#include "checks.h"
#include "unit/workload.h"

namespace fathom {
namespace {

using test::first_finding;
using test::Workload;

// A backward pass of two parameters; `again`: into gradients that are there.
void backward(Workload& w, bool again) {
  for (int i = 0; i < 2; ++i) {
    w.op("aten::mm", "[[512,64],[64,512]]", R"(["float","float"])", 50);
    const int64_t at = w.host();
    w.raw(test::cpu_op("torch::autograd::AccumulateGrad", at, 9));
    if (again) w.op("aten::add_", "[[512,512],[512,512]]", R"(["float","float"])", 10);
    w.host_pause(10);
  }
}

void reduce(Workload& w, int64_t elements) {
  for (int i = 0; i < 2; ++i) {
    const int64_t at = w.host(), id = w.next_correlation();
    const std::string args =
        fmt::format(R"("Collective name":"allreduce","In msg nelems":{},"Out msg nelems":{},)"
                    R"("dtype":"Float","Group size":2)",
                    elements, elements);
    w.raw(test::cpu_op("record_param_comms", at, 8, args));
    w.raw(test::launch_call(at + 2, 3, id));
    w.skip_gpu(100);
    w.raw(test::event_text("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", w.gpu() - 100, 90,
                           fmt::format(R"("device":0,"stream":7,"correlation":{},{})", id, args),
                           "0", "7"));
    w.host_pause(10);
  }
}

const Finding* find(const std::vector<Finding>& all) {
  return first_finding(all, FindingKind::kRepeatedReduction);
}

std::vector<Finding> train(bool reduces_each, bool adds = true, int64_t last_elements = 262144) {
  Workload w;
  for (int step = 0; step < 3; ++step) {
    const int64_t begin = w.host();
    for (int part = 0; part < 2; ++part) {
      backward(w, part > 0 && adds);
      if (reduces_each || part == 1) reduce(w, part == 1 ? last_elements : 262144);
    }
    w.host_pause(20);
    w.raw(test::annotation(fmt::format("ProfilerStep#{}", step), begin, w.host() - begin));
  }
  return w.find();
}

TEST(RepeatedReduction, GradientsThatAreReducedForEachMicroBatch) {
  const auto found = train(true);
  ASSERT_NE(find(found), nullptr);
  EXPECT_TRUE(find(found)->title.starts_with("Gradients are reduced 2 times a step"));
}

TEST(RepeatedReduction, OneReductionAfterAllMicroBatches) {
  EXPECT_EQ(find(train(false)), nullptr);
}

TEST(RepeatedReduction, BucketsOfOnePassAreNoRepetition) {
  EXPECT_EQ(find(train(true, false)), nullptr) << "nothing was added to a reduced gradient";
}

TEST(RepeatedReduction, OtherSizesAreOtherGradients) {
  EXPECT_EQ(find(train(true, true, 1000)), nullptr);
}

}  // namespace
}  // namespace fathom
