// Phases by the ranges that a program has around its work.
#include <fmt/format.h>

#include "checks.h"
#include "unit/phase_program.h"

namespace fathom {
namespace {

using test::Lines;
using test::phases;
using test::phases_of;
using Program = test::PhaseProgram;

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

}  // namespace
}  // namespace fathom
