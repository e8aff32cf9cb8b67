// Each kind of finding about ops on a trace where it fires, and on a near twin where it must not.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/finding_parts.h"
#include "checks.h"
#include "unit/workload.h"

namespace fathom {
namespace {

using test::first_finding;
using test::kImage;
using test::kMatrix;
using test::kOneBf16;
using test::kTwoBf16;
using test::Workload;

// 2·4096³ operations at the H200's achievable 798 TFLOP/s take 172 µs.
TEST(Findings, AProductFarFromTheLimit) {
  Workload slow;
  for (int i = 0; i < 20; ++i) slow.op("aten::mm", kMatrix, kTwoBf16, 1000);
  const auto findings = slow.find();
  const Finding* f = first_finding(findings, FindingKind::kLowEfficiency);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->subject, "aten::mm");
  EXPECT_EQ(f->category, "gemm");
  EXPECT_NEAR(*f->efficiency, 0.172, 0.001);
  EXPECT_EQ(f->priority, Priority::kCritical);
  EXPECT_FALSE(f->change_code.empty());
  EXPECT_FALSE(f->improve_kernel.empty());
  EXPECT_FALSE(f->counters.empty()) << "a trace cannot show why";
  // To 40 %: 20 × (1000 − 430.6) µs, all of it counted but for the waits for the host.
  EXPECT_NEAR(f->saving_at_least.micros(), 20 * (1000 - 172.2 / 0.4), 600);
  EXPECT_NEAR(f->saving_at_most.micros(), 20 * (1000 - 172.2), 900);
  EXPECT_EQ(f->evidence.at(0).shapes, "4096×4096, 4096×4096");
  EXPECT_EQ(f->evidence.at(0).bound, "compute");
}

TEST(Findings, AProductNearTheLimitIsGoodNews) {
  Workload fast;
  for (int i = 0; i < 20; ++i) fast.op("aten::mm", kMatrix, kTwoBf16, 200);
  EXPECT_EQ(first_finding(fast.find(), FindingKind::kLowEfficiency), nullptr);
}

TEST(Findings, WithoutAPlatformNothingIsSaidOfEfficiency) {
  Workload slow;
  for (int i = 0; i < 20; ++i) slow.op("aten::mm", kMatrix, kTwoBf16, 1000);
  EXPECT_EQ(first_finding(slow.find(nullptr), FindingKind::kLowEfficiency), nullptr);
}

// The next kernel is launched long after the slow one ended: a faster one would only wait longer.
TEST(Findings, TimeThatTheHostHidesIsNotCounted) {
  Workload hidden;
  for (int i = 0; i < 200; ++i) hidden.op("aten::mm", kMatrix, kTwoBf16, 1000).host_pause(1500);
  const auto findings = hidden.find();
  const Finding* f = first_finding(findings, FindingKind::kLowEfficiency);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->priority, Priority::kLow);
  EXPECT_LT(f->saving_at_most.micros(), 1100) << "only the last call's";
}

TEST(Findings, AttentionInSeparateOps) {
  const auto attention = [](bool fits) {
    Workload w;
    for (int i = 0; i < 6; ++i) {
      w.op("aten::bmm", "[[64,2048,64],[64,64,2048]]", kTwoBf16, 300);
      w.op("aten::mul", "[[64,2048,2048],[]]", R"(["c10::BFloat16","Scalar"])", 300);
      w.op("aten::_softmax", "[[64,2048,2048],[],[]]", R"(["c10::BFloat16","Scalar","Scalar"])",
           400);
      // With V, or with something of other sizes.
      w.op("aten::bmm", fits ? "[[64,2048,2048],[64,2048,64]]" : "[[64,512,128],[64,128,64]]",
           kTwoBf16, 300);
    }
    return w.find();
  };
  const auto findings = attention(true);
  const Finding* f = first_finding(findings, FindingKind::kUnfusedAttention);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->time.micros(), 6 * 1300);
  EXPECT_EQ(f->evidence.size(), 4u);
  EXPECT_GT(f->saving_at_least.micros(), 5000) << "the scores alone are 0.5 GB each way";
  EXPECT_EQ(first_finding(attention(false), FindingKind::kUnfusedAttention), nullptr);
}

