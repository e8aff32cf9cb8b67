#include "tree/phases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "unit/small_trace.h"

namespace fathom {
namespace {

using Lines = std::vector<std::string>;

constexpr const char* kKinds[] = {"prefill",       "decode", "forward", "backward", "optimizer",
                                  "communication", "named",  "repeat",  "other"};
constexpr const char* kEvidence[] = {"annotation", "autograd",   "modules",
                                     "shapes",     "repetition", "none"};

// A program's ranges, ops and launches, in µs. A kernel begins 1 µs after its launch.
class Program {
 public:
  Program& range(std::string_view name, int64_t start, int64_t duration,
                 std::string_view thread = "1") {
    return add(test::event_text("user_annotation", name, start, duration, "", "1", thread));
  }
  Program& op(std::string_view name, int64_t start, int64_t duration, std::string_view args = "",
              std::string_view thread = "1") {
    return add(test::cpu_op(name, start, duration, args, thread));
  }
  Program& work(std::string_view kernel, int64_t at, std::string_view thread = "1") {
    add(test::launch_call(at, 1, ++launches_, thread));
    return add(test::kernel(kernel, at + 1, 1, launches_));
  }
  // A forward op with a kernel, and one of the backward pass on its thread.
  Program& forward(std::string_view kernel, int64_t at) {
    op("aten::mm", at, 4, R"("Sequence number":7)");
    return work(kernel, at + 1);
  }
  Program& backward(std::string_view kernel, int64_t at, std::string_view thread = "2") {
    op("autograd::engine::evaluate_function: MmBackward0", at, 4, R"("Sequence number":7)", thread);
    return work(kernel, at + 1, thread);
  }
  Program& add(std::string event) {
    events_.push_back(std::move(event));
    return *this;
  }
  Trace open() const { return test::open_events(events_); }

 private:
  std::vector<std::string> events_;
  int64_t launches_ = 0;
};

std::vector<Phase> phases_of(const Trace& trace) {
  std::vector<EventId> work;
  for (size_t i = 0; i < trace.store.size(); ++i) {
    if (is_gpu_work(trace.store.kind(EventId(i)))) work.emplace_back(i);
  }
  return find_phases(trace.store, trace.tree, work);
}

// "decode 'step' annotation: k1 k2 | k3"
Lines phases(const Program& program) {
  const Trace trace = program.open();
  Lines lines;
  for (const Phase& phase : phases_of(trace)) {
    std::string runs;
    for (const PhaseRun& run : phase.runs) {
      runs += runs.empty() ? ":" : " |";
      for (EventId e : run.work) (runs += " ") += trace.store.name(e);
    }
    const std::string name = phase.name.empty() ? "" : " '" + phase.name + "'";
    lines.push_back(fmt::format("{}{} {}{}", kKinds[static_cast<size_t>(phase.kind)], name,
                                kEvidence[static_cast<size_t>(phase.evidence)], runs));
  }
  return lines;
}

// "decode 3": three runs.
Lines counts(const Program& program) {
  Lines lines;
  const Trace trace = program.open();
  for (const Phase& phase : phases_of(trace)) {
    lines.push_back(
        fmt::format("{} {}", kKinds[static_cast<size_t>(phase.kind)], phase.runs.size()));
  }
  return lines;
}

TEST(Phases, OfNoWorkThereAreNone) { EXPECT_EQ(phases(Program().range("decode", 0, 5)), Lines{}); }

TEST(PhaseRanges, NumberedRangesAreRunsOfOnePhase) {
  EXPECT_EQ(phases(Program()
                       .range("prefill", 0, 10)
                       .work("p", 2)
                       .range("decode 17", 20, 10)
                       .work("a", 22)
                       .range("decode 18", 40, 10)
                       .work("b", 42)
                       .work("c", 44)
                       .work("after", 60)),
            (Lines{"prefill 'prefill' annotation: p", "decode 'decode' annotation: a | b c",
                   "other none: after"}));
}

TEST(PhaseRanges, TheLaunchDecidesNotTheTimeOnTheGpu) {
  Program program;
  program.range("forward", 0, 10).range("backward", 20, 10);
  program.add(test::launch_call(5, 1, 1)).add(test::kernel("late", 25, 2, 1));
  EXPECT_EQ(phases(program), Lines{"forward 'forward' annotation: late"});
}

TEST(PhaseRanges, ARunHasTheRangesHostTimes) {
  const Trace trace = Program().range("decode", 10, 30).work("k", 20).open();
  const std::vector<Phase> found = phases_of(trace);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].runs[0].host_begin, test::micros(10));
  EXPECT_EQ(found[0].runs[0].host_end, test::micros(40));
  EXPECT_EQ(found[0].runs[0].gpu_begin, test::micros(21));
  EXPECT_EQ(trace.store.name(found[0].example), "decode");
}

