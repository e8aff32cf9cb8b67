#include "scan/index/reach.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>

#include "scan/index/name_resolver.h"

namespace fathom::cpp {

uint32_t CallGraph::add(const CodeUnit& unit) {
  Unit row;
  row.name = names_.intern(unit.name);
  row.scope = names_.intern(unit.scope);
  row.file = unit.file;
  row.index = unit.index;
  row.line = unit.line;
  row.kind = unit.kind;
  row.uses_first = static_cast<uint32_t>(uses_.size());
  for (const Reference& reference : unit.references) {
    Use use;
    use.name = names_.intern(reference.name);
    use.last = names_.intern(last_name(reference.name));
    use.type = names_.intern(reference.type);
    use.line = reference.line;
    use.kind = reference.kind;
    use.arguments_first = static_cast<uint32_t>(arguments_.size());
    use.arguments = static_cast<uint16_t>(std::min<size_t>(reference.arguments.size(), UINT16_MAX));
    for (size_t i = 0; i < use.arguments; ++i) {
      arguments_.push_back(names_.intern(reference.arguments[i]));
    }
    uses_.push_back(use);
  }
  row.uses_last = static_cast<uint32_t>(uses_.size());
  row.parameters_first = static_cast<uint32_t>(parameters_.size());
  for (const std::string& name : template_parameter_names(unit.template_parameters)) {
    parameters_.push_back(names_.intern(name));
  }
  row.parameters_last = static_cast<uint32_t>(parameters_.size());
  units_.push_back(row);
  return static_cast<uint32_t>(units_.size() - 1);
}

void CallGraph::seal() {
  for (uint32_t i = 0; i < units_.size(); ++i) by_name_[name(i)].push_back(i);
  find_owners();
  std::vector<Use> kept;
  for (uint32_t i = 0; i < units_.size(); ++i) {
    Unit& unit = units_[i];
    const auto first = static_cast<uint32_t>(kept.size());
    for (uint32_t u = unit.uses_first; u < unit.uses_last; ++u) {
      keep_passed_functions(i, uses_[u], kept);
      if (!matters(i, uses_[u])) continue;
      if (u == unit.uses_first) unit.first_use_kept = true;
      kept.push_back(uses_[u]);
      if (uses_[u].arguments > 0) instances_[names_.text(uses_[u].last)].push_back({i, uses_[u]});
    }
    unit.uses_first = first;
    unit.uses_last = static_cast<uint32_t>(kept.size());
  }
  kept.shrink_to_fit();
  uses_ = std::move(kept);
  // All kernels together look at a multiple of what there is, however many share their code.
  constexpr size_t kShare = 2048, kLeast = 4000, kMost = 16'000'000;
  const auto kernels =
      static_cast<size_t>(std::count_if(units_.begin(), units_.end(), [](const Unit& unit) {
        return unit.kind == UnitKind::kKernel;
      }));
  const size_t share = kShare * (units_.size() + uses_.size()) / std::max<size_t>(1, kernels);
  work_of_one_ = std::clamp(share, kLeast, kMost);
  constexpr size_t kLeastUnits = 100, kMostUnits = 800;
  units_of_one_ = std::clamp(share / 32, kLeastUnits, kMostUnits);
}

void CallGraph::keep_passed_functions(uint32_t unit, const Use& use, std::vector<Use>& kept) {
  if (units_[unit].kind == UnitKind::kAlias) return;  // whose first use is what it stands for
  for (uint32_t i = use.arguments_first; i < use.arguments_first + use.arguments; ++i) {
    const std::string_view path = names_.text(arguments_[i]);
    if (path.empty()) continue;
    const std::vector<uint32_t>& candidates = named(last_name(path));
    const bool function = std::any_of(candidates.begin(), candidates.end(),
                                      [&](uint32_t one) { return kind(one) == UnitKind::kDevice; });
    if (!function || is_parameter(unit, path)) continue;
    Use passed;
    passed.name = arguments_[i];
    passed.last = names_.intern(last_name(path));
    passed.type = use.type;
    passed.line = use.line;
    passed.kind = ReferenceKind::kPassed;
    kept.push_back(passed);
  }
}

void CallGraph::find_owners() {
  struct Namesakes {
    uint32_t first;
    std::unordered_map<uint32_t, uint32_t> last_of_file;
  };
  std::unordered_map<std::string, Namesakes> classes;
  for (uint32_t i = 0; i < units_.size(); ++i) {
    if (units_[i].kind != UnitKind::kClass) continue;
    const auto found = classes.try_emplace(qualified(i), Namesakes{i, {}}).first;
    found->second.last_of_file[units_[i].file] = i;
  }
  for (Unit& unit : units_) {
    const auto found = classes.find(std::string(names_.text(unit.scope)));
    if (found == classes.end()) continue;
    // A method defined outside its class may stand in another file than that.
    const auto here = found->second.last_of_file.find(unit.file);
    unit.owner = here == found->second.last_of_file.end() ? found->second.first : here->second;
  }
}

bool CallGraph::matters(uint32_t unit, const Use& use) const {
  if (!named(names_.text(use.last)).empty()) return true;
  if (use.kind == ReferenceKind::kMember) return is_parameter(unit, names_.text(use.type));
  // What an alias of a template parameter stands for is looked for where the class is used.
  return units_[unit].kind == UnitKind::kAlias && is_parameter(unit, names_.text(use.name));
}

bool CallGraph::is_parameter(uint32_t unit, std::string_view name) const {
  for (int depth = 0; unit != kNoUnit && depth < 8; ++depth, unit = units_[unit].owner) {
    for (uint32_t i = units_[unit].parameters_first; i < units_[unit].parameters_last; ++i) {
      if (names_.text(parameters_[i]) == name) return true;
    }
  }
  return false;
}

std::string CallGraph::qualified(uint32_t unit) const {
  std::string out(scope(unit));
  if (!out.empty()) out += "::";
  return out += name(unit);
}

const std::vector<uint32_t>& CallGraph::named(std::string_view name) const {
  static const std::vector<uint32_t> none;
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? none : found->second;
}

// A guess among several is no call that one would tell.
bool CallGraph::is_called(const Found& found) const {
  const UnitKind kind = units_[found.unit].kind;
  return (kind == UnitKind::kDevice || kind == UnitKind::kHost) &&
         found.certainty != Certainty::kUnsure;
}

const CallGraph::Meaning& CallGraph::meaning(const NameResolver& resolver, uint32_t unit,
                                             uint32_t use) const {
  const auto known = meanings_.find(use);
  if (known != meanings_.end() && resolver.spend(1 + known->second.units.size()))
    return known->second;
  static const Meaning none;
  if (resolver.exhausted()) return none;
  Meaning found = resolver.meaning(unit, uses_[use]);
  // What was cut short means more to whoever asks with work left.
  if (resolver.exhausted()) return none;
  return meanings_[use] = std::move(found);
}

std::vector<CalledUnit> CallGraph::calls(uint32_t unit) const {
  const NameResolver resolver(*this, work_of_one_);
  std::vector<CalledUnit> out;
  for (uint32_t i = units_[unit].uses_first; i < units_[unit].uses_last; ++i) {
    for (const Found& found : meaning(resolver, unit, i).units) {
      if (is_called(found)) out.push_back({unit, found.unit, uses_[i].line, found.certainty});
    }
  }
  return out;
}

Reach CallGraph::reach(uint32_t start) const {
  constexpr uint32_t kDeepest = 24, kTellingDepth = 6;
  constexpr size_t kMostQueued = 8;     // for each that may be reached
  constexpr size_t kMostLeftOut = 100;  // that are told
  const NameResolver resolver(*this, work_of_one_);
  Reach out;
  std::set<uint32_t> done;
  size_t left_out = 0, queued = 1;
  // One queue for each certainty: what is sure is followed first, so that the first way to a unit
  // is the surest, and of those the shortest.
  std::array<std::deque<ReachedUnit>, 3> queues;
  queues[0].push_back({start, start, units_[start].line, 0, Certainty::kCertain});
  while (true) {
    auto queue =
        std::find_if(queues.begin(), queues.end(), [](const auto& q) { return !q.empty(); });
    if (queue == queues.end()) break;
    const ReachedUnit at = queue->front();
    queue->pop_front();
    if (!done.insert(at.unit).second) continue;
    if (out.units.size() == units_of_one_ || at.depth > kDeepest || resolver.exhausted()) {
      out.stops.push_back({at.from, at.line, std::string(name(at.unit)), "too much code"});
      if (++left_out == kMostLeftOut) break;
      continue;
    }
    out.units.push_back(at);
    const auto follow = [&](uint32_t unit, uint32_t line, Certainty certainty) {
      const Certainty total = std::max(at.certainty, certainty);
      if (!done.contains(unit)) {
        ++queued;
        queues[static_cast<size_t>(total)].push_back({unit, at.unit, line, at.depth + 1, total});
      }
    };
    if (const uint32_t owner = units_[at.unit].owner; owner != kNoUnit) {
      follow(owner, units_[owner].line, Certainty::kCertain);
    }
    for (uint32_t i = units_[at.unit].uses_first; i < units_[at.unit].uses_last; ++i) {
      if (resolver.exhausted() || queued > kMostQueued * units_of_one_) break;
      const Use& use = uses_[i];
      const Meaning& meaning = this->meaning(resolver, at.unit, i);
      for (const Found& found : meaning.units) {
        follow(found.unit, use.line, found.certainty);
        if (at.depth <= kTellingDepth && is_called(found))
          out.calls.push_back({at.unit, found.unit, use.line, found.certainty});
      }
      if (meaning.stop.empty()) continue;
      out.stops.push_back({at.unit, use.line, std::string(names_.text(use.name)), meaning.stop});
    }
  }
  return out;
}

std::vector<CodeEvidence> collect_evidence(const CallGraph& graph, const Reach& reach,
                                           const std::vector<std::vector<PatternHit>>& hits) {
  struct Line {
    CodeEvidence evidence;
    bool conditional = false;
  };
  std::vector<Line> lines;
  std::map<std::pair<std::string_view, std::string_view>, size_t> seen;
  // The surest and nearest units come first, so the first line of a thing is the best one, unless
  // a later one says it without condition.
  for (const ReachedUnit& reached : reach.units) {
    for (const PatternHit& hit : hits[reached.unit]) {
      const Certainty certainty = std::max(hit.certainty, reached.certainty);
      const bool conditional = !hit.condition.empty();
      const auto [known, added] =
          seen.emplace(std::pair(hit.id, std::string_view(hit.detail)), lines.size());
      if (added) lines.emplace_back();
      Line& line = lines[known->second];
      if (!added && std::pair(certainty, conditional) >=
                        std::pair(line.evidence.certainty, line.conditional)) {
        continue;
      }
      line.conditional = conditional;
      line.evidence = {std::string(hit.id),
                       hit.detail,
                       {graph.file(reached.unit), hit.line},
                       std::string(graph.name(reached.unit)),
                       certainty,
                       hit.subject,
                       hit.bytes};
      if (conditional)
        line.evidence.detail += (hit.detail.empty() ? "if " : " if ") + hit.condition;
    }
  }
  std::vector<CodeEvidence> out;
  out.reserve(lines.size());
  for (Line& line : lines) out.push_back(std::move(line.evidence));
  return out;
}

}  // namespace fathom::cpp