TEST(Findings, ARunOfMemoryBoundOps) {
  const auto run = [](const char* third) {
    Workload w;
    for (int i = 0; i < 10; ++i) {
      w.op("aten::mul", kImage, kOneBf16, 100).op("aten::silu", kImage, kOneBf16, 100);
      w.op("aten::neg", third, kOneBf16, 100).op("aten::mm", kMatrix, kTwoBf16, 200);
    }
    return w.find();
  };
  const auto findings = run(kImage);
  const Finding* f = first_finding(findings, FindingKind::kFusibleChain);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->subject, "mul → silu → neg");
  EXPECT_EQ(first_finding(findings, FindingKind::kLowEfficiency), nullptr)
      << "what the run says is not said again of each of its ops";
  EXPECT_EQ(f->time.micros(), 10 * 300);
  // Fused: read and write 128 MB each once, 62.6 µs at 4.29 TB/s.
  EXPECT_NEAR(f->projections.back().time.micros(), 10 * 62.6, 1);
  EXPECT_EQ(first_finding(run("[[63,1000,1000]]"), FindingKind::kFusibleChain), nullptr)
      << "another tensor";
}

// A run that its neighbours cut short is the same place in the code.
TEST(Findings, RunsOfTheSameOpsAreOneFinding) {
  Workload w;
  for (int i = 0; i < 10; ++i) {
    if (i > 0) w.op("aten::add", kImage, kOneBf16, 100);
    w.op("aten::mul", kImage, kOneBf16, 100).op("aten::silu", kImage, kOneBf16, 100);
    w.op("aten::neg", kImage, kOneBf16, 100).op("aten::mm", kMatrix, kTwoBf16, 200);
  }
  const auto findings = w.find();
  EXPECT_EQ(std::ranges::count(findings, FindingKind::kFusibleChain, &Finding::kind), 1);
  const Finding* f = first_finding(findings, FindingKind::kFusibleChain);
  EXPECT_EQ(f->subject, "add → mul → silu → neg");
  EXPECT_EQ(f->time.micros(), 9 * 400 + 300) << "the shorter run is counted too";
}

// Where the GPU waits for launches, fewer of them are what fusing saves.
TEST(Findings, FusingSparesTheWaitsForLaunches) {
  Workload bound;
  for (int i = 0; i < 20; ++i) {
    for (const char* op : {"aten::mul", "aten::silu", "aten::neg"}) {
      bound.op(op, "[[64,64]]", kOneBf16, 3).host_pause(40);
    }
    bound.op("aten::mm", "[[64,64],[64,64]]", kTwoBf16, 3).host_pause(40);
  }
  const auto findings = bound.find();
  const Finding* f = first_finding(findings, FindingKind::kFusibleChain);
  ASSERT_NE(f, nullptr);
  // 47 µs before each op but the first of its run: 50 from launch to launch less the kernel's 3.
  // What is left of it at the lower end is in saving_range.cc; the upper end has the gaps beside.
  EXPECT_NEAR(f->saving_at_least.micros(), 0.85 * 20 * 2 * 47, 1);
  EXPECT_GE(f->saving_at_most.micros(), 20 * 2 * 47);
}

