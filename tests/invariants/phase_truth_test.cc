// What annotations and ops tell is found without them: the examples, with those events removed.
#include <fmt/format.h>

#include <map>

#include "invariants/every_trace.h"
#include "test_files.h"
#include "tree/phases.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

std::string example_text(std::string_view name) {
  const std::string path = (test::source_dir() / "examples" / name).string();
  test::CommandResult unpacked = test::run_command(fmt::format("gzip -dc '{}'", path), "/");
  EXPECT_EQ(unpacked.exit_code, 0) << unpacked.errors;
  return std::move(unpacked.output);
}

template <typename Keep>
std::string with_events(const std::string& text, Keep keep) {
  const test::TraceParts parts = test::take_apart(text);
  std::string kept(parts.head);
  for (std::string_view event : parts.events) {
    if (keep(event)) (kept += event) += ',';
  }
  if (kept.ends_with(',')) kept.pop_back();
  return kept += parts.tail;
}

bool is_of(std::string_view event, std::string_view category) {
  return event.find(fmt::format(R"("cat": "{}")", category)) != std::string_view::npos;
}
bool is_no_annotation(std::string_view event) {
  return !is_of(event, "user_annotation") && !is_of(event, "gpu_user_annotation");
}
bool is_gpu_event(std::string_view event) {
  return is_of(event, "kernel") || is_of(event, "gpu_memcpy") || is_of(event, "gpu_memset");
}

struct FoundPhases {
  std::map<PhaseKind, std::vector<std::pair<Nanos, Nanos>>> runs;  // begin and end on the GPU
  std::map<PhaseKind, Nanos> times;
};

FoundPhases find_in(std::string_view text) {
  const EventStore store = test::read_trace_text(text);
  std::vector<EventId> work;
  for (size_t i = 0; i < store.size(); ++i) {
    if (is_gpu_work(store.kind(EventId(i)))) work.emplace_back(i);
  }
  FoundPhases found;
  for (const Phase& phase : find_phases(store, build_call_tree(store), work)) {
    for (const PhaseRun& run : phase.runs) {
      found.runs[phase.kind].emplace_back(run.gpu_begin, run.gpu_end);
      for (EventId e : run.work) found.times[phase.kind] += store.duration(e);
    }
  }
  return found;
}

TEST(PhaseTruth, DecodeStepsWithoutTheirAnnotations) {
  for (const char* name :
       {"llama-h200.json.gz", "llama-inductor-h200.json.gz", "llama-stacks-h200.json.gz"}) {
    const std::string text = example_text(name);
    FoundPhases truth = find_in(text), found = find_in(with_events(text, is_no_annotation));
    EXPECT_GE(truth.runs[PhaseKind::kDecode].size(), 3u) << name;
    EXPECT_EQ(found.runs[PhaseKind::kDecode], truth.runs[PhaseKind::kDecode]) << name;
    EXPECT_EQ(found.runs[PhaseKind::kPrefill].size(), 1u) << name;
    EXPECT_NEAR(ratio(found.times[PhaseKind::kPrefill], truth.times[PhaseKind::kPrefill]), 1, 0.01)
        << name;
  }
}

TEST(PhaseTruth, RepeatedStepsOfKernelsAlone) {
  for (const char* name : {"llama-h200.json.gz", "llama-compiled-h200.json.gz",
                           "llama-inductor-h200.json.gz", "llama-stacks-h200.json.gz"}) {
    const std::string text = example_text(name);
    FoundPhases truth = find_in(text), found = find_in(with_events(text, is_gpu_event));
    EXPECT_EQ(found.runs[PhaseKind::kRepeat], truth.runs[PhaseKind::kDecode]) << name;
  }
}

TEST(PhaseTruth, PassesOfKernelsAlone) {
  for (const char* name : {"train-h200.json.gz", "vision-h200.json.gz"}) {
    const std::string text = example_text(name);
    FoundPhases truth = find_in(text), found = find_in(with_events(text, is_gpu_event));
    for (PhaseKind kind : {PhaseKind::kForward, PhaseKind::kBackward, PhaseKind::kOptimizer}) {
      EXPECT_NEAR(ratio(found.times[kind], truth.times[kind]), 1, 0.05) << name;
    }
    for (PhaseKind kind : {PhaseKind::kForward, PhaseKind::kBackward}) {
      EXPECT_EQ(found.runs[kind].size(), truth.runs[kind].size()) << name;
    }
  }
}

}  // namespace
}  // namespace fathom
