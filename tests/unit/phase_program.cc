#include "unit/phase_program.h"

#include <fmt/format.h>

namespace fathom::test {
namespace {

constexpr const char* kPhaseWords[] = {"prefill",  "decode",    "forward",
                                       "backward", "optimizer", "communication",
                                       "named",    "repeat",    "other"};
constexpr const char* kEvidence[] = {"annotation", "autograd",   "modules",
                                     "shapes",     "repetition", "none"};

}  // namespace

std::vector<Phase> phases_of(const Trace& trace) {
  std::vector<EventId> work;
  for (size_t i = 0; i < trace.store.size(); ++i) {
    if (is_gpu_work(trace.store.kind(EventId(i)))) work.emplace_back(i);
  }
  return find_phases(trace.store, trace.tree, work);
}

Lines phases(const PhaseProgram& program) {
  const Trace trace = program.open();
  Lines lines;
  for (const Phase& phase : phases_of(trace)) {
    std::string runs;
    for (const PhaseRun& run : phase.runs) {
      runs += runs.empty() ? ":" : " |";
      for (EventId e : run.work) (runs += " ") += trace.store.name(e);
    }
    const std::string name = phase.name.empty() ? "" : " '" + phase.name + "'";
    lines.push_back(fmt::format("{}{} {}{}", kPhaseWords[static_cast<size_t>(phase.kind)], name,
                                kEvidence[static_cast<size_t>(phase.evidence)], runs));
  }
  return lines;
}

Lines counts(const PhaseProgram& program) {
  Lines lines;
  const Trace trace = program.open();
  for (const Phase& phase : phases_of(trace)) {
    lines.push_back(
        fmt::format("{} {}", kPhaseWords[static_cast<size_t>(phase.kind)], phase.runs.size()));
  }
  return lines;
}

}  // namespace fathom::test
