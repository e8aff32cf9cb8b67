#include "scan/index/reach.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>

#include "scan/index/name_resolver.h"

namespace fathom::cpp {

CallGraph::CallGraph(const SymbolIndex& index, const ClassTree& classes)
    : index_(index), classes_(classes), units_(index.size()) {}

SymbolId CallGraph::add(uint32_t file, const CodeUnit& unit) {
  const SymbolId id = unit.kind == UnitKind::kFunction ? index_.function(file, unit.index)
                      : unit.kind == UnitKind::kClass  ? index_.type(file, unit.index)
                                                       : index_.alias(file, unit.index);
  Unit& row = units_[id.value];
  row.line = unit.line;
  row.uses_first = static_cast<uint32_t>(uses_.size());
  std::set<std::tuple<StringId, StringId, ReferenceKind, std::vector<StringId>>> seen;
  const auto& bodies = index_.code(file).usage->references;
  const bool has_body = unit.kind == UnitKind::kFunction && unit.index < bodies.size();
  for (const auto* references : {has_body ? &bodies[unit.index] : nullptr, &unit.references}) {
    if (references == nullptr) continue;
    for (const Reference& reference : *references) {
      Use use;
      use.name = names_.intern(reference.name);
      use.last = names_.intern(last_name(reference.name));
      use.type = names_.intern(class_of(reference.type));
      use.line = reference.line;
      use.kind = reference.kind == ReferenceKind::kMade ? ReferenceKind::kType : reference.kind;
      std::vector<StringId> arguments;
      for (const std::string& one : reference.arguments) arguments.push_back(names_.intern(one));
      if (arguments.size() > UINT16_MAX) arguments.resize(UINT16_MAX);
      if (!seen.emplace(use.name, use.type, use.kind, arguments).second) continue;
      use.arguments_first = static_cast<uint32_t>(arguments_.size());
      use.arguments = static_cast<uint16_t>(arguments.size());
      arguments_.insert(arguments_.end(), arguments.begin(), arguments.end());
      uses_.push_back(use);
    }
  }
  row.uses_last = static_cast<uint32_t>(uses_.size());
  row.parameters_first = static_cast<uint32_t>(parameters_.size());
  for (const std::string& name : template_parameter_names(index_.template_parameters(id))) {
    parameters_.push_back(names_.intern(name));
  }
  row.parameters_last = static_cast<uint32_t>(parameters_.size());
  ++added_;
  return id;
}

// The class that an object is declared with, as far as that is one.
std::string_view CallGraph::class_of(std::string_view type) const {
  if (type.starts_with('.')) return {};
  if (!type.ends_with("()")) return type;
  type.remove_suffix(2);
  const std::string_view name = last_name(type);
  const bool known = !index_.named(name, SymbolKind::kClass).empty() ||
                     !index_.named(name, SymbolKind::kAlias).empty();
  return known ? type : std::string_view();
}

void CallGraph::seal() {
  std::set<std::string_view> local;
  size_t kernels = 0;
  for (uint32_t i = 0; i < units_.size(); ++i) {
    const Symbol& symbol = index_.symbol({i});
    if (symbol.kind == SymbolKind::kAlias && symbol.scope.ends_with("{}"))
      local.insert(symbol.scope);
    kernels += symbol.kind == SymbolKind::kKernel && units_[i].line > 0 ? 1 : 0;
  }
  std::vector<Use> kept;
  for (uint32_t i = 0; i < units_.size(); ++i) {
    Unit& unit = units_[i];
    const Symbol& symbol = index_.symbol({i});
    if (!local.empty() && symbol.kind < SymbolKind::kClass) {
      std::string own = local_scope(symbol.scope, symbol.name);
      if (local.contains(own)) local_scopes_.emplace(SymbolId{i}, std::move(own));
    }
    const auto first = static_cast<uint32_t>(kept.size());
    for (uint32_t u = unit.uses_first; u < unit.uses_last; ++u) {
      keep_passed_functions({i}, uses_[u], kept);
      if (!matters({i}, uses_[u])) continue;
      if (u == unit.uses_first) unit.first_use_kept = true;
      kept.push_back(uses_[u]);
      if (uses_[u].arguments > 0) instances_[names_.text(uses_[u].last)].push_back({{i}, uses_[u]});
    }
    unit.uses_first = first;
    unit.uses_last = static_cast<uint32_t>(kept.size());
  }
  kept.shrink_to_fit();
  uses_ = std::move(kept);
  // All kernels together look at a multiple of what there is, however many share their code.
  constexpr size_t kShare = 2048, kLeast = 4000, kMost = 16'000'000;
  const size_t share = kShare * (added_ + uses_.size()) / std::max<size_t>(1, kernels);
  work_of_one_ = std::clamp(share, kLeast, kMost);
  constexpr size_t kLeastUnits = 100, kMostUnits = 800;
  units_of_one_ = std::clamp(share / 32, kLeastUnits, kMostUnits);
}

std::string_view CallGraph::inside(SymbolId unit) const {
  const auto local = local_scopes_.find(unit);
  return local == local_scopes_.end() ? index_.symbol(unit).scope : local->second;
}

void CallGraph::keep_passed_functions(SymbolId unit, const Use& use, std::vector<Use>& kept) {
  // Of an alias the first use is what it stands for.
  if (index_.symbol(unit).kind == SymbolKind::kAlias) return;
  for (uint32_t i = use.arguments_first; i < use.arguments_first + use.arguments; ++i) {
    const std::string_view path = names_.text(arguments_[i]);
    if (path.empty() || index_.named(last_name(path), SymbolKind::kDeviceFunction).empty() ||
        is_parameter(unit, path))
      continue;
    Use passed;
    passed.name = arguments_[i];
    passed.last = names_.intern(last_name(path));
    passed.type = use.type;
    passed.line = use.line;
    passed.kind = ReferenceKind::kPassed;
    kept.push_back(passed);
  }
}

bool CallGraph::matters(SymbolId unit, const Use& use) const {
  if (index_.has_name(names_.text(use.last))) return true;
  if (use.kind == ReferenceKind::kMember) return is_parameter(unit, names_.text(use.type));
  // What an alias of a template parameter stands for is looked for where the class is used.
  return index_.symbol(unit).kind == SymbolKind::kAlias &&
         is_parameter(unit, names_.text(use.name));
}

std::pair<std::optional<SymbolId>, size_t> CallGraph::parameter_of(SymbolId unit,
                                                                   std::string_view name) const {
  constexpr int kDeepest = 8;  // classes in classes
  std::optional<SymbolId> at = unit;
  for (int depth = 0; at && depth < kDeepest; ++depth, at = index_.symbol(*at).owner) {
    const Unit& row = units_[at->value];
    for (uint32_t i = row.parameters_first; i < row.parameters_last; ++i) {
      if (names_.text(parameters_[i]) == name) return {at, i - row.parameters_first};
    }
  }
  return {std::nullopt, 0};
}

// A guess among several is no call that one would tell.
bool CallGraph::is_called(const Found& found) const {
  const SymbolKind kind = index_.symbol(found.unit).kind;
  return (kind == SymbolKind::kDeviceFunction || kind == SymbolKind::kHostFunction) &&
         found.certainty != Certainty::kUnsure;
}

const std::vector<const CallGraph::Instance*>& CallGraph::instances_of(SymbolId owner) const {
  const auto [known, fresh] = instances_seen_.try_emplace(owner.value);
  const Symbol& symbol = index_.symbol(owner);
  const auto named = fresh ? instances_.find(symbol.name) : instances_.end();
  if (named == instances_.end()) return known->second;
  for (const Instance& one : named->second) {
    if (one.unit != owner && index_.includes().sees(index_.symbol(one.unit).file, symbol.file))
      known->second.push_back(&one);
  }
  return known->second;
}

const std::vector<SymbolId>& CallGraph::aliases_over(uint32_t file, std::string_view name) const {
  const std::vector<SymbolId>& all = index_.named(name, SymbolKind::kAlias);
  if (all.empty()) return all;
  const auto [known, fresh] = aliases_seen_.try_emplace({file, index_.symbol(all[0]).name});
  for (size_t i = 0; fresh && i < all.size(); ++i) {
    const uint32_t home = index_.symbol(all[i]).file;
    if (home != file && index_.includes().sees(home, file)) known->second.push_back(all[i]);
  }
  return known->second;
}

const CallGraph::Meaning& CallGraph::meaning(const NameResolver& resolver, SymbolId unit,
                                             uint32_t use) const {
  const auto known = meanings_.find(use);
  if (known != meanings_.end() && resolver.spend(1 + known->second.size())) return known->second;
  static const Meaning none;
  if (resolver.exhausted()) return none;
  Meaning found = resolver.meaning(unit, uses_[use]);
  // What was cut short means more to whoever asks with work left.
  if (resolver.exhausted()) return none;
  return meanings_[use] = std::move(found);
}

std::vector<CalledUnit> CallGraph::calls(SymbolId unit) const {
  const NameResolver resolver(*this, work_of_one_);
  std::vector<CalledUnit> out;
  const Unit& row = units_[unit.value];
  for (uint32_t i = row.uses_first; i < row.uses_last; ++i) {
    for (const Found& found : meaning(resolver, unit, i)) {
      if (is_called(found)) out.push_back({unit, found.unit, uses_[i].line, found.certainty});
    }
  }
  return out;
}

Reach CallGraph::reach(SymbolId start) const {
  constexpr uint32_t kDeepest = 24, kTellingDepth = 6;
  constexpr size_t kMostQueued = 8;  // for each that may be reached
  const NameResolver resolver(*this, work_of_one_);
  Reach out;
  std::unordered_set<uint32_t> done;
  size_t queued = 1;
  // One queue for each certainty: what is sure is followed first, so that the first way to a unit
  // is the surest, and of those the shortest.
  std::array<std::deque<ReachedUnit>, 3> queues;
  queues[0].push_back({start, start, units_[start.value].line, 0, Certainty::kCertain});
  while (out.units.size() < units_of_one_ && !resolver.exhausted()) {
    auto queue =
        std::find_if(queues.begin(), queues.end(), [](const auto& q) { return !q.empty(); });
    if (queue == queues.end()) break;
    const ReachedUnit at = queue->front();
    queue->pop_front();
    if (at.depth > kDeepest || !done.insert(at.unit.value).second) continue;
    out.units.push_back(at);
    const auto follow = [&](SymbolId unit, uint32_t line, Certainty certainty) {
      const Certainty total = std::max(at.certainty, certainty);
      if (done.contains(unit.value)) return;
      ++queued;
      queues[static_cast<size_t>(total)].push_back({unit, at.unit, line, at.depth + 1, total});
    };
    if (const auto owner = index_.symbol(at.unit).owner)
      follow(*owner, units_[owner->value].line, Certainty::kCertain);
    const Unit& row = units_[at.unit.value];
    for (uint32_t i = row.uses_first; i < row.uses_last; ++i) {
      if (resolver.exhausted() || queued > kMostQueued * units_of_one_) break;
      for (const Found& found : meaning(resolver, at.unit, i)) {
        follow(found.unit, uses_[i].line, found.certainty);
        if (at.depth <= kTellingDepth && is_called(found))
          out.calls.push_back({at.unit, found.unit, uses_[i].line, found.certainty});
      }
    }
  }
  return out;
}

std::vector<CodeEvidence> collect_evidence(
    const SymbolIndex& index, const Reach& reach,
    const std::vector<const std::vector<PatternHit>*>& hits) {
  struct Line {
    CodeEvidence evidence;
    bool conditional = false;
  };
  std::vector<Line> lines;
  std::map<std::pair<std::string_view, std::string_view>, size_t> seen;
  // The surest and nearest units come first, so the first line of a thing is the best one, unless
  // a later one says it without condition.
  for (const ReachedUnit& reached : reach.units) {
    if (hits[reached.unit.value] == nullptr) continue;
    const Symbol& symbol = index.symbol(reached.unit);
    for (const PatternHit& hit : *hits[reached.unit.value]) {
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
                       {symbol.file, hit.line},
                       std::string(symbol.name),
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
