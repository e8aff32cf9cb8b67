#include "tree/phases.h"

#include <algorithm>
#include <map>

#include "events/latest_open.h"

namespace fathom {

std::vector<Phase> find_phases(const EventStore& store, const CallTree& tree,
                               const std::vector<EventId>& gpu_work) {
  std::vector<EventId> ranges;
  for (size_t i = 0; i < store.size(); ++i)
    if (store.kind(EventId(i)) == EventKind::kAnnotation) ranges.push_back(EventId(i));
  std::map<std::pair<Nanos, EventId>, EventId> by_begin;
  for (const EventId r : ranges) by_begin[{store.start(r), r}] = r;
  std::map<std::string, size_t> names;
  std::vector<Phase> phases;
  std::map<EventId, std::pair<size_t, size_t>> runs;
  for (const EventId work : gpu_work) {
    const CallId launch = tree.launch(work);
    EventId range;
    if (launch.valid()) {
      const Nanos at = store.start(tree.event(launch));
      for (auto it = by_begin.begin(); it != by_begin.end() && it->first.first <= at; ++it)
        if (store.end(it->second) > at) { range = it->second; break; }
    }
    auto found = runs.find(range);
    if (found == runs.end()) {
      std::string name = range.valid() ? std::string(store.name(range)) : "";
      while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
      const auto [place, is_new] = names.try_emplace(name, phases.size());
      if (is_new) {
        Phase p;
        p.kind = name.empty() ? PhaseKind::kOther : name.starts_with("prefill") ? PhaseKind::kPrefill : name.starts_with("decode") ? PhaseKind::kDecode : PhaseKind::kNamed;
        p.name = name;
        p.evidence = name.empty() ? PhaseEvidence::kNone : PhaseEvidence::kAnnotation;
        p.example = range;
        phases.push_back(p);
      }
      Phase& p = phases[place->second];
      PhaseRun run;
      run.gpu_begin = store.start(work);
      run.gpu_end = store.end(work);
      p.runs.push_back(run);
      found = runs.emplace(range, std::pair(place->second, p.runs.size() - 1)).first;
    }
    PhaseRun& run = phases[found->second.first].runs[found->second.second];
    run.work.push_back(work);
    run.gpu_begin = std::min(run.gpu_begin, store.start(work));
    run.gpu_end = std::max(run.gpu_end, store.end(work));
  }
  return phases;
}

}  // namespace fathom
