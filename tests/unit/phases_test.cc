#include "tree/phases.h"

#include <fmt/format.h>

#include "checks.h"
#include "unit/phase_program.h"

namespace fathom {
namespace {

using test::counts;
using test::Lines;
using test::phases;
using Program = test::PhaseProgram;

TEST(Phases, OfNoWorkThereAreNone) { EXPECT_EQ(phases(Program().range("decode", 0, 5)), Lines{}); }

TEST(PhaseSteps, BoundRuns) {
  EXPECT_EQ(phases(Program()
                       .range("ProfilerStep#1", 0, 50)
                       .forward("f1", 2)
                       .range("ProfilerStep#2", 50, 50)
                       .forward("f2", 52)
                       .backward("b2", 70)),
            (Lines{"forward autograd: f1 | f2", "backward autograd: b2"}));
}

TEST(PhaseAutograd, ForwardBackwardAndOptimizer) {
  EXPECT_EQ(phases(Program()
                       .work("input", 0)
                       .forward("f1", 10)
                       .work("between", 20)
                       .forward("f2", 30)
                       .work("loss gradient", 35)
                       .backward("b1", 40)
                       .work("hook", 50, "2")
                       .backward("b2", 60)
                       .work("clip", 65)
                       .range("Optimizer.step#SGD.step", 70, 10)
                       .work("o", 72)),
            (Lines{"other none: input | clip", "forward autograd: f1 between f2",
                   "backward autograd: loss gradient b1 hook b2",
                   "optimizer 'Optimizer.step#SGD.step' annotation: o"}));
}

TEST(PhaseAutograd, MicroBatchesAreRuns) {
  EXPECT_EQ(counts(Program()
                       .forward("f", 0)
                       .backward("b", 10)
                       .forward("f", 20)
                       .backward("b", 30)
                       .op("aten::_fused_adamw_", 40, 5)
                       .work("o", 41)),
            (Lines{"forward 2", "backward 2", "optimizer 1"}));
}

TEST(PhaseAutograd, TheRangeOfTheProgramNamesTheBackwardPass) {
  EXPECT_EQ(phases(Program()
                       .range("loss.backward()", 0, 50)
                       .work("seed", 2)
                       .backward("b", 10)
                       .range("train", 60, 30)
                       .forward("f", 62)
                       .backward("b", 70)),
            (Lines{"backward 'loss.backward' annotation: seed b | b", "forward autograd: f"}));
}

TEST(PhaseAutograd, ARangeOfForwardAndBackwardIsAStep) {
  EXPECT_EQ(phases(Program().range("forward_backward", 0, 50).forward("f", 2).backward("b", 20)),
            (Lines{"forward autograd: f", "backward autograd: b"}));
}

TEST(PhaseAutograd, TheLossBelongsToTheForwardPass) {
  EXPECT_EQ(phases(Program()
                       .range("DistributedDataParallel.forward", 0, 10)
                       .work("f", 2)
                       .forward("loss", 20)
                       .backward("b", 30)),
            (Lines{"forward 'DistributedDataParallel.forward' annotation: f loss",
                   "backward autograd: b"}));
}

TEST(PhaseAutograd, OpsWithNumbersAreNoForwardPassWithoutABackwardPass) {
  EXPECT_EQ(phases(Program().forward("a", 0).forward("b", 10)), Lines{"other none: a b"});
}

// Nsight Systems has autograd's ops as NVTX ranges.
TEST(PhaseAutograd, OpsMayBeRanges) {
  EXPECT_EQ(phases(Program()
                       .range("aten::linear, seq = 12, op_id = 1", 0, 10)
                       .work("f1", 2)
                       .range("aten::mm, seq = 13, op_id = 2", 20, 10)
                       .work("f2", 22)
                       .range("autograd::engine::evaluate_function: MmBackward0", 40, 10, "2")
                       .range("aten::mm, op_id = 3", 41, 5, "2")
                       .work("b1", 42, "2")
                       .range("autograd::engine::evaluate_function: AddBackward0", 60, 10, "2")
                       .work("b2", 62, "2")),
            (Lines{"forward autograd: f1 f2", "backward autograd: b1 b2"}));
  EXPECT_EQ(phases(Program().range("aten::linear, seq = 12, op_id = 1", 0, 10).work("f1", 2)),
            Lines{"other none: f1"});
}

TEST(PhaseAutograd, MuchWorkBetweenIsAnotherPass) {
  Program program;
  program.backward("b", 0);
  for (int i = 0; i < 20; ++i) program.work(fmt::format("unknown{}", i), 10 + 2 * i);
  program.backward("b", 100);
  EXPECT_EQ(counts(program), (Lines{"backward 2", "other 1"}));
}

// A process with a thread for each of two devices, at the same time.
TEST(PhaseDevices, HaveRunsOfTheirOwn) {
  Program program;
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 4; ++i) {
      for (int device = 0; device < 2; ++device) {
        const int64_t at = 100 * step + 10 * i + 5 * device, id = 1000 + at;
        program.add(test::launch_call(at, 1, id, device == 0 ? "1" : "2"));
        const std::string name = fmt::format("{}{}", device == 0 ? "k" : "q", i);
        program.add(test::kernel(name, at + 1, 1, id, 7, device));
      }
    }
  }
  EXPECT_EQ(phases(program), (Lines{"repeat repetition: k0 k1 k2 k3 | k0 k1 k2 k3 | k0 k1 k2 k3",
                                    "repeat repetition: q0 q1 q2 q3 | q0 q1 q2 q3 | q0 q1 q2 q3"}));
}

