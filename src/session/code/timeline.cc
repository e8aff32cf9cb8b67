#include "session/code/timeline.h"

#include "session/summarize.h"

namespace fathom {

Result<TerminalTimeline> make_timeline(const Trace& trace) {
  TRY(check_has_events(trace));
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  const MeasuredOps ops(input, find_launchers(input));
  return terminal_timeline(Assessment(input, ops, detect_platform(trace)));
}

}  // namespace fathom
