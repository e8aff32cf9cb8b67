#include "scan/index/symbol_index.h"

#include <algorithm>

#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"

namespace fathom {
namespace {

// More than this many that fit are a common word, and none is named.
constexpr size_t kMostCandidates = 4;
// Definitions of one qualified name in one file: #if branches and overloads. More are generated.
constexpr size_t kMostTwins = 24;
// Definitions of one name in other sources that are looked at for the nearest.
constexpr size_t kMostShared = 96;
// Names that more symbols have are looked for by their scopes.
constexpr size_t kManyNamesakes = 32;

// How a name was found: through the scopes around it (0 and up, by how far out), through a `using
// namespace` of the file, by the end of the qualified name, by the end of it without what the file
// may have renamed, by the last name alone.
constexpr uint32_t kByDirective = 50, kByEnd = 60, kByPart = 70, kByLastName = 80;

// Where it was found.
constexpr uint32_t kOwnFile = 0, kIncluded = 1, kAround = 2;

bool ends_with_scope(std::string_view scope, std::string_view end) {
  return end.empty() || (!scope.empty() && ends_with_name(scope, end));
}

// "a::b" of "a::b::c" with "c".
std::string_view before_end(std::string_view scope, std::string_view end) {
  if (end.empty()) return scope;
  scope.remove_suffix(end.size());
  if (scope.ends_with("::")) scope.remove_suffix(2);
  return scope;
}

uint32_t parts_of(std::string_view scope) {
  uint32_t parts = scope.empty() ? 0 : 1;
  for (size_t at = scope.find("::"); at != std::string_view::npos; at = scope.find("::", at + 2))
    ++parts;
  return parts;
}

bool encloses_scope(std::string_view outer, std::string_view scope) {
  return outer.empty() || scope == outer ||
         (scope.starts_with(outer) && scope.substr(outer.size()).starts_with("::"));
}

// A source, in contrast to what sources include.
bool is_compiled(std::string_view path) {
  const std::string_view ending = path.substr(std::min(path.rfind('.'), path.size()));
  return is_one_of(ending, {".cu", ".cc", ".cpp", ".cxx", ".c", ".hip"});
}

ScopeFit fit_of(uint32_t misfit) {
  if (misfit <= kByDirective) return ScopeFit::kAround;
  if (misfit <= kByEnd) return ScopeFit::kByEnd;
  return misfit <= kByPart ? ScopeFit::kByPart : ScopeFit::kByName;
}

SymbolKind kind_of(cpp::FunctionKind kind) {
  if (kind == cpp::FunctionKind::kKernel) return SymbolKind::kKernel;
  return kind == cpp::FunctionKind::kDevice ? SymbolKind::kDeviceFunction
                                            : SymbolKind::kHostFunction;
}

}  // namespace

SymbolIndex::SymbolIndex(const std::vector<FileCode>& files, const IncludeGraph& includes)
    : files_(files), includes_(includes) {
  for (uint32_t file = 0; file < files.size(); ++file) {
    first_.push_back(static_cast<uint32_t>(symbols_.size()));
    const cpp::Definitions& cpp = *files[file].cpp;
    for (uint32_t i = 0; i < cpp.functions.size(); ++i) {
      const cpp::Function& one = cpp.functions[i];
      add({kind_of(one.kind), one.defined, one.file_local, file, i, one.name, one.scope});
    }
    for (uint32_t i = 0; i < cpp.classes.size(); ++i) {
      const cpp::Class& one = cpp.classes[i];
      add({SymbolKind::kClass, true, false, file, i, one.name, one.scope});
      scopes_.insert(one.name);
    }
    for (uint32_t i = 0; i < cpp.aliases.size(); ++i) {
      const cpp::Alias& one = cpp.aliases[i];
      add({SymbolKind::kAlias, true, false, file, i, one.name, one.scope});
    }
  }
  group_namesakes();
  find_owners();
}

void SymbolIndex::find_owners() {
  struct Namesakes {
    SymbolId first;
    std::unordered_map<uint32_t, SymbolId> last_of_file;
  };
  std::unordered_map<std::string, Namesakes> classes;
  for (uint32_t i = 0; i < symbols_.size(); ++i) {
    if (symbols_[i].kind != SymbolKind::kClass) continue;
    const auto found = classes.try_emplace(qualified_name({i}), Namesakes{{i}, {}}).first;
    found->second.last_of_file[symbols_[i].file] = {i};
  }
  for (auto& one : symbols_) {
    const auto found = one.scope.empty() ? classes.end() : classes.find(std::string(one.scope));
    if (found == classes.end()) continue;
    // A method defined outside its class may stand in another file than that.
    const auto here = found->second.last_of_file.find(one.file);
    one.owner = here == found->second.last_of_file.end() ? found->second.first : here->second;
  }
  own_local_aliases();
  for (uint32_t i = 0; i < symbols_.size(); ++i) {
    const Symbol& one = symbols_[i];
    const bool function =
        one.kind == SymbolKind::kHostFunction || one.kind == SymbolKind::kDeviceFunction;
    if (function && one.defined && !one.scope.empty())
      methods_[{one.scope, one.name}].push_back({i});
  }
}

// An alias inside a function is a part of that, whose template parameters it may name.
void SymbolIndex::own_local_aliases() {
  for (uint32_t file = 0; file < files_.size(); ++file) {
    std::unordered_map<std::string, SymbolId> functions;
    for (uint32_t i = 0; i < files_[file].cpp->aliases.size(); ++i) {
      Symbol& one = symbols_[alias(file, i).value];
      if (!one.scope.ends_with("{}")) continue;
      for (uint32_t f = 0; functions.empty() && f < files_[file].cpp->functions.size(); ++f) {
        const Symbol& around = symbols_[function(file, f).value];
        functions.emplace(cpp::local_scope(around.scope, around.name), function(file, f));
      }
      const auto found = functions.find(std::string(one.scope));
      if (found != functions.end()) one.owner = found->second;
    }
  }
}

const std::vector<SymbolId>& SymbolIndex::methods(std::string_view scope,
                                                  std::string_view name) const {
  return value_or_empty(methods_, {scope, name});
}

const std::vector<SymbolId>& SymbolIndex::named(std::string_view name, SymbolKind kind) const {
  return value_or_empty(by_name_[static_cast<size_t>(kind)], name);
}

bool SymbolIndex::has_name(std::string_view name) const {
  return std::any_of(std::begin(by_name_), std::end(by_name_),
                     [&](const auto& names) { return names.contains(name); });
}

std::string SymbolIndex::qualified_name(SymbolId id) const {
  const Symbol& one = symbols_[id.value];
  std::string out(one.scope);
  if (!out.empty()) out += "::";
  return out += one.name;
}

std::string_view SymbolIndex::template_parameters(SymbolId id) const {
  const Symbol& one = symbols_[id.value];
  const cpp::Definitions& cpp = *files_[one.file].cpp;
  if (one.kind == SymbolKind::kAlias) return {};
  return one.kind == SymbolKind::kClass ? cpp.classes[one.index].template_parameters
                                        : cpp.functions[one.index].template_parameters;
}

void SymbolIndex::group_namesakes() {
  for (size_t kind = 0; kind < std::size(by_name_); ++kind) {
    for (const auto& [name, ids] : by_name_[kind]) {
      if (ids.size() <= kManyNamesakes) continue;
      auto& groups = grouped_[kind][name];
      for (const SymbolId id : ids) groups[last_name(symbols_[id.value].scope)].push_back(id);
    }
  }
}

const SymbolIndex::Ids& SymbolIndex::narrowed(const Ids& named, std::string_view qualifier,
                                              const NameScope& at) const {
  static const Ids none;
  if (named.size() <= kManyNamesakes) return named;
  const Symbol& first = symbols_[named[0].value];
  const auto& groups = grouped_[static_cast<size_t>(first.kind)].find(first.name)->second;
  const auto group = groups.find(last_name(qualifier.empty() ? at.inside : qualifier));
  if (!qualifier.empty()) return group == groups.end() ? none : group->second;
  if (group == groups.end()) return named;
  // A name without scope may be another scope's, unless the file has it in the one around.
  std::vector<Fitting> own;
  gather_file(group->second, at.file, qualifier, at, kOwnFile, own);
  const bool found =
      std::any_of(own.begin(), own.end(), [](const Fitting& one) { return one.misfit == 0; });
  return found ? group->second : named;
}

void SymbolIndex::add(const Symbol& symbol) {
  by_name_[static_cast<size_t>(symbol.kind)][symbol.name].push_back(
      {static_cast<uint32_t>(symbols_.size())});
  symbols_.push_back(symbol);
  add_scope(symbol.scope);
}

void SymbolIndex::add_scope(std::string_view scope) {
  while (!scope.empty() && scopes_.insert(last_name(scope)).second) {
    const size_t colons = scope.rfind("::");
    scope = colons == std::string_view::npos ? std::string_view() : scope.substr(0, colons);
  }
}

bool SymbolIndex::opens(uint32_t file, std::string_view scope) const {
  const std::vector<std::string>& opened = files_[file].usage->using_namespaces;
  return std::any_of(opened.begin(), opened.end(),
                     [&](const std::string& one) { return ends_with_scope(scope, one); });
}

std::optional<uint32_t> SymbolIndex::misfit(const Symbol& symbol, std::string_view qualifier,
                                            const NameScope& at) const {
  // What stands in a function is known there alone.
  if (symbol.scope.ends_with("{}") && symbol.scope != at.inside) return std::nullopt;
  if (ends_with_scope(symbol.scope, qualifier)) {
    const std::string_view rest = before_end(symbol.scope, qualifier);
    if (encloses_scope(rest, at.inside))
      return std::min(parts_of(at.inside) - parts_of(rest), kByDirective - 1);
    // A part of a class has no name without it elsewhere, but for classes that inherit.
    if (qualifier.empty() && symbol.owner) return kByPart;
    return opens(at.file, rest) ? kByDirective : kByEnd;
  }
  // `namespace gpu = long::name; gpu::f()`, `Traits::Kernel`: what no scope is called like is
  // another name of something.
  for (uint32_t part = 0; !qualifier.empty() && part < 16; ++part) {
    const size_t colons = qualifier.find("::");
    const std::string_view head = qualifier.substr(0, colons);
    if (part == 0 && scopes_.contains(head) && symbol.kind != SymbolKind::kClass)
      return std::nullopt;
    qualifier.remove_prefix(colons == std::string_view::npos ? qualifier.size() : colons + 2);
    if (!qualifier.empty() && ends_with_scope(symbol.scope, qualifier)) return kByPart;
  }
  return kByLastName;
}

void SymbolIndex::gather_file(const Ids& named, uint32_t file, std::string_view qualifier,
                              const NameScope& at, uint32_t distance,
                              std::vector<Fitting>& out) const {
  auto one = std::lower_bound(
      named.begin(), named.end(), file,
      [this](SymbolId id, uint32_t wanted) { return symbols_[id.value].file < wanted; });
  for (; one != named.end() && symbols_[one->value].file == file; ++one) {
    const auto fits = misfit(symbols_[one->value], qualifier, at);
    if (fits) out.push_back({*one, *fits, distance});
  }
}

// Those that stand in one of the files, which are sorted. Costs the smaller of the two lists.
void SymbolIndex::gather(const Ids& named, const std::vector<uint32_t>& files,
                         std::string_view qualifier, const NameScope& at, uint32_t distance,
                         std::vector<Fitting>& out) const {
  if (files.size() < named.size()) {
    for (const uint32_t file : files) {
      if (file != at.file) gather_file(named, file, qualifier, at, distance, out);
    }
    return;
  }
  for (size_t i = 0; i < named.size();) {
    const uint32_t file = symbols_[named[i].value].file;
    if (file != at.file && std::binary_search(files.begin(), files.end(), file))
      gather_file(named, file, qualifier, at, distance, out);
    while (i < named.size() && symbols_[named[i].value].file == file) ++i;
  }
}

// What the compiler sees where the name stands: the file, what it includes, and what stands before
// it wherever it is included.
std::vector<SymbolIndex::Fitting> SymbolIndex::visible(const Ids& named, std::string_view qualifier,
                                                       const NameScope& at) const {
  std::vector<Fitting> found;
  const auto best = [&] {
    uint32_t least = UINT32_MAX;
    for (const Fitting& one : found) least = std::min(least, one.misfit);
    return least;
  };
  gather_file(named, at.file, qualifier, at, kOwnFile, found);
  if (best() > kByDirective)
    gather(named, includes_.seen_by(at.file), qualifier, at, kIncluded, found);
  if (best() > kByEnd) gather(named, includes_.around(at.file), qualifier, at, kAround, found);
  if (best() > kByEnd && at.unit != nullptr) {
    for (const uint32_t source : *at.unit) {
      if (source != at.file) gather_file(named, source, qualifier, at, kAround, found);
      gather(named, includes_.seen_by(source), qualifier, at, kAround, found);
    }
  }
  const uint32_t least = best();
  std::erase_if(found, [&](const Fitting& one) { return one.misfit > least; });
  uint32_t shortest = UINT32_MAX;
  for (const Fitting& one : found) shortest = std::min(shortest, one.distance);
  std::erase_if(found, [&](const Fitting& one) { return one.distance > shortest; });
  return found;
}

const std::vector<Candidate>& SymbolIndex::resolve(std::string_view path, const NameScope& at,
                                                   SymbolKind wanted) const {
  static const std::vector<Candidate> none;
  if (path.starts_with("::")) path.remove_prefix(2);
  const auto& names = by_name_[static_cast<size_t>(wanted)];
  const auto named = names.find(last_name(path));
  if (named == names.end()) return none;
  std::string key(path);
  key.append(1, '\n').append(at.inside).append(1, '\n');
  key += std::to_string(at.file) + ' ' + std::to_string(static_cast<int>(wanted));
  if (at.unit != nullptr && !at.unit->empty())
    key += ' ' + std::to_string(at.unit->front()) + ' ' + std::to_string(at.unit->size());
  const auto [known, fresh] = known_.try_emplace(std::move(key));
  if (!fresh) return known->second;
  const size_t name = path.size() - last_name(path).size();
  const std::string spelled = renamed(path.substr(0, name < 2 ? 0 : name - 2), at.file);
  const std::string_view qualifier = spelled;
  const Ids& all = narrowed(named->second, qualifier, at);
  if (all.empty()) return none;
  std::vector<Fitting> found = visible(all, qualifier, at);
  const auto is_defined = [this](const Fitting& one) { return symbols_[one.symbol.value].defined; };
  if (found.empty()) return known->second = elsewhere(all, qualifier, at);
  if (std::none_of(found.begin(), found.end(), is_defined))
    return known->second = defined_as(all, symbols_[found[0].symbol.value], at);
  std::erase_if(found, [&](const Fitting& one) { return !is_defined(one); });
  return known->second = chosen(found);
}

// With a namespace's own name in place of another one that the file gives it.
std::string SymbolIndex::renamed(std::string_view qualifier, uint32_t file) const {
  const auto& aliases = files_[file].usage->namespace_aliases;
  const std::string_view head = qualifier.substr(0, qualifier.find("::"));
  const auto found = aliases.find(head);
  if (found == aliases.end() || head.empty()) return std::string(qualifier);
  return found->second + std::string(qualifier.substr(head.size()));
}

// All of them are visible and fit equally well.
std::vector<Candidate> SymbolIndex::chosen(const std::vector<Fitting>& fitting) const {
  const Symbol& first = symbols_[fitting[0].symbol.value];
  bool one_file = true, one_scope = true;
  for (const Fitting& one : fitting) {
    const Symbol& symbol = symbols_[one.symbol.value];
    one_file &= symbol.file == first.file;
    one_scope &= symbol.scope == first.scope;
  }
  // Of one scope they are branches of an #if, or overloads, which headers may share out.
  const bool seen = fitting[0].distance != kAround;
  const bool one = one_scope && (one_file || (seen && first.kind != SymbolKind::kKernel));
  // A header's name may be another one's in each file that includes it: all of them are meant.
  const size_t most = fitting[0].distance == kAround ? kMostTwins : kMostCandidates;
  if (!one && fitting.size() > most) return {};
  Certainty certainty =
      one && fitting.size() <= kMostTwins ? Certainty::kCertain : Certainty::kUnsure;
  if (fitting[0].misfit >= kByPart) certainty = std::max(certainty, Certainty::kLikely);
  if (fitting[0].misfit >= kByLastName && first.kind != SymbolKind::kClass)
    certainty = Certainty::kUnsure;
  if (fitting[0].distance == kAround) {
    // Which of the files that include this one is compiled decides.
    const Ids& named = by_name_[static_cast<size_t>(first.kind)].find(first.name)->second;
    const size_t looked_at = std::min(named.size(), kMostShared);
    for (size_t i = 0; i < looked_at; ++i) {
      const Symbol& other = symbols_[named[i].value];
      if (other.defined && other.file != first.file)
        certainty = std::max(certainty, Certainty::kLikely);
    }
  }
  std::vector<Candidate> out;
  for (const Fitting& found : fitting)
    out.push_back({found.symbol, certainty, fit_of(found.misfit),
                   seen ? Sight::kSeen : Sight::kThroughIncluder});
  return out;
}

// Those of other sources that can be meant by a name, as far as they are few: the same wherever it
// stands, so that a name which all files use costs one look at all who have it.
const SymbolIndex::Ids& SymbolIndex::shared(SymbolKind kind, const Ids& named,
                                            std::string_view qualifier) const {
  std::string key(qualifier);
  key.append(1, '\n').append(symbols_[named[0].value].name);
  key += std::to_string(static_cast<int>(kind));
  const auto [known, fresh] = shared_.try_emplace(std::move(key));
  if (!fresh) return known->second;
  Ids by_end, by_part;
  for (const SymbolId id : named) {
    const Symbol& one = symbols_[id.value];
    if (!one.defined || one.file_local) continue;
    const auto fits = misfit(one, qualifier, {one.file, one.scope, nullptr});
    // A name without its scope is no reason.
    if (!fits || *fits >= kByLastName) continue;
    Ids& found = *fits <= kByEnd ? by_end : by_part;
    if (found.size() <= kMostShared) found.push_back(id);
  }
  Ids& best = by_end.empty() ? by_part : by_end;
  if (best.size() > kMostShared) best.clear();
  return known->second = std::move(best);
}

// A declaration is visible: what defines that name stands in another source.
std::vector<Candidate> SymbolIndex::defined_as(const Ids& named, const Symbol& declared,
                                               const NameScope& at) const {
  Ids found = shared(declared.kind, named, declared.scope);
  std::erase_if(found, [&](SymbolId id) { return symbols_[id.value].scope != declared.scope; });
  return nearest(std::move(found), Certainty::kCertain, at, Sight::kSeen);
}

// Nothing visible has the name. Includes that are found only when it is compiled may lead there.
std::vector<Candidate> SymbolIndex::elsewhere(const Ids& named, std::string_view qualifier,
                                              const NameScope& at) const {
  return nearest(shared(symbols_[named[0].value].kind, named, qualifier), Certainty::kLikely, at,
                 Sight::kUnseen);
}

// Of several the ones in the same folder.
std::vector<Candidate> SymbolIndex::nearest(Ids found, Certainty of_one, const NameScope& at,
                                            Sight sight) const {
  const auto one_place = [&] {
    return std::all_of(found.begin(), found.end(), [&](SymbolId id) {
      const Symbol &a = symbols_[id.value], &b = symbols_[found[0].value];
      return a.file == b.file && a.scope == b.scope;
    });
  };
  if (found.empty()) return {};
  bool beside_it = false;
  if (!one_place()) {
    const std::string_view folder = folder_of_path(files_[at.file].file->path);
    Ids beside = found;
    std::erase_if(beside, [&](SymbolId id) {
      return folder_of_path(files_[symbols_[id.value].file].file->path) != folder;
    });
    if (!beside.empty()) {
      beside_it = true;
      found = std::move(beside);
      of_one = Certainty::kLikely;
    }
  }
  const bool one = one_place();
  // A header that sees no definition gets one from whoever includes it, as a generated file does.
  const bool open = beside_it && !is_compiled(files_[at.file].file->path);
  if (found.size() > (one || open ? kMostTwins : kMostCandidates)) return {};
  std::vector<Candidate> out;
  for (const SymbolId id : found)
    out.push_back({id, one ? of_one : Certainty::kUnsure, ScopeFit::kByEnd, sight});
  return out;
}

}  // namespace fathom
