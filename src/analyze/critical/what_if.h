#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/critical/critical_path.h"
#include "analyze/critical/step_model.h"
#include "base/result.h"

// What a step would take if parts of it took less, by replaying its critical graph.
namespace fathom {

// One change: "op=aten::mm x0.5", "sync remove".
struct WhatIfChange {
  enum class Target : uint8_t {
    kOp,          // GPU work below ops of this name; host time too where it is removed
    kKernel,      // kernels and memsets of this name
    kCopy,        // copies, of this name
    kCollective,  // kernels of collectives, of this name
    kLaunch,      // host time in calls that launch work
    kSync,        // calls that wait for the GPU
    kCall,        // host time in calls of this name, ops and runtime calls
    kHost,        // all host time
    kModule,      // like an op: what was called in Python frames of this name
    kAnnotation,  // likewise in annotations of this name
  };
  Target target = Target::kOp;
  std::string pattern;  // a glob; "*" where none is given
  double factor = 1;
  bool remove = false;
};

// Changes that are made together: "op=aten::mm x0.5 and launch x0".
struct WhatIfQuestion {
  std::string text;
  std::vector<WhatIfChange> changes;
};
// An error is a mistake in the asking.
Result<WhatIfQuestion> parse_what_if(std::string_view text);

struct WhatIfAnswer {
  std::string question;
  Nanos step;               // recorded
  Nanos at_least, at_most;  // then: optimistic and pessimistic
  // Of a step without the profiler, which is what the savings of findings are parts of.
  double saved_at_least = 0, saved_at_most = 0;
  size_t gpu_events = 0;     // that were changed
  size_t host_segments = 0;  // likewise
  PathShares path{};         // then, optimistic
};

// Asks a critical graph. Each question replays it twice; the buffers are kept.
class WhatIf {
 public:
  WhatIf(const SheetInput& input, const CriticalPath& path);

  // Fails where a name matches nothing.
  Result<WhatIfAnswer> ask(const WhatIfQuestion& question);

  // What the window would be shorter by at most if these were not there: GPU work, or calls with
  // all that is in them and the work they launch. Zero once the budget of replays is spent; `spent`
  // says.
  Nanos saving_if_removed(std::span<const EventId> events);
  bool spent() const { return replayed_nodes_ >= kMostReplayed; }

 private:
  // Nodes visited by savings, so that they cost no more than reading the trace.
  static constexpr size_t kMostReplayed = 40'000'000;

  Status apply(const WhatIfChange& change, WhatIfAnswer& answer);
  Status mark(const WhatIfChange& change);
  template <typename Matches>
  std::string_view mark_nodes(const WhatIfChange& change, Matches matches);
  template <typename Selected>
  void change_slices(uint32_t node, double factor, Selected selected, size_t& changed);
  void mark_call(CallId call);
  void mark_spans(const WhatIfChange& change, EventKind kind);
  void reset();
  int64_t replayed_length(Outlook outlook);

  const SheetInput& input_;
  const CriticalPath& path_;
  const CriticalGraph& graph_;
  GraphChange change_;
  Replayed replayed_;
  std::optional<StepModel> unprofiled_;  // once asked for
  std::vector<bool> marked_;             // by event
  size_t marks_ = 0;                     // events that were matched by name
  size_t replayed_nodes_ = 0;
};

}  // namespace fathom
