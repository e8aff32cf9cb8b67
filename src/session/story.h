#pragma once

#include "session/analyze.h"
#include "story/run/tell_run.h"

namespace fathom {

// What a story is told from beside what an analysis reads.
struct StoryOptions {
  AnalyzeOptions analysis;
  StorySelection selection;
};

// Fails where the trace has nothing of the scope, or nothing fits the selection.
Result<RunStory> tell_story(const Trace& trace, const Scope& scope, const StoryOptions& options);
// Of counters without a trace: kernels in the order in which they were counted.
Result<RunStory> tell_counters(const std::vector<CounterFile>& files, const StoryOptions& options);

// As part of an analysis; of a recording of several GPUs it is told anew, for one of them.
Result<RunStory> tell_story(const Trace& trace, const Assessment& assessment,
                            const std::vector<Finding>& findings,
                            const std::vector<KernelContext>& contexts,
                            const AnalyzeOptions& options);

// story.md, story.json and, where asked for, report.html.
Result<std::vector<std::string>> write_story(const RunStory& story, bool with_evidence, bool page,
                                             const OutputPlace& place);

}  // namespace fathom
