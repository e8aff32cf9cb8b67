#include "scan/index/name_resolver.h"

#include <algorithm>

#include "scan/facts/code_names.h"

namespace fathom::cpp {
namespace {

constexpr size_t kMostMeanings = 4;
constexpr size_t kMostNamesakes = 256;  // overloads of a function, specialisations of a class
constexpr int kDeepestAlias = 6;

bool is_function(SymbolKind kind) {
  // A kernel is launched, not called.
  return kind == SymbolKind::kDeviceFunction || kind == SymbolKind::kHostFunction;
}

// Of what has a name on the GPU and on the host, what is nearer; of two as near the first.
std::vector<Candidate> nearer(std::vector<Candidate> first, std::vector<Candidate> second) {
  if (first.empty()) return second;
  if (second.empty()) return first;
  const auto place = [](const Candidate& one) { return std::pair(one.sight, one.fit); };
  return place(second[0]) < place(first[0]) ? second : first;
}

}  // namespace

bool NameResolver::spend(size_t work) const {
  work_left_ = work < work_left_ ? work_left_ - work : 0;
  return work_left_ > 0;
}

CallGraph::Meaning NameResolver::meaning(SymbolId unit, const CallGraph::Use& use) const {
  const std::string_view path = graph_.names_.text(use.name);
  switch (use.kind) {
    case ReferenceKind::kCall:
      return call(unit, path);
    case ReferenceKind::kMember:
      return member(unit, graph_.names_.text(use.last), graph_.names_.text(use.type));
    case ReferenceKind::kType:
    case ReferenceKind::kMade:
      return type(unit, path);
    case ReferenceKind::kPassed: {
      Meaning found = call(unit, path);
      // Whether the template calls it is not looked at.
      for (Found& one : found) one.certainty = std::max(one.certainty, Certainty::kLikely);
      return found;
    }
  }
  return {};
}

std::vector<Candidate> NameResolver::candidates(SymbolId unit, std::string_view path,
                                                SymbolKind kind) const {
  const bool qualified = !before_last(path, "::").empty();
  std::vector<Candidate> out;
  for (const Candidate& one :
       index_.resolve(path, {index_.symbol(unit).file, graph_.inside(unit)}, kind)) {
    if (one.symbol == unit || one.fit >= ScopeFit::kByPart) continue;
    if (one.sight == Sight::kUnseen && (!qualified || !is_function(kind))) continue;
    out.push_back(one);
  }
  return spend(1 + out.size()) ? out : std::vector<Candidate>();
}

CallGraph::Meaning NameResolver::chosen(const std::vector<Candidate>& candidates,
                                        bool qualified) const {
  Meaning out;
  if (candidates.empty() || candidates.size() > kMostNamesakes) return out;
  const Symbol& first = index_.symbol(candidates[0].symbol);
  const bool one_scope = std::all_of(
      candidates.begin(), candidates.end(),
      [&](const Candidate& one) { return index_.symbol(one.symbol).scope == first.scope; });
  auto certainty = static_cast<Certainty>(candidates[0].sight);
  // Through the namespace of an argument.
  if (!qualified && candidates[0].fit == ScopeFit::kByEnd && is_function(first.kind))
    certainty = std::max(certainty, Certainty::kLikely);
  // Which overload it is, or which specialisation of a class, is decided by types.
  constexpr size_t kOverloads = 4;  // more are the methods of a class with specialisations
  if (candidates.size() > 1) certainty = std::max(certainty, Certainty::kLikely);
  if (!one_scope || candidates.size() > (is_function(first.kind) ? kOverloads : 1))
    certainty = Certainty::kUnsure;
  for (const Candidate& one : candidates) out.push_back({one.symbol, certainty});
  return out;
}

CallGraph::Meaning NameResolver::call(SymbolId unit, std::string_view path) const {
  Meaning found = function(unit, path);
  if (!found.empty()) return found;
  const std::string_view qualifier = before_last(path, "::");
  if (qualifier.empty()) {
    found = inherited(unit, path);
    return found.empty() ? type(unit, path) : found;  // a constructor
  }
  return method_of(unit, qualifier, last_name(path));
}

CallGraph::Meaning NameResolver::function(SymbolId unit, std::string_view path) const {
  std::vector<Candidate> device = candidates(unit, path, SymbolKind::kDeviceFunction);
  std::vector<Candidate> host = candidates(unit, path, SymbolKind::kHostFunction);
  // Code of the GPU cannot call what only the host has; a function without a mark may be constexpr.
  const bool on_host = index_.symbol(unit).kind == SymbolKind::kHostFunction;
  if (on_host) std::swap(device, host);
  return chosen(nearer(std::move(device), std::move(host)), !before_last(path, "::").empty());
}

std::vector<SymbolId> NameResolver::methods_named(std::string_view name) const {
  std::vector<SymbolId> out;
  for (const SymbolKind kind : {SymbolKind::kDeviceFunction, SymbolKind::kHostFunction}) {
    const std::vector<SymbolId>& all = index_.named(name, kind);
    if (!spend(1 + all.size())) return {};
    std::copy_if(all.begin(), all.end(), std::back_inserter(out),
                 [&](SymbolId id) { return index_.symbol(id).owner && index_.symbol(id).defined; });
  }
  return out;
}

CallGraph::Meaning NameResolver::member(SymbolId unit, std::string_view method,
                                        std::string_view type) const {
  if (!type.empty()) return method_of(unit, type, method);
  // Of an object whose type was not seen: only where one class alone has such a method.
  Meaning found;
  for (const SymbolId id : methods_named(method)) {
    if (!index_.includes().sees(index_.symbol(unit).file, index_.symbol(id).file)) continue;
    if (!found.empty() && index_.symbol(found[0].unit).scope != index_.symbol(id).scope) return {};
    found.push_back({id, Certainty::kUnsure});
  }
  return found;
}

CallGraph::Meaning NameResolver::type(SymbolId unit, std::string_view path) const {
  return chosen(nearer(candidates(unit, path, SymbolKind::kAlias),
                       candidates(unit, path, SymbolKind::kClass)),
                !before_last(path, "::").empty());
}

// Whether of several classes one alone has the methods found. Specialisations of one class all have
// them, and which of those it is stays open.
bool NameResolver::is_only_fitting_class(const Meaning& classes, const Meaning& methods) const {
  if (methods.empty() || classes.size() < 2) return false;
  const std::string_view scope = index_.symbol(methods[0].unit).scope;
  for (const Found& method : methods) {
    if (index_.symbol(method.unit).scope != scope) return false;
  }
  return std::count_if(classes.begin(), classes.end(), [&](const Found& one) {
           return index_.qualified_name(one.unit) == scope;
         }) == 1;
}

const std::vector<SymbolId>& NameResolver::methods_in(SymbolId owner,
                                                      std::string_view method) const {
  static const std::vector<SymbolId> none;
  for (const SymbolId one : graph_.classes_.with_bases(owner)) {
    if (!spend(1)) break;
    const std::vector<SymbolId>& methods = index_.methods(index_.qualified_name(one), method);
    if (!methods.empty()) return methods;
  }
  return none;
}

// A call without an object, in a method: of a class around it, which may inherit it.
CallGraph::Meaning NameResolver::inherited(SymbolId unit, std::string_view method) const {
  Meaning found;
  const std::optional<SymbolId> owner = index_.symbol(unit).owner;
  if (!owner || index_.symbol(*owner).kind != SymbolKind::kClass || !spend(1)) return found;
  for (const SymbolId one : methods_in(*owner, method)) {
    if (one != unit) found.push_back({one, Certainty::kCertain});
  }
  if (found.size() > 1) {
    for (Found& one : found) one.certainty = Certainty::kLikely;
  }
  return found;
}

CallGraph::Meaning NameResolver::method_of(SymbolId unit, std::string_view type,
                                           std::string_view method) const {
  const Meaning classes = classes_of(unit, type);
  if (classes.empty()) {
    const std::string_view parameter = parameter_behind(unit, type);
    return parameter.empty() ? Meaning() : methods_of_like_named(unit, parameter, method);
  }
  Meaning found;
  std::set<SymbolId> seen;  // specialisations and derived classes have the same ones
  for (const Found& owner : classes) {
    const std::vector<SymbolId>& methods = methods_in(owner.unit, method);
    if (!spend(1 + methods.size())) continue;
    for (const SymbolId one : methods) {
      if (seen.insert(one).second) found.push_back({one, owner.certainty});
    }
  }
  if (is_only_fitting_class(classes, found)) {
    for (Found& one : found) one.certainty = std::min(one.certainty, Certainty::kLikely);
  }
  return found;
}

// Arguments that the compiler deduces stand nowhere: `job.find(row)` of a `Job` may be IndexJob's
// and StoreJob's, classes that the file sees, that have the method, and that are called so.
CallGraph::Meaning NameResolver::methods_of_like_named(SymbolId unit, std::string_view parameter,
                                                       std::string_view method) const {
  constexpr size_t kShortestWord = 3;  // T and K are no words
  Meaning found;
  if (parameter.size() < kShortestWord) return found;
  for (const SymbolId id : methods_named(method)) {
    const std::string_view name = index_.symbol(*index_.symbol(id).owner).name;
    if (name.size() <= parameter.size() || !name.ends_with(parameter)) continue;
    if (!index_.includes().sees(index_.symbol(unit).file, index_.symbol(id).file)) continue;
    found.push_back({id, Certainty::kLikely});
  }
  return found.size() > kMostMeanings ? Meaning() : found;
}

std::string_view NameResolver::parameter_behind(SymbolId unit, std::string_view type) const {
  if (graph_.is_parameter(unit, type)) return type;
  for (const Found& alias : this->type(unit, type)) {
    const CallGraph::Unit& row = graph_.units_[alias.unit.value];
    if (index_.symbol(alias.unit).kind != SymbolKind::kAlias || row.uses_first == row.uses_last)
      continue;
    const std::string_view name = graph_.names_.text(graph_.uses_[row.uses_first].name);
    if (graph_.is_parameter(alias.unit, name)) return name;
  }
  return {};
}

CallGraph::Meaning NameResolver::classes_of(SymbolId unit, std::string_view type, int depth) const {
  if (depth > kDeepestAlias || !spend(1)) return {};
  if (graph_.is_parameter(unit, type)) return classes_of_parameter(unit, type, depth);
  const std::string_view qualifier = before_last(type, "::");
  if (!qualifier.empty() && graph_.is_parameter(unit, qualifier))
    return classes_of_nested(unit, qualifier, last_name(type), depth);
  Meaning classes;
  for (const Found& found : this->type(unit, type)) {
    if (index_.symbol(found.unit).kind == SymbolKind::kClass) {
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

// Traits::Stats of a template parameter: what the classes that are given for it call so, else a
// class that the file sees by that name.
CallGraph::Meaning NameResolver::classes_of_nested(SymbolId unit, std::string_view parameter,
                                                   std::string_view name, int depth) const {
  Meaning classes;
  const std::vector<SymbolId>& aliases = index_.named(name, SymbolKind::kAlias);
  for (const Found& owner : classes_of(unit, parameter, depth + 1)) {
    if (!spend(1 + aliases.size())) break;
    for (const SymbolId alias : aliases) {
      if (index_.symbol(alias).owner != owner.unit) continue;
      for (const Found& one : classes_of_alias(alias, depth + 1)) classes.push_back(one);
    }
  }
  if (classes.empty()) classes = chosen(candidates(unit, name, SymbolKind::kClass), false);
  for (Found& one : classes) one.certainty = Certainty::kUnsure;
  return classes;
}

CallGraph::Meaning NameResolver::classes_of_alias(SymbolId alias, int depth) const {
  Meaning classes;
  const CallGraph::Unit& row = graph_.units_[alias.value];
  for (uint32_t i = row.uses_first; i < row.uses_last; ++i) {
    const CallGraph::Use& use = graph_.uses_[i];
    if (use.kind != ReferenceKind::kType) continue;
    Meaning found = classes_of(alias, graph_.names_.text(use.name), depth + 1);
    // The first name is the type and the others its arguments, unless it is one that chooses among
    // them, which stands in another repository.
    if (i == row.uses_first && row.first_use_kept && !found.empty()) return found;
    for (const Found& one : found) classes.push_back({one.unit, Certainty::kUnsure});
  }
  return classes;
}

CallGraph::Meaning NameResolver::classes_of_parameter(SymbolId unit, std::string_view name,
                                                      int depth) const {
  Meaning classes = classes_of_arguments(unit, name, depth);
  if (classes.empty()) classes = classes_of_namesakes(unit, name, depth);
  std::ranges::sort(classes, {}, &Found::unit);
  const auto same = std::ranges::unique(classes, {}, &Found::unit);
  classes.erase(same.begin(), same.end());
  return classes.size() > 2 * kMostMeanings ? Meaning() : classes;
}

CallGraph::Meaning NameResolver::classes_of_arguments(SymbolId unit, std::string_view name,
                                                      int depth) const {
  const auto [owner, place] = graph_.parameter_of(unit, name);
  Meaning classes;
  if (!owner) return classes;
  for (const CallGraph::Instance* instance : graph_.instances_of(*owner)) {
    if (!spend(1)) break;
    if (place >= instance->use.arguments) continue;
    const std::string_view argument =
        graph_.names_.text(graph_.arguments_[instance->use.arguments_first + place]);
    if (argument.empty()) continue;
    for (const Found& one : classes_of(instance->unit, argument, depth + 1))
      classes.push_back({one.unit, Certainty::kUnsure});
  }
  return classes;
}

CallGraph::Meaning NameResolver::classes_of_namesakes(SymbolId unit, std::string_view name,
                                                      int depth) const {
  while (name.ends_with('_')) name.remove_suffix(1);
  Meaning classes;
  const std::vector<SymbolId>& aliases = graph_.aliases_over(index_.symbol(unit).file, name);
  if (!spend(1 + aliases.size())) return classes;
  for (const SymbolId alias : aliases) {
    for (const Found& one : classes_of_alias(alias, depth + 1))
      classes.push_back({one.unit, Certainty::kUnsure});
  }
  return classes;
}

}  // namespace fathom::cpp
