#include "tree/steps.h"

#include "checks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::annotation;
using test::gpu_annotation;
using test::micros;
using test::open_events;

std::vector<std::string> step_names(const Trace& t, const Steps& steps) {
  std::vector<std::string> all;
  for (const Step& step : steps.all()) all.emplace_back(t.store.name(step.annotation));
  return all;
}

TEST(Steps, ComeInTheOrderOfTime) {
  const Trace t = open_events({annotation("ProfilerStep#10", 200, 50),
                               annotation("ProfilerStep#9", 100, 50), annotation("other", 0, 500)});
  const Steps steps(t.store, kProfilerSteps);
  EXPECT_EQ(step_names(t, steps), (std::vector<std::string>{"ProfilerStep#9", "ProfilerStep#10"}));
  EXPECT_EQ(steps.all()[0].begin, micros(100));
  EXPECT_EQ(steps.all()[0].end, micros(150));
}

TEST(Steps, AreAnnotationsOfTheCpu) {
  const Trace t = open_events(
      {annotation("ProfilerStep#1", 0, 50), gpu_annotation("ProfilerStep#1", 20, 50, 7),
       gpu_annotation("ProfilerStep#1", 25, 50, 9), test::cpu_op("ProfilerStep#2", 0, 5)});
  EXPECT_EQ(Steps(t.store, kProfilerSteps).all().size(), 1u);
}

TEST(Steps, ThePatternChoosesTheAnnotations) {
  const Trace t = open_events({annotation("decode 1", 0, 50), annotation("prefill", 50, 50),
                               annotation("decode 2", 100, 9)});
  EXPECT_EQ(step_names(t, Steps(t.store, "decode*")),
            (std::vector<std::string>{"decode 1", "decode 2"}));
  EXPECT_EQ(Steps(t.store, "").all().size(), 0u);
}

TEST(Steps, AStepIsOpenFromItsBeginToBeforeItsEnd) {
  const Trace t = open_events({annotation("s1", 100, 50), annotation("s2", 150, 50)});
  const Steps steps(t.store, "s*");
  EXPECT_EQ(steps.at(Nanos{99'999}), std::nullopt);
  EXPECT_EQ(steps.at(micros(100)), 0u);
  EXPECT_EQ(steps.at(Nanos{149'999}), 0u);
  EXPECT_EQ(steps.at(micros(150)), 1u);
  EXPECT_EQ(steps.at(micros(200)), std::nullopt);
}

TEST(Steps, BetweenStepsIsNone) {
  const Trace t = open_events({annotation("s1", 0, 10), annotation("s2", 100, 10)});
  EXPECT_EQ(Steps(t.store, "s*").at(micros(50)), std::nullopt);
}

TEST(Steps, OfNestedStepsTheLatestBegun) {
  const Trace t = open_events({annotation("s outer", 0, 100), annotation("s inner", 20, 30)});
  const Steps steps(t.store, "s*");
  EXPECT_EQ(steps.at(micros(10)), 0u);
  EXPECT_EQ(steps.at(micros(30)), 1u);
  EXPECT_EQ(steps.at(micros(60)), 0u) << "the outer one is open again";
}

// Kineto writes a step on the GPU once for each stream that worked in it, and not at all without
// GPU work: its place in the list is not its number.
TEST(StepsOnTheGpu, AreTheImagesOfStepsByName) {
  const Trace t =
      open_events({annotation("s1", 0, 100), annotation("s2", 100, 100), annotation("s3", 200, 100),
                   gpu_annotation("s2", 150, 90, 7), gpu_annotation("s2", 160, 50, 20),
                   gpu_annotation("s3", 250, 90, 7), gpu_annotation("s4", 350, 90, 7)});
  const Steps steps(t.store, "s*");
  EXPECT_EQ(steps.on_gpu_at(micros(149)), std::nullopt);
  EXPECT_EQ(steps.on_gpu_at(micros(150)), 1u);
  EXPECT_EQ(steps.on_gpu_at(micros(170)), 1u);
  EXPECT_EQ(steps.on_gpu_at(micros(260)), 2u);
  EXPECT_EQ(steps.on_gpu_at(micros(360)), std::nullopt) << "no step of the CPU";
}

TEST(StepsOnTheGpu, OfStepsWithOneNameTheIdTells) {
  const auto step = [](const char* category, int64_t start, const char* id) {
    return test::event_text(category, "decode", start, 50, std::string("\"External id\":") + id);
  };
  const Trace t =
      open_events({step("user_annotation", 0, "11"), step("user_annotation", 50, "12"),
                   step("gpu_user_annotation", 100, "11"), step("gpu_user_annotation", 150, "12")});
  const Steps steps(t.store, "decode");
  EXPECT_EQ(steps.on_gpu_at(micros(110)), 0u);
  EXPECT_EQ(steps.on_gpu_at(micros(160)), 1u);
}

}  // namespace
}  // namespace fathom
