// Work that is done again, or for nobody: integers, inputs that do not change, gradients that no
// optimizer uses, graphs captured in each step; and near-twins.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/workload.h"

namespace fathom {
namespace {

using test::finds;
using test::first_finding;
using test::kOneBf16;
using test::kTwoBf16;
using test::Workload;

// Frames are written around what is added between begin and end.
class RepeatedProgram : public Workload {
 public:
  template <typename Body>
  void call(std::string_view name, Body body) {
    const int64_t begin = host();
    const int id = ++id_;
    host_pause(1);
    body();
    raw(test::event_text("python_function", name, begin, host() + 1 - begin,
                         fmt::format(R"("Python id":{})", id)));
    host_pause(2);
  }

 private:
  int id_ = 0;
};

constexpr const char* kLong = R"(["long int"])";

// Layers that sort the edges of a graph, with something between them.
template <typename Between>
bool sorts_again(Between between, const char* edges = "[[2000000]]", const char* type = kLong) {
  RepeatedProgram p;
  for (int layer = 0; layer < 4; ++layer) {
    p.call("net.py(5): forward", [&] {
      p.op("aten::sort", edges, type, 300);
      p.op("aten::index", "[[2000000],[]]", R"(["long int",""])", 100);
      p.op("aten::mm", "[[50000,32],[32,32]]", kTwoBf16, 100);
      between(p);
    });
  }
  return finds(p, FindingKind::kRepeatedTables);
}

TEST(ComputedAgain, IntegersThatNothingChanges) {
  const auto nothing = [](RepeatedProgram&) {};
  EXPECT_TRUE(sorts_again(nothing));
  EXPECT_FALSE(sorts_again([](RepeatedProgram& p) {
    p.op("aten::topk", "[[50000,32],[]]", R"(["float","Scalar"])", 50);
  })) << "chosen anew in each layer, as by a router";
  EXPECT_FALSE(sorts_again([](RepeatedProgram& p) {
    p.op("aten::gt", "[[2000000],[]]", R"(["float","Scalar"])", 50);
  })) << "compared anew";
  EXPECT_FALSE(sorts_again([](RepeatedProgram& p) {
    p.op("aten::add_", "[[2000000],[]]", R"(["long int","Scalar"])", 50);
  })) << "changed in place";
  EXPECT_FALSE(sorts_again([](RepeatedProgram& p) {
    p.raw(test::cpu_op("aten::select", p.host(), 2,
                       R"("Input Dims":[[4,2000000],[],[]],"Input type":["long int","",""])"));
    p.host_pause(4);
  })) << "each layer may sort its own row";
  EXPECT_FALSE(sorts_again(nothing, "[[2000000]]", R"(["unsigned char"])")) << "quantized weights";
  EXPECT_FALSE(sorts_again(nothing, "[[2000000]]", R"(["float"])")) << "numbers change";
}

// A sampler: in each round a layer reads the latents, then one the prompt.
struct Sampler {
  bool latents_first = true;  // else the prompt's layer is the first of the round
  const char* update = "[[4096,1024],[4096,1024]]";  // what ends the round
  bool cuts = false;                                 // the prompt is a part of a larger tensor
  bool one_layer = true;                             // else another one in each round