TEST(PhaseRanges, ARangeAroundAllOthersIsNone) {
  EXPECT_EQ(phases(Program()
                       .range("main", 0, 100)
                       .range("sample", 10, 20)
                       .work("a", 12)
                       .range("score", 50, 20)
                       .work("b", 52)),
            (Lines{"named 'sample' annotation: a", "named 'score' annotation: b"}));
}

TEST(PhaseRanges, ARangeAroundAllAloneIsOne) {
  EXPECT_EQ(phases(Program().range("main", 0, 100).work("a", 12).work("b", 52)),
            Lines{"named 'main' annotation: a b"});
}

TEST(PhaseRanges, OfUnknownNamesTheOuterIsThePhase) {
  EXPECT_EQ(phases(Program()
                       .range("rollout", 0, 40)
                       .range("sample", 5, 10)
                       .work("a", 6)
                       .work("b", 30)
                       .range("update", 50, 40)
                       .work("c", 60)),
            (Lines{"named 'rollout' annotation: a b", "named 'update' annotation: c"}));
}

TEST(PhaseRanges, AKnownKindInsideAnUnknownIsThePhase) {
  EXPECT_EQ(phases(Program()
                       .range("rollout", 0, 40)
                       .work("tokenize", 1)
                       .range("decode", 5, 10)
                       .work("a", 6)
                       .range("update", 50, 40)
                       .range("score", 51, 5)
                       .work("s", 52)
                       .range("backward", 60, 10)
                       .work("b", 61)),
            (Lines{"named 'rollout' annotation: tokenize", "decode 'decode' annotation: a",
                   "named 'update' annotation: s", "backward 'backward' annotation: b"}));
}

TEST(PhaseRanges, LayersAreNoPhases) {
  EXPECT_EQ(phases(Program()
                       .range("forward", 0, 40)
                       .range("layer 0", 5, 10)
                       .work("a", 6)
                       .range("layer 1", 20, 10)
                       .work("b", 22)),
            Lines{"forward 'forward' annotation: a b"});
}

TEST(PhaseRanges, APrefillInsideADecodeLoop) {
  EXPECT_EQ(phases(Program()
                       .range("decode loop", 0, 100)
                       .range("prefill", 10, 20)
                       .work("p", 12)
                       .work("a", 40)
                       .work("b", 60)),
            (Lines{"prefill 'prefill' annotation: p", "decode 'decode loop' annotation: a b"}));
}

TEST(PhaseRanges, ALoopNamedAfterItsSteps) {
  Program program;
  program.range("decode loop", 0, 100);
  for (int i = 0; i < 4; ++i) {
    program.range(fmt::format("decode step {}", i), 10 + 20 * i, 10).work("k", 12 + 20 * i);
  }
  EXPECT_EQ(phases(program), Lines{"decode 'decode step' annotation: k | k | k | k"});
}

TEST(PhaseRanges, PartsOfADecodeStepAreNoLoop) {
  Program program;
  for (int step = 0; step < 2; ++step) {
    program.range("decode", 100 * step, 90);
    for (int i = 0; i < 4; ++i) {
      program.range("decode attention", 100 * step + 20 * i, 10).work("k", 100 * step + 20 * i + 2);
    }
  }
  EXPECT_EQ(phases(program), Lines{"decode 'decode' annotation: k k k k | k k k k"});
}