TEST(PhaseDevices, OneRangeIsOneRun) {
  Program program;
  program.range("forward", 0, 50).work("a", 2).work("b", 6);
  program.add(test::launch_call(4, 1, 99)).add(test::kernel("other", 5, 1, 99, 7, 1));
  EXPECT_EQ(phases(program), Lines{"forward 'forward' annotation: a other b"});
}

TEST(PhaseCollectives, BelongToThePhaseTheyWereLaunchedIn) {
  EXPECT_EQ(phases(Program()
                       .forward("f1", 0)
                       .range("nccl:all_gather", 10, 5)
                       .work("ncclDevKernel_AllGather", 11)
                       .forward("f2", 20)
                       .backward("b", 30)
                       .range("nccl:all_reduce", 40, 5, "2")
                       .work("ncclDevKernel_AllReduce", 41, "2")),
            (Lines{"forward autograd: f1 ncclDevKernel_AllGather f2",
                   "backward autograd: b ncclDevKernel_AllReduce"}));
}

TEST(PhaseCollectives, AreAPhaseWhereTheProgramSaysSo) {
  EXPECT_EQ(phases(Program()
                       .range("backward", 0, 10)
                       .work("b", 2)
                       .range("gradient_sync", 20, 10)
                       .work("ncclDevKernel_AllReduce", 22)
                       .work("copy", 25)
                       .range("optimizer", 40, 10)
                       .work("o", 42)),
            (Lines{"backward 'backward' annotation: b",
                   "communication 'gradient_sync' annotation: ncclDevKernel_AllReduce copy",
                   "optimizer 'optimizer' annotation: o"}));
  EXPECT_EQ(phases(Program()
                       .range("forward", 0, 40)
                       .work("f", 2)
                       .range("all_reduce", 20, 10)
                       .work("ncclDevKernel_AllReduce", 22)),
            Lines{"forward 'forward' annotation: f ncclDevKernel_AllReduce"});
}

TEST(PhaseCollectives, OfAThreadOfTheirOwnAreAPhase) {
  EXPECT_EQ(phases(Program()
                       .forward("f", 0)
                       .backward("b1", 10)
                       .range("gloo:all_reduce", 15, 9, "9")
                       .work("copy", 16, "9")
                       .backward("b2", 30)),
            (Lines{"forward autograd: f", "backward autograd: b1 b2",
                   "communication 'gloo:all_reduce' annotation: copy"}));
}

TEST(PhaseCollectives, BetweenPhasesAreAPhaseIfThereIsNothingElse) {
  const auto between = [](std::string_view other) {
    Program program;
    program.range("forward", 0, 10).work("f", 1);
    for (int i = 0; i < 5; ++i) program.work("ncclDevKernel_AllReduce", 20 + 3 * i);
    for (int i = 0; i < 5 && !other.empty(); ++i) program.work(other, 40 + 3 * i);
    return counts(program.range("backward", 90, 10).work("b", 92));
  };
  EXPECT_EQ(between(""), (Lines{"forward 1", "communication 1", "backward 1"}));
  EXPECT_EQ(between("gemm"), (Lines{"forward 1", "other 1", "backward 1"}));
}