  bool repeats() const {
    RepeatedProgram p;
    for (int round = 0; round < 6; ++round) {
      p.call("sampler.py(9): denoise", [&] {
        const auto linear = [&](int number, const char* dims) {
          p.call(fmt::format("nn.Module: Linear_{}", number),
                 [&] { p.op("aten::mm", dims, kTwoBf16, 100, "nvjet_hsh_256x128"); });
        };
        if (cuts) {
          p.raw(test::cpu_op("aten::select", p.host(), 2,
                             R"("Input Dims":[[6,8192,768],[],[]],"Input type":["float","",""])"));
          p.host_pause(4);
        }
        if (latents_first) linear(0, "[[4096,1024],[1024,1024]]");
        p.call("sampler.py(3): project",
               [&] { linear(one_layer ? 1 : 10 + round, "[[8192,768],[768,2048]]"); });
        if (!latents_first) linear(0, "[[4096,1024],[1024,1024]]");
        p.op("aten::add", update, kTwoBf16, 50);
      });
    }
    return finds(p, FindingKind::kRepeatedTables);
  }
};

TEST(ComputedAgain, ALayerOfAnInputThatTheLoopDoesNotChange) {
  EXPECT_TRUE(Sampler{}.repeats());
  EXPECT_FALSE(Sampler{.latents_first = false}.repeats()) << "a round may be another batch";
  EXPECT_FALSE(Sampler{.update = "[[8192,768],[8192,768]]"}.repeats()) << "made in each round";
  EXPECT_FALSE(Sampler{.cuts = true}.repeats()) << "each round may read another row";
  EXPECT_FALSE(Sampler{.one_layer = false}.repeats()) << "layers of one size";
}

// A backward pass from the head into the backbone, and an update of some parameters.
bool has_unused_gradients(int updated, const char* backbone = "[512,512]") {
  RepeatedProgram p;
  const std::string head = "[100,512]";
  for (int step = 0; step < 2; ++step) {
    for (int i = 0; i < 9; ++i) {
      const std::string shape = i == 0 ? head : backbone;
      p.raw(test::cpu_op("autograd::engine::evaluate_function: MmBackward0", p.host(), 20));
      p.host_pause(2);
      p.op("aten::mm", "[[512,8192],[8192,512]]", kTwoBf16, 100);
      p.host_pause(10);
      p.raw(test::cpu_op("torch::autograd::AccumulateGrad", p.host(), 4,
                         fmt::format(R"("Input Dims":[{}],"Input type":["float"])", shape)));
      p.host_pause(6);
    }
    std::string list = head;
    for (int i = 1; i < updated; ++i) list += std::string(",") + backbone;
    p.op("aten::_fused_adamw_", fmt::format("[[{}]]", list), R"(["TensorList"])", 20);
  }
  return finds(p, FindingKind::kUnusedGradients);
}

TEST(ComputedAgain, GradientsThatNoOptimizerUses) {
  EXPECT_TRUE(has_unused_gradients(1));
  EXPECT_FALSE(has_unused_gradients(9)) << "all are updated";
  EXPECT_FALSE(has_unused_gradients(1, "[100,512]")) << "sizes do not tell which";
}

TEST(ComputedAgain, AGraphThatIsCapturedInEachStep) {
  const auto serve = [](bool captures) {
    Workload w;
    for (int step = 0; step < 3; ++step) {
      const int64_t begin = w.host();
      for (int k = 0; k < 10; ++k) w.op("aten::add", "[[8,8],[8,8]]", kTwoBf16, 30);
      w.synchronize();
      if (captures)
        w.raw(test::launch_call(w.host(), 3, w.next_correlation(), "1", "cudaStreamBeginCapture"));
      for (int i = 0; i < 100; ++i) {
        w.host_pause(4);
        w.raw(test::cpu_op("aten::linear", w.host(), 40));
        w.host_pause(44);
      }
      if (captures)
        w.raw(test::launch_call(w.host(), 3, w.next_correlation(), "1", "cudaStreamEndCapture"));
      w.host_pause(5);
      w.op("aten::add", "[[8,8],[8,8]]", kTwoBf16, 30);
      w.raw(test::annotation(fmt::format("ProfilerStep#{}", step), begin, w.host() - begin));
    }
    return w;
  };
  EXPECT_TRUE(finds(serve(true), FindingKind::kFirstUse));
  EXPECT_FALSE(finds(serve(false), FindingKind::kFirstUse));
}

// jacrev and gradients of gradients record a graph in the backward pass, too.
TEST(ComputedAgain, AGraphOfGradientsIsNoCheckpoint) {
  const auto backward = [](const char* op) {
    Workload w;
    for (int i = 0; i < 10; ++i) {
      w.raw(test::cpu_op("autograd::engine::evaluate_function: AddmmBackward0", w.host(), 40));
      w.host_pause(2);
      w.op(op, "[[4096,4096],[4096,4096]]", kTwoBf16, 300, "k", 0,
           R"("Fwd thread id":0,"Sequence number":7)");
      w.host_pause(40);
    }
    return w;
  };
  EXPECT_TRUE(finds(backward("aten::linear"), FindingKind::kRecompute));
  EXPECT_FALSE(finds(backward("aten::tanh_backward"), FindingKind::kRecompute));
}

TEST(ComputedAgain, ASoftmaxAlongAnotherDimension) {
  const auto softmax = [](const char* dimension, int64_t time) {
    Workload w;
    for (int i = 0; i < 4; ++i)
      w.op("aten::_log_softmax", "[[8,32000,1024],[],[]]", R"(["c10::BFloat16","Scalar","Scalar"])",
           time, "softmax", 0, fmt::format(R"("Concrete Inputs":["","{}","False"])", dimension));
    return w;
  };
  const auto findings = softmax("1", 36000).find();
  const Finding* f = first_finding(findings, FindingKind::kStridedReduction);
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->change_code.find("flatten"), std::string::npos);
  EXPECT_FALSE(finds(softmax("-1", 36000), FindingKind::kStridedReduction)) << "the last one";
  EXPECT_FALSE(finds(softmax("2", 36000), FindingKind::kStridedReduction)) << "the last one";
  EXPECT_FALSE(finds(softmax("1", 350), FindingKind::kStridedReduction)) << "fast all the same";
  Workload innermost;  // by its strides: channels_last
  for (int i = 0; i < 4; ++i)
    innermost.op(
        "aten::_log_softmax", "[[8,32000,1024],[],[]]", R"(["c10::BFloat16","Scalar","Scalar"])",
        36000, "softmax", 0,
        R"("Concrete Inputs":["","1","False"],"Input Strides":[[32768000,1,32000],[],[]])");
  EXPECT_FALSE(finds(innermost, FindingKind::kStridedReduction)) << "neighbours in memory";
}

// All pairs, written out only to be reduced; near-twins use them as they are, or are as large as
// what they are made of.
TEST(ComputedAgain, ATensorThatIsWrittenOutToBeReduced) {
  const auto pairs = [](const char* operands, const char* last) {
    Workload w;
    for (int i = 0; i < 4; ++i) {
      w.op("aten::gt", operands, R"(["float","float"])", 500);
      w.op(last, "[[4096,32,128],[],[],[]]", R"(["bool","ScalarList","Scalar",""])", 400);
    }
    return finds(w, FindingKind::kLargeIntermediate);
  };
  EXPECT_TRUE(pairs("[[4096,32,1],[128]]", "aten::sum"));
  EXPECT_FALSE(pairs("[[4096,32,128],[4096,32,128]]", "aten::sum")) << "as large as its inputs";
  EXPECT_FALSE(pairs("[[4096,32,1],[128]]", "aten::bitwise_not")) << "it is not reduced";
}

TEST(ComputedAgain, ConvolutionsWithoutTheVendorsLibrary) {
  const auto serve = [](const char* inside) {
    Workload w;
    for (int i = 0; i < 8; ++i) {
      w.raw(test::cpu_op(inside, w.host(), 60));
      w.host_pause(2);
      w.op("aten::mm", "[[512,512],[512,512]]", kTwoBf16, 100, "im2col");
      w.host_pause(60);
    }
    return finds(w, FindingKind::kFallbackOp);
  };
  EXPECT_TRUE(serve("aten::_slow_conv2d_forward"));
  EXPECT_FALSE(serve("aten::cudnn_convolution"));
}

TEST(ComputedAgain, AnInverseForAFewColumns) {
  const auto solve = [](const char* product) {
    Workload w;
    for (int i = 0; i < 4; ++i) {
      w.op("aten::linalg_inv_ex", "[[4096,4096],[]]", R"(["float","Scalar"])", 5000);
      w.op("aten::mm", product, R"(["float","float"])", 50);
    }
    return w;
  };
  const auto findings = solve("[[4096,4096],[4096,1]]").find();
  const Finding* f = first_finding(findings, FindingKind::kProductOrder);
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->change_code.find("solve"), std::string::npos);
  EXPECT_FALSE(finds(solve("[[4096,4096],[4096,4096]]"), FindingKind::kProductOrder))
      << "as many columns as the inverse has";
}

