// The story of a run: its parts add up, each line rests on something, and it stays short.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "invariants/every_trace.h"
#include "report/trace/run_story.h"
#include "session/counters.h"
#include "session/hardware_summary.h"
#include "session/story.h"
#include "test_files.h"

namespace fathom {
namespace {

std::vector<const StoryLine*> lines_of(const RunStory& story) {
  std::vector<const StoryLine*> all;
  const auto add = [&all](const std::vector<StoryLine>& lines) {
    for (const StoryLine& line : lines) all.push_back(&line);
  };
  add(story.configuration);
  for (const StoryPhase& phase : story.phases) {
    add(phase.lines);
    for (const StoryEvent& event : phase.events) {
      all.push_back(&event.what);
      add(event.lines);
    }
  }
  for (const StoryTransition& transition : story.transitions) add(transition.lines);
  for (const StoryKernel& kernel : story.kernels) add(kernel.lines);
  for (const auto* part :
       {&story.hotspots, &story.bottlenecks, &story.insights, &story.actions, &story.missing})
    add(*part);
  return all;
}

void expect_sound(const RunStory& story) {
  Nanos sum = story.between + story.more_time;
  for (const StoryPhase& phase : story.phases) {
    EXPECT_GE(phase.busy.count, 0);
    EXPECT_GE(phase.idle.count, 0);
    sum += phase.busy + phase.idle;
    double shares = 0;
    for (const StoryEvent& event : phase.events) {
      EXPECT_GE(event.at.count, 0);
      shares += event.what.number("share").value_or(0);
    }
    EXPECT_LE(shares, 100.001);
  }
  EXPECT_GE(story.between.count, 0);
  EXPECT_EQ(sum, story.total);
  EXPECT_LE(story.phases.size(), 6u);
  const NameStyle plain = [](std::string_view text) { return std::string(text); };
  for (const StoryLine* line : lines_of(story)) {
    EXPECT_FALSE(line->evidence.empty()) << line_kind_name(line->kind);
    EXPECT_FALSE(line_kind_name(line->kind).empty());
    EXPECT_NE(story_sentence(*line, plain), line_kind_name(line->kind)) << "no sentence";
    for (const StoryNumber& number : line->numbers) {
      EXPECT_TRUE(std::isfinite(number.value)) << line_kind_name(line->kind) << " " << number.name;
      EXPECT_GE(number.value, 0) << line_kind_name(line->kind) << " " << number.name;
      if (number.unit == "%") {
        EXPECT_LE(number.value, 100.001) << line_kind_name(line->kind) << " " << number.name;
      }
    }
  }
}

// Two minutes of reading, with each part of the summary that there is.
void expect_short(const RunStory& story) {
  for (const size_t width : {80u, 100u}) {
    const std::string text = story_text(story, {false, false, width}, false);
    EXPECT_LE(std::ranges::count(text, '\n'), 60) << text;
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      EXPECT_LE(screen_width(text.substr(at, end - at)), width);
      at = end + 1;
    }
    for (const auto& [title, lines] : {std::pair("Hotspots", &story.hotspots),
                                       {"Bottleneck", &story.bottlenecks},
                                       {"Hardware insight", &story.insights},
                                       {"Actionable", &story.actions}})
      EXPECT_EQ(text.find(title) == std::string::npos, lines->empty()) << title;
    if (text.find("left out") == std::string::npos) continue;
    EXPECT_GT(story_text(story, {false, false, width}, true).size(), text.size());
  }
}

class StoryLaws : public test::LawOfTraces {};

TEST_P(StoryLaws, PartsAddUpAndLinesHaveEvidence) {
  for (const bool unlinked : {false, true}) {
    Scope scope;
    scope.include_unlinked = unlinked;
    const Result<RunStory> story = tell_story(trace(), scope, {});
    if (!story.ok()) continue;  // nothing of the scope
    expect_sound(story.value());
    expect_short(story.value());
  }
}

TEST_P(StoryLaws, AKernelAndAPhaseAreASoundStoryToo) {
  const Result<RunStory> all = tell_story(trace(), {}, {});
  if (!all.ok() || all.value().phases.empty()) return;
  StoryOptions phase;
  phase.selection.phase = phase_kind_name(all.value().phases.back().kind);
  if (!all.value().phases.back().name.empty())
    phase.selection.phase = all.value().phases.back().name;
  const Result<RunStory> of_phase = tell_story(trace(), {}, phase);
  ASSERT_TRUE(of_phase.ok()) << of_phase.error().message;
  expect_sound(of_phase.value());
  StoryOptions kernel;
  kernel.selection.kernel = "*e*";
  const Result<RunStory> of_kernel = tell_story(trace(), {}, kernel);
  ASSERT_TRUE(of_kernel.ok()) << of_kernel.error().message;
  expect_sound(of_kernel.value());
  EXPECT_FALSE(of_kernel.value().kernels.empty());
}

TEST_P(StoryLaws, ToldTwiceItIsTheSame) {
  const Result<RunStory> a = tell_story(trace(), {}, {}), b = tell_story(trace(), {}, {});
  ASSERT_EQ(a.ok(), b.ok());
  if (!a.ok()) return;
  EXPECT_EQ(story_json(a.value()), story_json(b.value()));
}

FATHOM_FOR_EVERY_TRACE(StoryLaws);

TEST(StoryOfCaptures, PartsAddUpAndLinesHaveEvidence) {
  size_t told = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_dir() / "examples/captures")) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".capture")) continue;
    SCOPED_TRACE(path);
    const Result<Trace> trace = open_trace(path);
    ASSERT_TRUE(trace.ok());
    const Result<std::vector<CounterFile>> counters = open_capture_counters(trace.value());
    const Result<std::optional<StallSamples>> samples = open_capture_samples(trace.value());
    ASSERT_TRUE(counters.ok() && samples.ok());
    StoryOptions options;
    options.analysis.counters = &counters.value();
    if (samples.value()) options.analysis.samples = &*samples.value();
    const Result<RunStory> story = tell_story(trace.value(), {}, options);
    ASSERT_TRUE(story.ok()) << story.error().message;
    expect_sound(story.value());
    expect_short(story.value());
    ++told;
  }
  EXPECT_GE(told, 8u);
}

}  // namespace
}  // namespace fathom