// One expert after the other: products of 500 rows by weights of 2048 × 1408 have 44 tiles for 132
// units. With 8192 rows each product fills the GPU alone.
TEST(Findings, ALoopOverExperts) {
  const auto experts = [](int rows) {
    Workload w;
    for (int layer = 0; layer < 4; ++layer) {
      for (int expert = 0; expert < 8; ++expert) {
        const int m = rows + 3 * expert;
        w.op("aten::nonzero", "[[2048,4]]", R"(["bool"])", 8);
        w.op("aten::mm", fmt::format("[[{},2048],[2048,1408]]", m), kTwoBf16, rows / 50);
        w.op("aten::silu", fmt::format("[[{},1408]]", m), kOneBf16, 2);
        w.op("aten::mm", fmt::format("[[{},1408],[1408,2048]]", m), kTwoBf16, rows / 50);
        w.op("aten::mul", fmt::format("[[{},2048]]", m), kOneBf16, 2);
      }
      w.op("aten::native_layer_norm", "[[2048,2048]]", kOneBf16, 6);
    }
    return w.find();
  };
  const auto findings = experts(500);
  const Finding* f = first_finding(findings, FindingKind::kTinyProducts);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->title, "64 small GEMMs run one by one in loops");
  EXPECT_TRUE(f->issue.starts_with("4 loops of 32 rounds in all")) << f->issue;
  EXPECT_EQ(std::ranges::count(findings, FindingKind::kTinyProducts, &Finding::kind), 1)
      << "both weights are of one loop";
  EXPECT_GT(f->saving_at_most, f->saving_at_least);
  EXPECT_EQ(first_finding(experts(8192), FindingKind::kTinyProducts), nullptr)
      << "they fill the GPU";
}

TEST(Findings, SmallProductsOneByOne) {
  const auto products = [](int between, int64_t gpu) {
    Workload w;
    for (int i = 0; i < 40; ++i) {
      w.op("aten::mm", fmt::format("[[{},1024],[1024,1024]]", 8 + i), kTwoBf16, gpu);
      for (int k = 0; k < between; ++k) w.op("aten::add", "[[8,1024],[8,1024]]", kTwoBf16, 4);
    }
    return w.find();
  };
  EXPECT_NE(first_finding(products(2, 20), FindingKind::kTinyProducts), nullptr)
      << "a loop over experts";
  EXPECT_EQ(first_finding(products(30, 20), FindingKind::kTinyProducts), nullptr)
      << "a loop over layers";
}

TEST(Findings, ConvolutionsThatConvertLayouts) {
  const auto convolutions = [](const char* kernel) {
    Workload w;
    for (int i = 0; i < 10; ++i) {
      w.op(
          "aten::convolution", "[[32,64,56,56],[64,64,3,3],[],[],[],[],[],[],[]]",
          R"(["c10::BFloat16","c10::BFloat16","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])",
          100, kernel, 0,
          R"("Concrete Inputs":["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"])");
    }
    return w.find();
  };
  EXPECT_NE(first_finding(convolutions("void cudnn::ops::nchwToNhwcKernel<x>"),
                          FindingKind::kImageLayout),
            nullptr);
  EXPECT_EQ(
      first_finding(convolutions("sm90_xmma_fprop_implicit_gemm_nhwc"), FindingKind::kImageLayout),
      nullptr);
}

// Slow enough to be worth a finding; the strides are what differs.
TEST(Findings, NoAdviceToDoWhatIsAlreadyDone) {
  const auto convolution_advice = [](const char* strides, const char* type) {
    Workload w;
    for (int i = 0; i < 10; ++i) {
      w.op(
          "aten::convolution", "[[32,64,56,56],[64,64,3,3],[],[],[],[],[],[],[]]",
          fmt::format(
              R"(["{0}","{0}","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])",
              type),
          900, "convolve", 0,
          fmt::format(
              R"("Input Strides":[{},[],[],[],[],[],[],[]],"Concrete Inputs":["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"])",
              strides));
    }
    const auto findings = w.find();
    const Finding* f = first_finding(findings, FindingKind::kLowEfficiency);
    return f != nullptr ? f->change_code : "no finding";
  };
  const std::string nchw = "[200704,3136,56,1],[576,9,3,1]";
  const std::string nhwc = "[200704,1,3584,64],[576,1,192,64]";
  EXPECT_TRUE(convolution_advice(nchw.c_str(), "c10::BFloat16").starts_with("Use channels_last"));
  EXPECT_TRUE(convolution_advice(nhwc.c_str(), "float").starts_with("Compute in BF16"));
  EXPECT_TRUE(convolution_advice(nhwc.c_str(), "c10::BFloat16")
                  .starts_with("Layout and type are already right"));
}