// A Fourier transform has no kernels for 16 bits.
TEST(ComputedAgain, CastsForAnOpThatNeedsThem) {
  const auto convolve = [](const char* between) {
    Workload w;
    for (int i = 0; i < 8; ++i) {
      w.op("aten::copy_", "[[4,1024,8192],[4,1024,8192],[]]",
           R"(["float","c10::BFloat16","Scalar"])", 100);
      w.op(between, "[[4,1024,8192],[]]", R"(["float","Scalar"])", 100);
      w.op("aten::copy_", "[[4,1024,8192],[4,1024,8192],[]]",
           R"(["c10::BFloat16","float","Scalar"])", 100);
      w.op("aten::mm", "[[32768,1024],[1024,1024]]", kTwoBf16, 100);
    }
    return w;
  };
  EXPECT_TRUE(finds(convolve("aten::flip"), FindingKind::kCasts));
  EXPECT_FALSE(finds(convolve("aten::_fft_r2c"), FindingKind::kCasts));
}

// Nodes of a backward pass on its own thread; each has a kernel and the forward op of its number.
class Passes : public RepeatedProgram {
 public:
  void forward(int first, int count) {
    for (int n = first; n < first + count; ++n)
      op("aten::mm", "[[4096,4096],[4096,4096]]", kTwoBf16, 100, "k", 0,
         fmt::format(R"("Fwd thread id":0,"Sequence number":{})", n));
  }
  void backward(int first, int count, const char* inside = "") {
    for (int n = first + count - 1; n >= first; --n) {
      raw(test::cpu_op("autograd::engine::evaluate_function: MmBackward0", host(), 60,
                       fmt::format(R"("Fwd thread id":1,"Sequence number":{})", n), "2"));
      raw(test::cpu_op("aten::mm", host() + 2, 20,
                       fmt::format(R"("Input Dims":[[4096,4096],[4096,4096]],"Input type":{}{})",
                                   kTwoBf16, inside),
                       "2"));
      const int64_t launch = next_correlation();
      raw(test::launch_call(host() + 4, 4, launch, "2"));
      raw(test::kernel("k", gpu_time(), 200, launch));
      host_pause(70);
    }
  }

