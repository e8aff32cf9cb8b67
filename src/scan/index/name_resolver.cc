#include "scan/index/name_resolver.h"

#include <algorithm>
#include <map>

namespace fathom::cpp {
namespace {

constexpr size_t kMostMeanings = 4;
constexpr size_t kMostNamesakes = 256;  // overloads of a function, specialisations of a class
constexpr int kDeepestAlias = 6;

// Whether a scope ends with a qualifier: "device::warp" with "warp".
bool ends_with_scope(std::string_view scope, std::string_view qualifier) {
  if (qualifier.starts_with("::")) qualifier.remove_prefix(2);
  if (!scope.ends_with(qualifier)) return false;
  return scope.size() == qualifier.size() ||
         scope.substr(0, scope.size() - qualifier.size()).ends_with("::");
}

// How many leading namespaces and classes two scopes share.
size_t shared_scopes(std::string_view a, std::string_view b) {
  size_t shared = 0;
  while (!a.empty() && !b.empty()) {
    const std::string_view first_a = a.substr(0, a.find("::"));
    const std::string_view first_b = b.substr(0, b.find("::"));
    if (first_a != first_b) break;
    ++shared;
    a.remove_prefix(std::min(a.size(), first_a.size() + 2));
    b.remove_prefix(std::min(b.size(), first_b.size() + 2));
  }
  return shared;
}

bool encloses(std::string_view outer, std::string_view scope) {
  return outer.empty() || scope == outer ||
         (scope.starts_with(outer) && scope.substr(outer.size()).starts_with("::"));
}

}  // namespace

std::string_view qualifier_of(std::string_view path) {
  const size_t at = path.rfind("::");
  return at == std::string_view::npos ? std::string_view() : path.substr(0, at);
}

bool NameResolver::spend(size_t work) const {
  work_left_ = work < work_left_ ? work_left_ - work : 0;
  return work_left_ > 0;
}

const std::vector<uint32_t>& NameResolver::named(std::string_view name) const {
  static const std::vector<uint32_t> none;
  const std::vector<uint32_t>& all = graph_.named(name);
  return spend(1 + all.size()) ? all : none;
}

bool NameResolver::is_function(uint32_t unit) const {
  const UnitKind kind = graph_.kind(unit);
  // A kernel is launched, not called.
  return kind == UnitKind::kDevice || kind == UnitKind::kHost;
}

CallGraph::Meaning NameResolver::meaning(uint32_t unit, const CallGraph::Use& use) const {
  const std::string_view path = graph_.names_.text(use.name);
  switch (use.kind) {
    case ReferenceKind::kCall:
      return call(unit, path);
    case ReferenceKind::kMember:
      return member(unit, graph_.names_.text(use.last), graph_.names_.text(use.type));
    case ReferenceKind::kType:
      return type(unit, path);
    case ReferenceKind::kPassed: {
      Meaning found = call(unit, path);
      // Whether the template calls it is not looked at.
      for (Found& one : found.units) one.certainty = std::max(one.certainty, Certainty::kLikely);
      return found;
    }
  }
  return {};
}

CallGraph::Meaning NameResolver::call(uint32_t unit, std::string_view path) const {
  const std::string_view qualifier = qualifier_of(path);
  if (qualifier.empty()) return plain_call(unit, path);
  std::vector<uint32_t> candidates;
  for (uint32_t candidate : named(last_name(path))) {
    if (is_function(candidate) && ends_with_scope(graph_.scope(candidate), qualifier)) {
      candidates.push_back(candidate);
    }
  }
  if (!candidates.empty()) return choose(unit, candidates, Reachable::kAnywhere);
  return method_of(unit, qualifier, last_name(path));
}

CallGraph::Meaning NameResolver::plain_call(uint32_t unit, std::string_view name) const {
  const bool host = graph_.kind(unit) == UnitKind::kHost;
  const CallGraph::PlainName asked(name, graph_.file(unit), graph_.scope(unit), host);
  const auto known = graph_.plain_meanings_.find(asked);
  const bool is_known = known != graph_.plain_meanings_.end() && spend(1);
  Meaning found = is_known ? known->second : plain_function(unit, name);
  if (!is_known && !exhausted()) graph_.plain_meanings_.emplace(asked, found);
  if (!found.units.empty() || !found.stop.empty()) return found;
  return type(unit, name);  // a constructor
}

CallGraph::Meaning NameResolver::plain_function(uint32_t unit, std::string_view name) const {
  const std::string_view scope = graph_.scope(unit);
  std::vector<uint32_t> near, far;
  for (uint32_t candidate : named(name)) {
    if (!is_function(candidate)) continue;
    const bool encloses_unit = encloses(graph_.scope(candidate), scope);
    const bool method = graph_.units_[candidate].owner != CallGraph::kNoUnit;
    if (encloses_unit) {
      near.push_back(candidate);
    } else if (!method) {
      far.push_back(candidate);
    }
  }
  Meaning found = choose(unit, near, Reachable::kInContext);
  if (!found.units.empty() || !found.stop.empty()) return found;
  // Through `using namespace` or the namespace of an argument.
  found = choose(unit, far, Reachable::kInContext);
  for (Found& one : found.units) one.certainty = std::max(one.certainty, Certainty::kLikely);
  return found;
}

CallGraph::Meaning NameResolver::member(uint32_t unit, std::string_view method,
                                        std::string_view type) const {
  if (!type.empty()) return method_of(unit, type, method);
  // Of an object whose type was not seen: only where one class alone has such a method.
  std::vector<uint32_t> candidates;
  for (uint32_t candidate : named(method)) {
    if (!is_function(candidate) || graph_.units_[candidate].owner == CallGraph::kNoUnit) continue;
    if (!graph_.includes_.sees(graph_.file(unit), graph_.file(candidate))) continue;
    if (!candidates.empty() && graph_.scope(candidates[0]) != graph_.scope(candidate)) return {};
    candidates.push_back(candidate);
  }
  Meaning found;
  for (uint32_t candidate : candidates) found.units.push_back({candidate, Certainty::kUnsure});
  return found;
}

bool NameResolver::type_fits(uint32_t unit, uint32_t candidate, std::string_view qualifier) const {
  const std::string_view scope = graph_.scope(candidate);
  if (scope.ends_with("{}")) {
    return qualifier.empty() && graph_.file(unit) == graph_.file(candidate) &&
           (scope == graph_.scope(unit) ||
            scope == local_scope(graph_.scope(unit), graph_.name(unit)));
  }
  if (!qualifier.empty()) return ends_with_scope(scope, qualifier);
  return encloses(scope, graph_.scope(unit)) ||
         graph_.units_[candidate].owner == CallGraph::kNoUnit;
}

CallGraph::Meaning NameResolver::type(uint32_t unit, std::string_view path) const {
  std::vector<uint32_t> candidates;
  for (uint32_t candidate : named(last_name(path))) {
    const UnitKind kind = graph_.kind(candidate);
    if (kind != UnitKind::kAlias && kind != UnitKind::kClass) continue;
    if (candidate == unit) continue;
    if (type_fits(unit, candidate, qualifier_of(path))) candidates.push_back(candidate);
  }
  Meaning found = choose(unit, candidates, Reachable::kInContext);
  found.stop.clear();  // a type's name that several have is no call that was missed
  return found;
}

// Whether of several classes one alone has the methods found. Specialisations of one class all have
// them, and which of those it is stays open.
bool NameResolver::is_only_fitting_class(const std::vector<Found>& classes,
                                         const std::vector<Found>& methods) const {
  if (methods.empty() || classes.size() < 2) return false;
  const std::string_view scope = graph_.scope(methods[0].unit);
  for (const Found& method : methods) {
    if (graph_.scope(method.unit) != scope) return false;
  }
  return std::count_if(classes.begin(), classes.end(),
                       [&](const Found& one) { return graph_.qualified(one.unit) == scope; }) == 1;
}

CallGraph::Meaning NameResolver::method_of(uint32_t unit, std::string_view type,
                                           std::string_view method) const {
  Meaning found;
  const std::vector<Found> classes = classes_of(unit, type);
  if (classes.empty()) {
    const std::string_view parameter = parameter_behind(unit, type);
    if (parameter.empty()) return found;
    found.units = methods_of_like_named(unit, parameter, method);
    if (found.units.empty()) found.stop = std::string(parameter) + " is a template parameter";
    return found;
  }
  std::map<std::string, std::vector<uint32_t>, std::less<>> by_class;
  for (const Found& owner : classes) by_class[graph_.qualified(owner.unit)];
  for (uint32_t candidate : named(method)) {
    if (!is_function(candidate)) continue;
    const auto owner = by_class.find(graph_.scope(candidate));
    if (owner != by_class.end()) owner->second.push_back(candidate);
  }
  for (const Found& owner : classes) {
    std::vector<uint32_t>& methods = by_class[graph_.qualified(owner.unit)];
    for (uint32_t one : methods) found.units.push_back({one, owner.certainty});
    methods.clear();  // those of a class that is found twice are one
  }
  if (is_only_fitting_class(classes, found.units)) {
    for (Found& one : found.units) one.certainty = std::min(one.certainty, Certainty::kLikely);
  }
  return found;
}

// Arguments that the compiler deduces stand nowhere: `job.find(row)` of a `Job` may be IndexJob's
// and StoreJob's, classes that the file sees, that have the method, and that are called so.
std::vector<CallGraph::Found> NameResolver::methods_of_like_named(uint32_t unit,
                                                                  std::string_view parameter,
                                                                  std::string_view method) const {
  constexpr size_t kShortestWord = 3;  // T and K are no words
  std::vector<Found> found;
  if (parameter.size() < kShortestWord) return found;
  for (uint32_t candidate : named(method)) {
    const uint32_t owner = graph_.units_[candidate].owner;
    if (!is_function(candidate) || owner == CallGraph::kNoUnit) continue;
    const std::string_view name = graph_.name(owner);
    if (name.size() <= parameter.size() || !name.ends_with(parameter)) continue;
    if (!graph_.includes_.sees(graph_.file(unit), graph_.file(candidate))) continue;
    found.push_back({candidate, Certainty::kLikely});
  }
  return found.size() > kMostMeanings ? std::vector<Found>() : found;
}

std::string_view NameResolver::parameter_behind(uint32_t unit, std::string_view type) const {
  if (graph_.is_parameter(unit, type)) return type;
  for (const Found& alias : this->type(unit, type).units) {
    const CallGraph::Unit& row = graph_.units_[alias.unit];
    if (row.kind != UnitKind::kAlias || row.uses_first == row.uses_last) continue;
    const std::string_view name = graph_.names_.text(graph_.uses_[row.uses_first].name);
    if (graph_.is_parameter(alias.unit, name)) return name;
  }
  return {};
}

std::vector<CallGraph::Found> NameResolver::classes_of(uint32_t unit, std::string_view type,
                                                       int depth) const {
  if (depth > kDeepestAlias || !spend(1)) return {};
  if (graph_.is_parameter(unit, type)) return classes_of_parameter(unit, type, depth);
  std::vector<Found> classes;
  for (const Found& found : this->type(unit, type).units) {
    if (graph_.kind(found.unit) == UnitKind::kClass) {
      classes.push_back(found);
      continue;
    }
    for (Found one : classes_of_alias(found.unit, depth)) {
      one.certainty = std::max(one.certainty, found.certainty);
      classes.push_back(one);
    }
  }
  return classes;
}

std::vector<CallGraph::Found> NameResolver::classes_of_alias(uint32_t alias, int depth) const {
  std::vector<Found> classes;
  for (uint32_t i = graph_.units_[alias].uses_first; i < graph_.units_[alias].uses_last; ++i) {
    const CallGraph::Use& use = graph_.uses_[i];
    if (use.kind != ReferenceKind::kType) continue;
    std::vector<Found> found = classes_of(alias, graph_.names_.text(use.name), depth + 1);
    // The first name is the type and the others its arguments, unless it is one that chooses among
    // them, which stands in another repository.
    const bool first = i == graph_.units_[alias].uses_first && graph_.units_[alias].first_use_kept;
    if (first && !found.empty()) return found;
    for (Found& one : found) classes.push_back({one.unit, Certainty::kUnsure});
  }
  return classes;
}

std::vector<CallGraph::Found> NameResolver::classes_of_parameter(uint32_t unit,
                                                                 std::string_view name,
                                                                 int depth) const {
  std::vector<Found> classes = classes_of_arguments(unit, name, depth);
  if (classes.empty()) classes = classes_of_namesakes(unit, name, depth);
  std::sort(classes.begin(), classes.end(),
            [](const Found& a, const Found& b) { return a.unit < b.unit; });
  const auto same = [](const Found& a, const Found& b) { return a.unit == b.unit; };
  classes.erase(std::unique(classes.begin(), classes.end(), same), classes.end());
  return classes.size() > 2 * kMostMeanings ? std::vector<Found>() : classes;
}

std::vector<CallGraph::Found> NameResolver::classes_of_arguments(uint32_t unit,
                                                                 std::string_view name,
                                                                 int depth) const {
  // Whose parameter it is, and which one.
  size_t place = 0;
  bool found_place = false;
  for (; unit != CallGraph::kNoUnit && !found_place;) {
    const CallGraph::Unit& row = graph_.units_[unit];
    for (uint32_t i = row.parameters_first; i < row.parameters_last; ++i) {
      if (graph_.names_.text(graph_.parameters_[i]) != name) continue;
      place = i - row.parameters_first;
      found_place = true;
    }
    if (!found_place) unit = row.owner;
  }
  const auto instances =
      found_place ? graph_.instances_.find(graph_.name(unit)) : graph_.instances_.end();
  std::vector<Found> classes;
  if (instances == graph_.instances_.end()) return classes;
  for (const CallGraph::Instance& instance : instances->second) {
    if (!spend(1)) break;
    if (instance.unit == unit || place >= instance.use.arguments) continue;
    if (!graph_.includes_.sees(graph_.file(instance.unit), graph_.file(unit))) continue;
    const std::string_view argument =
        graph_.names_.text(graph_.arguments_[instance.use.arguments_first + place]);
    if (argument.empty()) continue;
    for (const Found& one : classes_of(instance.unit, argument, depth + 1)) {
      classes.push_back({one.unit, Certainty::kUnsure});
    }
  }
  return classes;
}

std::vector<CallGraph::Found> NameResolver::classes_of_namesakes(uint32_t unit,
                                                                 std::string_view name,
                                                                 int depth) const {
  std::string_view plain = name;
  while (plain.ends_with('_')) plain.remove_suffix(1);
  std::vector<Found> classes;
  for (uint32_t alias : named(plain)) {
    if (graph_.kind(alias) != UnitKind::kAlias || graph_.file(alias) == graph_.file(unit)) continue;
    if (!graph_.includes_.sees(graph_.file(alias), graph_.file(unit))) continue;
    for (const Found& one : classes_of_alias(alias, depth + 1)) {
      classes.push_back({one.unit, Certainty::kUnsure});
    }
  }
  return classes;
}

CallGraph::Meaning NameResolver::choose(uint32_t unit, const std::vector<uint32_t>& candidates,
                                        Reachable reachable) const {
  if (candidates.empty()) return {};
  const uint32_t file = graph_.file(unit);
  // Nearer files first, then the more shared namespaces.
  const auto distance = [&](uint32_t candidate) {
    if (graph_.file(candidate) == file) return 0;
    if (graph_.includes_.sees(file, graph_.file(candidate))) return 0;
    return graph_.includes_.may_see(file, graph_.file(candidate)) ? 1 : 2;
  };
  int nearest = 2;
  for (uint32_t candidate : candidates) nearest = std::min(nearest, distance(candidate));
  if (nearest == 2 && reachable == Reachable::kInContext) return {};
  std::map<std::string, std::vector<uint32_t>> groups;  // by qualified name
  size_t most_shared = 0;
  for (uint32_t candidate : candidates) {
    if (distance(candidate) != nearest) continue;
    const size_t shared = shared_scopes(graph_.scope(candidate), graph_.scope(unit));
    if (shared < most_shared) continue;
    if (shared > most_shared) groups.clear();
    most_shared = shared;
    groups[graph_.qualified(candidate)].push_back(candidate);
  }
  // Code of the GPU cannot call what only the host has; a function without a mark may be constexpr.
  const auto has_device = [&](const auto& group) {
    return std::any_of(group.second.begin(), group.second.end(),
                       [&](uint32_t one) { return graph_.kind(one) == UnitKind::kDevice; });
  };
  if (graph_.kind(unit) != UnitKind::kHost &&
      std::any_of(groups.begin(), groups.end(), has_device)) {
    std::erase_if(groups, [&](const auto& group) { return !has_device(group); });
  }
  Meaning meaning;
  if (groups.size() > kMostMeanings) {
    meaning.stop = std::to_string(groups.size()) + " functions have this name";
    return meaning;
  }
  Certainty certainty = static_cast<Certainty>(nearest);
  if (groups.size() > 1) certainty = Certainty::kUnsure;
  for (const auto& group : groups) {
    if (group.second.size() > kMostNamesakes) {
      meaning.stop = std::to_string(group.second.size()) + " definitions have this name";
      continue;
    }
    const bool device = has_device(group) && graph_.kind(unit) != UnitKind::kHost;
    // Which overload it is, or which specialisation of a class, is decided by types.
    constexpr size_t kOverloads = 4;  // more are the methods of a class with specialisations
    const auto several = group.second.size() > (is_function(group.second[0]) ? kOverloads : 1)
                             ? Certainty::kUnsure
                         : group.second.size() > 1 ? Certainty::kLikely
                                                   : Certainty::kCertain;
    for (uint32_t member : group.second) {
      if (device && graph_.kind(member) == UnitKind::kHost) continue;
      meaning.units.push_back({member, std::max(certainty, several)});
    }
  }
  return meaning;
}

}  // namespace fathom::cpp
