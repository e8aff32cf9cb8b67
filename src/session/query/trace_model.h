#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "analyze/pipeline.h"
#include "session/known_code.h"
#include "session/steady_input.h"
#include "session/trace.h"

namespace fathom {

// A trace with what belongs to it, opened once for many questions.
struct OpenedTrace {
  Trace trace;
  Scope scope;
  std::vector<CounterFile> counters;
  std::optional<StallSamples> samples;
  std::optional<Platform> platform;  // none: detected from the trace
  std::unique_ptr<const KnownCode> code;
};

// What an analysis makes of a trace, each part where it is first asked for. One thread at a time
// may ask; base() and step_at() any number, because the rows of two tables may be read side by
// side.
class TraceModel {
 public:
  // Keeps the trace. Fails where it has nothing of the scope.
  static Result<std::unique_ptr<TraceModel>> make(OpenedTrace opened);

  const OpenedTrace& opened() const { return opened_; }
  const EventStore& store() const { return opened_.trace.store; }
  const CallTree& tree() const { return opened_.trace.tree; }
  const SheetInput& input() const { return *input_; }
  const Platform* platform() const;
  const TimeBase& base() const;
  const Assessment& assessment() const;
  const std::vector<Finding>& findings() const;
  const CriticalPath& path() const;
  // The step of the time base that is open at a time.
  std::optional<int64_t> step_at(Nanos time) const;

 private:
  explicit TraceModel(OpenedTrace opened) : opened_(std::move(opened)) {}
  // What findings are about: without the start of the program.
  const SheetInput& assessed_input() const;

  OpenedTrace opened_;
  std::unique_ptr<const SheetInput> input_;
  mutable std::once_flag steady_once_;
  mutable std::unique_ptr<const SteadyInput> steady_;  // null: all of the input
  mutable std::once_flag base_once_;
  mutable std::optional<TimeBase> base_;
  mutable std::vector<Launcher> launchers_;
  mutable std::unique_ptr<const MeasuredOps> ops_;
  mutable std::unique_ptr<const Assessment> assessment_;
  mutable std::unique_ptr<const CriticalPath> path_;
  mutable std::optional<std::vector<Finding>> findings_;
};

}  // namespace fathom
