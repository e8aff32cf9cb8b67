#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scan/facts/code_facts.h"
#include "story/expectation.h"
#include "story/host_expectation.h"
#include "story/kernel_notes.h"
#include "story/parameters.h"
#include "story/story_step.h"

namespace fathom {

// What a story was told from.
enum class StoryDetail : uint8_t {
  kNotTold,     // --kernel asks for others
  kEvidence,    // its evidence alone, which the facts have: its sources are not at hand
  kLaunch,      // its launch and its evidence: it is one of very many kernels
  kStatements,  // the statements of the functions that lead to it, and its own
};
// For programs: "statements".
std::string_view detail_name(StoryDetail detail);

// The execution story of a kernel or host function.
struct Story {
  StoryDetail detail = StoryDetail::kNotTold;
  std::vector<StoryStep> call;  // who calls it, the outermost first, and the way down to it
  LaunchStory launch;           // of a kernel; no steps: no launch could be followed
  // What it does on the GPU, or on the CPU; none: its body could not be read, evidence tells.
  std::optional<DeviceStory> body;
  std::vector<StoryStep> how_often;   // empty: not known
  bool in_forward = false;            // called by a forward(), which may be all that is known
  std::vector<StoryStep> only_where;  // tests on the way down
  std::vector<StoryStep> overlapped;  // what shows that something runs beside it
};

struct KernelStory {
  Story story;
  Expectation expected;
  std::vector<KernelNote> notes;
};

struct HostStory {
  Story story;
  HostExpectation expected;
};

// All that is told of a scanned repository, made once. It points to nothing: reports are made from
// it and the facts alone.
struct Stories {
  Parameters parameters;  // what they were told for
  std::string platform;   // its name; empty: none was given
  std::string asked_for;  // pattern of kernel names; empty: all

  std::vector<KernelStory> kernels;       // of each of CodeFacts::kernels
  std::vector<HostStory> host_functions;  // of each of CodeFacts::host_functions
};

}  // namespace fathom