TEST(Findings, FlashAttentionIsNotAdvisedWhereItRuns) {
  const auto attention_advice = [](const char* kernel, const char* mask) {
    Workload w;
    for (int i = 0; i < 10; ++i) {
      w.op("aten::_scaled_dot_product_cudnn_attention",
           fmt::format("[[4,16,1024,128],[4,16,1024,128],[4,16,1024,128],{}]", mask),
           R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16"])", 900, kernel);
    }
    const auto findings = w.find();
    const Finding* f = first_finding(findings, FindingKind::kLowEfficiency);
    return f != nullptr ? f->change_code : "no finding";
  };
  EXPECT_TRUE(attention_advice("softmax_warp", "[]").starts_with("Call torch.nn.functional"));
  EXPECT_TRUE(attention_advice("cudnn_sm90_flash_fprop", "[]")
                  .starts_with("A flash kernel already runs. Longer sequences"));
  EXPECT_TRUE(attention_advice("cudnn_sm90_flash_fprop", "[1,1,1024,1024]")
                  .starts_with("A flash kernel already runs, but reads a dense mask"));
}

TEST(Findings, PoolingIsAReductionBothWays) {
  Workload w;
  w.op("aten::max_pool2d_with_indices_backward", "[[32,64,56,56],[32,64,112,112]]", kTwoBf16, 900);
  const auto findings = w.find();
  const Finding* f = first_finding(findings, FindingKind::kLowEfficiency);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->category, "reduce");
  EXPECT_TRUE(f->change_code.starts_with("Pool later")) << f->change_code;
}

TEST(Findings, TellThePeakBesideTheLimit) {
  Workload slow;
  for (int i = 0; i < 20; ++i) slow.op("aten::mm", kMatrix, kTwoBf16, 1000);
  const auto findings = slow.find();
  const EvidenceOp& evidence = first_finding(findings, FindingKind::kLowEfficiency)->evidence.at(0);
  // 137.4 GFLOP in a millisecond, of 798 and of 989.5 TFLOP/s.
  EXPECT_NEAR(*evidence.efficiency, 137.4 / 798, 1e-3);
  EXPECT_NEAR(*evidence.of_peak, 137.4 / 989.5, 1e-3);
}

// Of the frames around an op only those that say where in the model it is.
TEST(Findings, CallStacksAreShort) {
  const auto frame = [](const char* name, int64_t start, int64_t duration, int id, int parent) {
    return test::event_text("python_function", name, start, duration,
                            fmt::format(R"("Python id":{},"Python parent id":{})", id, parent));
  };
  const std::vector<std::string> events = {
      frame("models.py(62): forward", 0, 100, 1, 0),
      frame("torch/nn/modules/module.py(1783): _call_impl", 1, 98, 2, 1),
      frame("nn.Module: Linear_4", 2, 96, 3, 2),
      frame("torch/nn/modules/linear.py(130): forward", 3, 94, 4, 3),
      frame("mine.py(3): <Scale object at 0x7f5b4456cdc0>", 4, 92, 5, 4),
      frame("<built-in function linear>", 5, 90, 6, 5),
      test::cpu_op("aten::linear", 10, 60),
      test::cpu_op("aten::mm", 20, 40),
      test::launch_call(30, 5, 1),
      test::kernel("k", 50, 10, 1)};
  const Trace trace = test::open_events(events);
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  EXPECT_EQ(call_stack_of(input, test::find_event(trace.store, "aten::mm")),
            (std::vector<std::string>{"aten::linear", "mine.py(3): <Scale object>",
                                      "nn.Module: Linear_4", "models.py(62): forward"}));
}