 private:
  int64_t gpu_time() { return at_ = std::max(at_ + 210, host() + 10); }
  int64_t at_ = 0;
};

TEST(ComputedAgain, ABackwardPassPerLoss) {
  Passes per_loss;
  per_loss.forward(1, 10);
  per_loss.call("train.py(7): gradients", [&] {
    per_loss.call("<built-in method run_backward of torch._C._EngineBase object>",
                  [&] { per_loss.backward(1, 10); });
    per_loss.call("<built-in method run_backward of torch._C._EngineBase object>",
                  [&] { per_loss.backward(1, 10); });
  });
  const auto findings = per_loss.find();
  const Finding* f = first_finding(findings, FindingKind::kRepeatedBackward);
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->title.find("2 times"), std::string::npos) << f->title;
  EXPECT_EQ(f->places.front().function, "gradients");

  Passes micro_batches;
  for (int batch = 0; batch < 2; ++batch) {
    micro_batches.forward(1 + 10 * batch, 10);
    micro_batches.backward(1 + 10 * batch, 10);
  }
  EXPECT_FALSE(finds(micro_batches, FindingKind::kRepeatedBackward)) << "two graphs";

  Passes restarted;
  for (int step = 0; step < 2; ++step) {
    const int64_t begin = restarted.host();
    restarted.forward(1, 10);
    restarted.backward(1, 10);
    restarted.raw(
        test::annotation(fmt::format("ProfilerStep#{}", step), begin, restarted.host() - begin));
  }
  EXPECT_FALSE(finds(restarted, FindingKind::kRepeatedBackward)) << "numbers begin again";

  Passes of_gradients;
  of_gradients.forward(1, 10);
  of_gradients.backward(1, 10, R"(,"Fwd thread id":0,"Sequence number":90)");
  of_gradients.backward(1, 10);
  EXPECT_FALSE(finds(of_gradients, FindingKind::kRepeatedBackward))
      << "the first pass records a graph: gradients of gradients need both";
}