TEST(PhaseFunctions, TheOutermostDecides) {
  const auto frame = [](std::string_view name, int64_t start, int64_t duration) {
    return test::event_text("python_function", name, start, duration, R"("Python id":1)");
  };
  Program program;
  program.add(frame("runner.py(10): forward_decode", 0, 50))
      .add(frame("attention.py(20): forward_decode", 5, 10))
      .work("a", 6)
      .work("b", 30)
      .add(frame("vae.py(10): decode", 60, 30))
      .work("image", 62);
  EXPECT_EQ(phases(program), (Lines{"decode modules: a b", "other none: image"}));
}

std::string attention_dims(int queries, int keys) {
  return fmt::format(R"("Input Dims":[[4,16,{0},128],[4,4,{1},128],[4,4,{1},128]])", queries, keys);
}

// One step of a model of four layers; `tag` is what differs in the kernels' names.
void model_step(Program& program, int64_t at, std::string_view tag, int queries, int keys) {
  program.work(fmt::format("embed_{}", tag), at);
  for (int layer = 0; layer < 4; ++layer) {
    const int64_t begin = at + 10 + 20 * layer;
    program.work(fmt::format("qkv_{}", tag), begin);
    program.op("aten::scaled_dot_product_attention", begin + 4, 6, attention_dims(queries, keys));
    program.work(fmt::format("attention_{}", tag), begin + 5);
    program.work(fmt::format("mlp_{}", tag), begin + 12);
  }
  program.work(fmt::format("head_{}", tag), at + 95);
}

TEST(PhaseShapes, FewQueriesInRepeatedStepsAreDecoding) {
  Program program;
  program.work("set-up", 0);
  model_step(program, 100, "many", 1024, 1024);
  for (int i = 0; i < 5; ++i) model_step(program, 200 + 100 * i, "few", 1, 1025 + i);
  EXPECT_EQ(counts(program), (Lines{"other 1", "prefill 1", "decode 5"}));
}

TEST(PhaseShapes, RequestsAreSearchedForTheirSteps) {
  Program program;
  for (int i = 0; i < 40; ++i) program.work(fmt::format("weights{}", i % 2), 2 * i);
  for (int request = 0; request < 3; ++request) {
    const int64_t at = 100 + 600 * request;
    model_step(program, at, "many", 1024, 1024);
    for (int i = 0; i < 5; ++i) model_step(program, at + 100 + 100 * i, "few", 1, 1025 + i);
  }
  EXPECT_EQ(counts(program), (Lines{"other 1", "prefill 3", "decode 15"}));
}

TEST(PhaseShapes, ARangeOfAnotherNameMayHoldThem) {
  Program program;
  program.range("rollout", 0, 700).work("begin", 2);
  model_step(program, 100, "many", 1024, 1024);
  for (int i = 0; i < 5; ++i) model_step(program, 200 + 100 * i, "few", 1, 1025 + i);
  program.range("reward", 800, 100).work("r", 802).work("s", 850);
  EXPECT_EQ(counts(program), (Lines{"named 1", "prefill 1", "decode 5", "named 1"}));
}

TEST(PhaseShapes, ARangeWithoutThemKeepsItsName) {
  Program program;
  program.range("embed documents", 0, 700);
  for (int i = 0; i < 6; ++i) model_step(program, 100 * i, "k", 512, 512);
  program.range("reward", 800, 100).work("r", 802).work("s", 850);
  EXPECT_EQ(counts(program), (Lines{"named 1", "named 1"}));
}

TEST(PhaseShapes, AnEncoderDoesNotDecode) {
  Program program;
  for (int i = 0; i < 5; ++i) model_step(program, 100 * i, "k", 512, 512);
  EXPECT_EQ(counts(program), Lines{"repeat 5"});
}

TEST(PhaseShapes, FewQueriesAndAsFewKeysAreNoDecoding) {
  Program program;
  for (int i = 0; i < 5; ++i) model_step(program, 100 * i, "k", 8, 8);
  EXPECT_EQ(counts(program), Lines{"repeat 5"});
}

}  // namespace
}  // namespace fathom