// A copy to the host has no limit here, and is nearly all of the op's time.
TEST(Findings, AnEfficiencyOfASmallPartIsNotTheOps) {
  const auto efficiency = [](int64_t to_host) {
    constexpr const char* kTwo = R"("Input Dims":[[65536],[65536]],"Input type":["float","float"])";
    constexpr const char* kOne = R"("Input Dims":[[1024],[1024]],"Input type":["float","float"])";
    const Trace trace = test::open_events(
        {test::cpu_op("aten::copy_", 0, 10, kTwo), test::launch_call(2, 1, 1),
         test::event_text("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 20, to_host,
                          R"("correlation":1,"device":0,"stream":7)", "0", "7"),
         test::cpu_op("aten::copy_", 12, 10, kOne), test::launch_call(14, 1, 2),
         test::kernel("copy_kernel", 30 + to_host, 10, 2)});
    const Scope scope;
    const SheetInput input(trace.store, trace.tree, scope);
    const MeasuredOps ops(input, find_launchers(input));
    const Assessment assessment(input, ops, Platforms::built_in().find("H200").value());
    return assessment.top_ops()[0].efficiency.has_value();
  };
  EXPECT_FALSE(efficiency(1000));
  EXPECT_TRUE(efficiency(2));
}

TEST(Findings, ForwardWorkThatRunsAgain) {
  const auto train = [](const char* node) {
    std::vector<std::string> events;
    for (int i = 0; i < 10; ++i) {
      const int64_t at = 1000 * i;
      events.push_back(test::cpu_op(node, at, 500));
      events.push_back(test::cpu_op("aten::mm", at + 10, 50));
      events.push_back(test::launch_call(at + 20, 5, 2 * i + 1));
      events.push_back(test::kernel("forward", at + 30, 300, 2 * i + 1));
    }
    const Trace trace = test::open_events(events);
    const Scope scope;
    const SheetInput input(trace.store, trace.tree, scope);
    const MeasuredOps ops(input, find_launchers(input));
    return find_all(Assessment(input, ops, nullptr));
  };
  EXPECT_NE(first_finding(train("CheckpointFunctionBackward"), FindingKind::kRecompute), nullptr);
  EXPECT_EQ(first_finding(train("AddmmBackward0"), FindingKind::kRecompute), nullptr);
}

TEST(Findings, ComeInTheOrderOfTheirSaving) {
  Workload w;
  for (int i = 0; i < 20; ++i) {
    w.op("aten::mm", kMatrix, kTwoBf16, 1000).op("aten::neg", kImage, kOneBf16, 300);
  }
  const auto findings = w.find();
  ASSERT_GE(findings.size(), 2u);
  for (size_t i = 1; i < findings.size(); ++i) {
    EXPECT_GE(findings[i - 1].saving_at_most, findings[i].saving_at_most);
  }
}

// A top op at a twentieth of the limit, which is all of its category: critical by the rule. How
// long the products beside it take decides how urgent it is.
TEST(Findings, NothingIsMoreUrgentThanItsSavingBears) {
  const auto priority_beside = [](int products) {
    Workload w;
    for (int i = 0; i < products; ++i) w.op("aten::mm", kMatrix, kTwoBf16, 200);
    w.op("aten::native_layer_norm", "[[4096,1024],[],[1024],[1024],[]]",
         R"(["c10::BFloat16","","c10::BFloat16","c10::BFloat16","Scalar"])", 100);
    w.op("aten::mm", kMatrix, kTwoBf16, 200);
    const auto findings = w.find();
    const Finding* f = first_finding(findings, FindingKind::kLowEfficiency);
    return f != nullptr ? std::pair(f->priority, f->priority_reason)
                        : std::pair(Priority::kLow, std::string("none"));
  };
  EXPECT_EQ(priority_beside(1).first, Priority::kCritical) << "15 % to save";
  EXPECT_EQ(priority_beside(4).first, Priority::kHigh) << "7 %";
  EXPECT_EQ(priority_beside(15).first, Priority::kMedium) << "2 %";
  EXPECT_EQ(priority_beside(35).first, Priority::kMedium) << "1.2 %";
  EXPECT_EQ(priority_beside(80).first, Priority::kLow) << "0.6 %";
  EXPECT_EQ(priority_beside(35).second,
            "critical by rule (a top operation under 30 % of achievable, with over 15 % of its "
            "category's time); medium because the saving is 1.0–1.2 % of the wall time");
}

}  // namespace
}  // namespace fathom