// A trunk that two losses go through, each with a head of its own.
TEST(ComputedAgain, GradientsOfSeveralPassesAreUsed) {
  const auto train = [](int trunks_updated) {
    Passes p;
    int number = 1;
    for (int step = 0; step < 2; ++step) {
      for (const char* head : {"[100,512]", "[200,512]"}) {
        number += 20;
        std::string shapes[] = {head, "[512,512]", "[512,512]", "[512,512]", "[512,512]"};
        for (int n = 4; n >= 0; --n) {
          p.backward(number + n, 1);
          const int64_t at = p.host();
          p.raw(test::cpu_op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
                             at, 20, "", "2"));
          p.raw(test::cpu_op(
              "torch::autograd::AccumulateGrad", at + 2, 10,
              fmt::format(R"("Input Dims":[{}],"Input type":["float"])", shapes[4 - n]), "2"));
          p.host_pause(30);
        }
      }
      std::string list = "[100,512],[200,512]";
      for (int i = 0; i < trunks_updated; ++i) list += ",[512,512]";
      p.op("aten::_fused_adamw_", fmt::format("[[{}]]", list), R"(["TensorList"])", 20);
    }
    return finds(p, FindingKind::kUnusedGradients);
  };
  EXPECT_FALSE(train(4)) << "each pass adds to the same parameters";
  EXPECT_TRUE(train(0)) << "no trunk is updated";
}

// A Python mode of a tool around each op; the op that launches is inside of its frame.
TEST(ComputedAgain, AToolLeftOn) {
  const auto train = [](const char* frame) {
    RepeatedProgram p;
    p.call("train.py(9): counted", [&] {
      p.call(fmt::format("{}(775): __enter__", frame), [&] { p.host_pause(5); });
      for (int i = 0; i < 100; ++i)
        p.call(fmt::format("{}(887): __torch_dispatch__", frame), [&] {
          p.host_pause(80);
          p.op("aten::mm", "[[512,512],[512,512]]", kTwoBf16, 10);
        });
    });
    return p.find();
  };
  const auto has_tool = [](const std::vector<Finding>& findings) {
    return std::ranges::any_of(findings, [](const Finding& f) {
      return f.kind == FindingKind::kHostBound && f.title.find("a tool runs") != std::string::npos;
    });
  };
  EXPECT_TRUE(has_tool(train("torch/utils/flop_counter.py")));
  EXPECT_FALSE(has_tool(train("torch/distributed/tensor/_api.py"))) << "tensors of a subclass";
}

// One warp that holds a row in all its registers; near-twins have more warps or fewer registers.
TEST(ComputedAgain, OneWarpForALongRow) {
  const auto norm = [](int threads, int registers) {
    Workload w;
    for (int i = 0; i < 10; ++i) {
      const int64_t launch = w.next_correlation();
      w.raw(test::launch_call(w.host(), 4, launch, "1", "cuLaunchKernelEx"));
      w.raw(test::event_text(
          "kernel", "norm_kernel", w.host() + 10, 300,
          fmt::format(
              R"("correlation":{},"device":0,"stream":7,"grid":[16384,1,1],"block":[{},1,1],)"
              R"("registers per thread":{})",
              launch, threads, registers),
          "0", "7"));
      w.host_pause(310);
    }
    return finds(w, FindingKind::kSmallBlocks);
  };
  EXPECT_TRUE(norm(32, 255));
  EXPECT_FALSE(norm(512, 32));
  EXPECT_FALSE(norm(128, 255)) << "as products have";
  EXPECT_FALSE(norm(32, 40)) << "short rows";
}

}  // namespace
}  // namespace fathom
