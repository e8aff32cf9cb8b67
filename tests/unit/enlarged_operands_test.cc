// Products on operands that were enlarged for them, and passes that run again, each with
// near-twins.
#include <fmt/format.h>

#include "checks.h"
#include "unit/workload.h"

namespace fathom {
namespace {

using test::first_finding;
using test::kTwoBf16;
using test::Workload;

bool finds_title(const std::vector<Finding>& findings, std::string_view words) {
  return std::ranges::any_of(
      findings, [words](const Finding& f) { return f.title.find(words) != std::string::npos; });
}

struct Decoder {
  int side = 256;  // of the images that the convolution reads
  int channels = 512, width = 256;
  int kernel = 1;
  const char* between = nullptr;
  const char* enlarges = "aten::upsample_bilinear2d";
};

// A decoder's level: an image of 64 × 64 that is enlarged, and a convolution on the result.
bool is_on_enlarged(const Decoder& d) {
  Workload w;
  for (int i = 0; i < 6; ++i) {
    w.op(d.enlarges, fmt::format("[[8,{},64,64],[],[],[],[]]", d.channels),
         R"(["c10::BFloat16","ScalarList","Scalar","",""])", 300);
    if (d.between != nullptr)
      w.op(d.between, fmt::format("[[8,{0},{1},{1}]]", d.channels, d.side), test::kOneBf16, 50);
    w.op("aten::convolution",
         fmt::format("[[8,{0},{1},{1}],[{2},{0},{3},{3}],[{2}],[],[],[],[],[],[]]", d.channels,
                     d.side, d.width, d.kernel),
         R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","ScalarList","ScalarList",)"
         R"("ScalarList","Scalar","ScalarList","Scalar"])",
         400);
  }
  return finds_title(w.find(), "1×1 convolution runs on enlarged images");
}

TEST(EnlargedOperands, AChannelMixAfterAnInterpolation) {
  EXPECT_TRUE(is_on_enlarged({}));
  EXPECT_FALSE(is_on_enlarged({.kernel = 3})) << "it reads neighbours, which the order changes";
  EXPECT_FALSE(is_on_enlarged({.side = 80})) << "hardly more pixels";
  EXPECT_FALSE(is_on_enlarged({.channels = 64, .width = 512}))
      << "eight times as many channels would be interpolated";
  EXPECT_FALSE(is_on_enlarged({.between = "aten::relu"})) << "not linear";
  EXPECT_FALSE(is_on_enlarged({.enlarges = "aten::relu"}));
}

// Batched products, of which an operand has this stride from sample to sample.
std::vector<Finding> batched(int64_t stride, int time, const char* around = nullptr) {
  Workload w;
  for (int i = 0; i < 6; ++i) {
    if (around != nullptr) w.raw(test::cpu_op(around, w.host() - 1, 10));
    w.op("aten::bmm", "[[4096,1024,1024],[4096,1024,1]]", kTwoBf16, time, "k", 0,
         fmt::format(R"("Input Strides":[[{},1024,1],[1024,1,1]])", stride));
  }
  return w.find();
}

TEST(EnlargedOperands, OneMatrixForABatch) {
  EXPECT_TRUE(finds_title(batched(0, 800), "expanded to a batch"));
  EXPECT_FALSE(finds_title(batched(1 << 20, 2500), "expanded to a batch")) << "a matrix for each";
  EXPECT_FALSE(finds_title(batched(0, 12), "expanded to a batch")) << "as fast as one product";

  const std::vector<Finding> own = batched(0, 800), layer = batched(0, 800, "aten::linear");
  const Finding* called = first_finding(own, FindingKind::kProductOrder);
  const Finding* of_linear = first_finding(layer, FindingKind::kProductOrder);
  ASSERT_TRUE(called != nullptr && of_linear != nullptr);
  EXPECT_NE(called->change_code.find("weight.expand"), std::string::npos) << called->change_code;
  EXPECT_NE(of_linear->change_code.find("contiguous"), std::string::npos) << of_linear->change_code;
}

// Steps of a network of some layers: with gradients, then some passes without.
class Training : public Workload {
 public:
  void step(int plain_passes, std::string_view plain_module, int rows) {
    pass("nn.Module: Network_0", kRows, true);
    for (int i = 0; i < plain_passes; ++i) pass(plain_module, rows, false);
    for (int layer = kLayers; layer > 0; --layer) backward(number_ - layer + 1);
  }
  static constexpr int kRows = 4096;

 private:
  static constexpr int kLayers = 3;

  void pass(std::string_view module, int rows, bool with_gradients) {
    const int64_t begin = host();
    host_pause(1);
    for (int layer = 0; layer < kLayers; ++layer) {
      const std::string number =
          with_gradients ? fmt::format(R"("Fwd thread id":0,"Sequence number":{})", ++number_) : "";
      op("aten::mm", fmt::format("[[{},4096],[4096,4096]]", rows), kTwoBf16, 250, "k", 0, number);
    }
    raw(test::event_text("python_function", module, begin, host() + 1 - begin,
                         fmt::format(R"("Python id":{})", ++frames_)));
    host_pause(2);
  }
  void backward(int number) {
    raw(test::cpu_op("autograd::engine::evaluate_function: MmBackward0", host(), 30,
                     fmt::format(R"("Fwd thread id":1,"Sequence number":{})", number), "2"));
    raw(test::cpu_op("aten::mm", host() + 2, 20,
                     fmt::format(R"("Input Dims":{},"Input type":{})", test::kMatrix, kTwoBf16),
                     "2"));
    const int64_t launch = next_correlation();
    raw(test::launch_call(host() + 4, 4, launch, "2"));
    skip_gpu(300);
    raw(test::kernel("k", gpu() - 290, 280, launch));
    host_pause(40);
  }
  int number_ = 0, frames_ = 0;
};

const Finding* second_pass(const std::vector<Finding>& findings) {
  return first_finding(findings, FindingKind::kRecompute);
}

TEST(ForwardAgain, APassWithoutGradientsBesideTheOneWith) {
  const auto train = [](std::string_view module, int rows, int steps_with = 3) {
    Training w;
    for (int i = 0; i < 3; ++i) w.step(i < steps_with, module, rows);
    return w.find();
  };
  const auto again = train("nn.Module: Network_0", Training::kRows);
  const Finding* f = second_pass(again);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->subject, "Network_0");
  EXPECT_EQ(f->priority, Priority::kMedium) << "it may read another batch";
  EXPECT_EQ(f->saving_at_least.count, 0);

  EXPECT_EQ(second_pass(train("nn.Module: Network_1", Training::kRows)), nullptr) << "a target's";
  EXPECT_EQ(second_pass(train("nn.Module: Network_0", 1024)), nullptr) << "another batch";
  EXPECT_EQ(second_pass(train("nn.Module: Network_0", Training::kRows, 1)), nullptr)
      << "a validation once in a while";
  EXPECT_EQ(second_pass(train("train.py(7): evaluate", Training::kRows)), nullptr) << "no module";
}

}  // namespace
}  // namespace fathom
