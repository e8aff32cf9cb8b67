#pragma once

#include <string>
#include <vector>

#include "scan/facts/code_facts.h"
#include "story/step_words.h"

namespace fathom {

// Something said beside a step, with the code that shows it.
struct StepRemark {
  Words words;
  std::string code;  // as written; may be empty
  CodePlace at;      // line 0: it stands where the step does
  Certainty certainty = Certainty::kCertain;
  bool derived = false;    // the value is ours, worked out from what the code says
  std::string value = {};  // of the code; empty: the code has it
};

// One step of an execution story: what happens in plain words, the code that does it, its place.
struct StoryStep {
  Words words;
  std::vector<std::string> code;  // as written; several where steps were taken together
  CodePlace at;                   // line 0: nowhere in particular
  uint32_t line_last = 0;
  std::vector<StepRemark> remarks;
  Certainty certainty = Certainty::kCertain;
  std::vector<StoryStep> inside;
  // What is only computed and nothing else: taken together with its neighbours.
  bool only_computes = false;
  // Taken together with neighbours that say the same: declarations, checks.
  bool folds = false;
};

// The way of a launch.
struct LaunchStory {
  std::vector<StoryStep> steps;
  size_t left_out = 0;
};

// What a function's body does.
struct DeviceStory {
  std::vector<StoryStep> steps;  // in order of the code; empty: its body could not be read
  size_t left_out = 0;
  CodePlace at;  // of the body
  uint32_t line_last = 0;
};

// Steps in all, with those inside.
size_t count_steps(const std::vector<StoryStep>& steps);

// Whether a step, or one inside it, moves data, multiplies, reduces, waits or launches.
bool matters(const StoryStep& step);

// Takes steps out until at most `most` are left: first those that do not matter, the deepest first,
// then whatever lies deepest. Never one alone, which would cost the line that says so. A step whose
// inside was taken out says so. Gives back how many are gone.
size_t shorten(std::vector<StoryStep>& steps, size_t most);

// Neighbours that only compute become one step each.
void fold_computations(std::vector<StoryStep>& steps);

// Code as a reader expects it: no space behind an opening bracket, not longer than a line or two.
std::string tidy_code(std::string text, size_t longest = 180);

}  // namespace fathom