TEST(PhaseRanges, RecomputationBelongsToTheBackwardPass) {
  EXPECT_EQ(phases(Program().range("backward", 0, 50).range("forward", 5, 10).work("r", 6)),
            Lines{"backward 'backward' annotation: r"});
}

TEST(PhaseRanges, AClosureRunsTheStepInsideTheOptimizer) {
  EXPECT_EQ(phases(Program()
                       .range("Optimizer.step#LBFGS.step", 0, 100)
                       .range("forward", 5, 10)
                       .work("f", 6)
                       .range("backward", 20, 10)
                       .work("b", 22)
                       .work("o", 50)),
            (Lines{"forward 'forward' annotation: f", "backward 'backward' annotation: b",
                   "optimizer 'Optimizer.step#LBFGS.step' annotation: o"}));
}

TEST(PhaseRanges, AnImageModelDecodesToo) {
  const Lines image = phases(Program()
                                 .range("text_encode", 0, 10)
                                 .work("e", 2)
                                 .range("denoise", 20, 10)
                                 .work("u", 22)
                                 .range("decode", 40, 10)
                                 .work("v", 42));
  ASSERT_EQ(image.size(), 3u);
  EXPECT_EQ(image[2], "named 'decode' annotation: v");
  EXPECT_EQ(phases(Program()
                       .range("encode", 0, 10)
                       .work("e", 2)
                       .range("prefill", 20, 10)
                       .work("p", 22)
                       .range("decode", 40, 10)
                       .work("d", 42))
                .back(),
            "decode 'decode' annotation: d");
}

TEST(PhaseRanges, WorkWithoutALaunchHasTheImageOnItsStream) {
  Program program;
  program.range("prefill", 0, 10).range("decode", 10, 10).work("k", 2);
  program.add(test::gpu_annotation("prefill", 50, 10, 7))
      .add(test::gpu_annotation("decode", 60, 10, 7))
      .add(test::kernel("unlinked", 62, 2, 999));
  EXPECT_EQ(phases(program),
            (Lines{"prefill 'prefill' annotation: k", "decode 'decode' annotation: unlinked"}));
}

TEST(PhaseRanges, WithoutLaunchesTheTimeOnTheGpuDecides) {
  Program program;
  program.range("prefill", 0, 10).range("decode", 10, 10);
  program.add(test::kernel("a", 2, 2, 1)).add(test::kernel("b", 12, 2, 2));
  EXPECT_EQ(phases(program),
            (Lines{"prefill 'prefill' annotation: a", "decode 'decode' annotation: b"}));
}

TEST(PhaseRanges, AThreadWithoutRangesHasThoseOfTheOthers) {
  EXPECT_EQ(phases(Program().range("decode", 0, 50).work("a", 2).work("helper", 9, "5")),
            Lines{"decode 'decode' annotation: a helper"});
}

TEST(PhaseRanges, AThreadBesideAnotherDoesNotDoItsWork) {
  EXPECT_EQ(phases(Program()
                       .range("ProfilerStep#1", 0, 90)
                       .range("prepare batch", 0, 50, "5")
                       .work("copy", 2, "5")
                       .work("model", 9)),
            (Lines{"named 'prepare batch' annotation: copy", "other none: model"}));
}

TEST(PhaseRanges, WorkFromBeforeTheTraceIsOfNoRange) {
  Program program;
  program.range("decode", 0, 50).work("k", 2);
  program.add(test::gpu_annotation("decode", 20, 30, 7)).add(test::kernel("early", 5, 1, 999));
  EXPECT_EQ(phases(program), (Lines{"decode 'decode' annotation: k", "other none: early"}));
}

TEST(PhaseRanges, ManyNamesAreNoOverview) {
  Program program;
  for (int i = 0; i < 60; ++i) {
    const std::string name = {'q', static_cast<char>('a' + i / 26),
                              static_cast<char>('a' + i % 26)};
    program.range(name, 10 * i, 8).work("k", 10 * i + 1);
  }
  EXPECT_EQ(phases(program).size(), 21u) << "twenty names, and the others";
}

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
