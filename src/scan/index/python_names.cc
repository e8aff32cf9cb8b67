#include "scan/index/python_names.h"

#include <algorithm>

#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"

namespace fathom {
namespace {

// Limits: of imports of imports, of names looked for on the way, of base classes, of the modules
// that star imports lead to, of star imports that one question looks at.
constexpr int kMaxImports = 12;
constexpr size_t kMaxAsked = 1000, kMaxBases = 64, kMaxStars = 2000, kMaxStarSteps = 1000;

std::string dotted_path(std::string_view path) {
  if (path.ends_with(".py")) path.remove_suffix(3);
  if (path.ends_with("/__init__")) path.remove_suffix(9);
  std::string out(path);
  std::replace(out.begin(), out.end(), '/', '.');
  return out;
}

bool is_package_file(std::string_view path) {
  return path == "__init__.py" || path.ends_with("/__init__.py");
}

std::string_view last_two_parts(std::string_view dotted) {
  const size_t dot = dotted.rfind('.');
  const size_t before =
      dot == std::string_view::npos || dot == 0 ? dot : dotted.rfind('.', dot - 1);
  return before == std::string_view::npos ? dotted : dotted.substr(before + 1);
}

}  // namespace

bool is_overload(const python::Function& function) {
  return std::any_of(function.decorators.begin(), function.decorators.end(),
                     [](const std::string& d) { return last_part(d) == "overload"; });
}

PythonNames::PythonNames(const std::vector<FileCode>& files)
    : code_(files), resolved_(files.size()) {
  std::set<std::string_view> packages;
  for (const FileCode& code : files) {
    if (is_package_file(code.file->path)) packages.insert(folder_of_path(code.file->path));
  }
  // What a setup.py installs is found from its folder, whatever else lies there; but for one inside
  // a package, which installs a part of it.
  std::vector<std::string_view> roots;
  for (const FileCode& code : files) {
    const std::string_view folder = folder_of_path(code.file->path);
    const bool inside = !folder.empty() && packages.contains(folder_of_path(folder));
    if (file_name(code.file->path) == "setup.py" && !inside) roots.push_back(folder);
  }
  for (const std::string_view root : roots) packages.erase(root);
  modules_.resize(files.size());
  dotted_.resize(files.size());
  files_.resize(files.size());
  for (uint32_t i = 0; i < files.size(); ++i) {
    const SourceFile& file = *files[i].file;
    files_[i] = names_in(*files[i].python, i);
    for (const auto& [name, where] : files_[i].defined) holders_[name].push_back(i);
    for (const auto& [name, where] : files_[i].imports) {
      if (!files_[i].defined.contains(name)) holders_[name].push_back(i);
    }
    if (file.language != Language::kPython) continue;
    // The module's name begins where the folders stop being packages.
    std::string_view root = folder_of_path(file.path);
    while (!root.empty() && packages.contains(root)) root = folder_of_path(root);
    modules_[i] = dotted_path(file.path.substr(root.empty() ? 0 : root.size() + 1));
    const std::string& dotted = dotted_[i] = dotted_path(file.path);
    by_last_part_[std::string(last_part(dotted))].push_back(i);
    if (const std::string_view two = last_two_parts(dotted); two != last_part(dotted))
      by_last_part_[std::string(two)].push_back(i);
  }
}

std::optional<uint32_t> PythonNames::find_module(std::string_view module,
                                                 uint32_t from_file) const {
  std::string absolute(module);
  if (module.starts_with('.')) {
    const size_t dots = std::min(module.find_first_not_of('.'), module.size());
    std::string_view folder = folder_of_path(path(from_file));
    for (size_t i = 1; i < dots; ++i) folder = folder_of_path(folder);
    absolute = dotted_path(folder);
    if (dots < module.size()) {
      if (!absolute.empty()) absolute += '.';
      absolute += module.substr(dots);
    }
  }
  const auto found = by_last_part_.find(last_two_parts(absolute));
  if (found == by_last_part_.end()) return std::nullopt;
  std::optional<uint32_t> best;
  size_t best_shared = 0;
  // Files are in the order of their paths, so the nearest are neighbours there.
  constexpr ptrdiff_t kMaxBefore = 128;
  const std::vector<uint32_t>& all = found->second;
  auto first = std::lower_bound(all.begin(), all.end(), from_file);
  const auto last = std::min(first - all.begin() + kMaxBefore, std::ssize(all));
  first -= std::min(first - all.begin(), kMaxBefore);
  for (; first != all.begin() + last; ++first) {
    const uint32_t file = *first;
    if (!ends_with_part(dotted_[file], absolute, '.')) continue;
    // No module imports itself: package/x.py may hand on all of x.py.
    if (file == from_file && !module.starts_with('.') && modules_[file] != absolute) continue;
    // `import torch` is not package/torch.py, which is called package.torch; without an
    // __init__.py at the top the package's own name is longer than what is known of it.
    if (!module.starts_with('.') && !ends_with_part(absolute, modules_[file], '.')) continue;
    // A repository may hold two modules of one name: the nearer one is meant.
    const size_t shared = common_prefix(path(file), path(from_file));
    if (!best || shared > best_shared) {
      best = file;
      best_shared = shared;
    }
  }
  return best;
}

std::optional<PythonName> PythonNames::resolve(std::string_view name, uint32_t file) const {
  const auto [known, fresh] = resolved_[file].try_emplace(std::string(name));
  if (fresh) {
    Asked asked;
    known->second = in_file(name, file, asked, 0);
  }
  return known->second;
}

std::optional<PythonRef> PythonNames::resolve_function(std::string_view name, uint32_t file) const {
  const auto found = resolve(name, file);
  if (!found || found->kind != PythonName::Kind::kFunction) return std::nullopt;
  return found->ref();
}

std::optional<PythonRef> PythonNames::resolve_class(std::string_view name, uint32_t file) const {
  const auto found = resolve(name, file);
  if (!found || found->kind != PythonName::Kind::kClass) return std::nullopt;
  return found->ref();
}

CodePlace PythonNames::place_of(const PythonName& name) const {
  const python::PythonFile& home = python(name.file);
  if (name.kind == PythonName::Kind::kFunction)
    return {name.file, home.functions[name.index].line_name};
  if (name.kind == PythonName::Kind::kClass) return {name.file, home.classes[name.index].line_name};
  return {name.file, 0};
}

std::optional<PythonRef> PythonNames::find_function(uint32_t file,
                                                    const std::string& qualified) const {
  const auto found = files_[file].functions.find(qualified);
  if (found == files_[file].functions.end()) return std::nullopt;
  return PythonRef{file, found->second};
}

std::optional<PythonRef> PythonNames::find_class(uint32_t file,
                                                 const std::string& qualified) const {
  const auto found = files_[file].classes.find(qualified);
  if (found == files_[file].classes.end()) return std::nullopt;
  return PythonRef{file, found->second};
}

std::optional<PythonRef> PythonNames::function_named(std::string_view name, uint32_t file,
                                                     std::string_view around) const {
  while (!around.empty()) {
    if (const auto inner = find_function(file, std::string(around) + "." + std::string(name)))
      return inner;
    const size_t dot = around.rfind('.');
    around = around.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  return resolve_function(name, file);
}

std::vector<PythonName> PythonNames::resolve_all(std::string_view name, uint32_t file) const {
  std::vector<PythonName> out;
  if (const auto first = resolve(name, file)) out.push_back(*first);
  const std::string_view head = name.substr(0, name.find('.'));
  const auto bound = files_[file].imports.find(head);
  if (out.empty() || bound == files_[file].imports.end() || bound->second.size() < 2) return out;
  if (name == head && files_[file].defined.contains(head)) return out;
  for (const uint32_t i : bound->second) {
    Asked asked;
    const python::Import& import = python(file).imports[i];
    const auto found = through_import(import, name, file, asked, 0);
    if (found && !contains(out, *found)) out.push_back(*found);
  }
  return out;
}

std::vector<const python::Import*> PythonNames::imports_of(std::string_view name,
                                                           uint32_t file) const {
  std::vector<const python::Import*> out;
  for (const uint32_t i : value_or_empty(files_[file].imports, name)) {
    const python::Import& import = python(file).imports[i];
    if (import.bound_to == name) out.push_back(&import);
  }
  return out;
}

PythonNames::FileNames PythonNames::names_in(const python::PythonFile& python, uint32_t file) {
  FileNames out;
  // A function goes before a class, that before a constant; of several the first, which is no
  // signature for type checkers where there is another.
  for (const bool overloads : {false, true}) {
    for (uint32_t i = 0; i < python.functions.size(); ++i) {
      const python::Function& function = python.functions[i];
      if (function.scope.empty() && is_overload(function) == overloads)
        out.defined.emplace(function.name, PythonName{PythonName::Kind::kFunction, file, i});
    }
  }
  for (uint32_t i = 0; i < python.functions.size(); ++i) {
    const python::Function& function = python.functions[i];
    const auto [at, fresh] = out.functions.emplace(qualified_name(function), i);
    if (!fresh && is_overload(python.functions[at->second])) at->second = i;
  }
  for (uint32_t i = 0; i < python.classes.size(); ++i) {
    const python::Class& one = python.classes[i];
    out.classes.emplace(qualified_name(one), i);
    if (one.scope.empty())
      out.defined.emplace(one.name, PythonName{PythonName::Kind::kClass, file, i});
  }
  for (uint32_t i = 0; i < python.constants.size(); ++i)
    out.defined.emplace(python.constants[i].first,
                        PythonName{PythonName::Kind::kConstant, file, i});
  for (uint32_t i = 0; i < python.imports.size(); ++i) {
    const python::Import& import = python.imports[i];
    if (import.name == "*") {
      out.stars.push_back(i);
    } else {
      const std::string_view bound = import.bound_to;
      out.imports[bound.substr(0, bound.find('.'))].push_back(i);
    }
  }
  return out;
}

std::optional<PythonName> PythonNames::in_file(std::string_view name, uint32_t file, Asked& asked,
                                               int depth) const {
  if (depth > kMaxImports || name.empty() || asked.names.size() >= kMaxAsked) return std::nullopt;
  if (!asked.names.emplace(file, name).second) return std::nullopt;
  if (auto found = bound_in(name, file, asked, depth)) return found;
  return through_stars(name, file, asked, depth);
}

std::optional<PythonName> PythonNames::bound_in(std::string_view name, uint32_t file, Asked& asked,
                                                int depth) const {
  const FileNames& names = files_[file];
  const size_t dot = name.find('.');
  const std::string_view head = name.substr(0, dot);
  if (dot == std::string_view::npos) {
    if (const auto found = names.defined.find(head); found != names.defined.end())
      return found->second;
  }
  for (const uint32_t i : value_or_empty(names.imports, head)) {
    const python::Import& import = python(file).imports[i];
    if (auto found = through_import(import, name, file, asked, depth)) return found;
  }
  return std::nullopt;
}

const std::vector<uint32_t>& PythonNames::star_modules(uint32_t file) const {
  const auto [known, fresh] = star_modules_.try_emplace(file);
  if (!fresh) return known->second;
  std::set<uint32_t> seen = {file};
  for (const uint32_t i : files_[file].stars) {
    const auto module = find_module(python(file).imports[i].module, file);
    if (module && seen.insert(*module).second) known->second.push_back(*module);
  }
  return known->second;
}

const std::vector<uint32_t>& PythonNames::star_reach(uint32_t file) const {
  const auto known = star_reach_of_.find(file);
  if (known != star_reach_of_.end()) return star_reaches_[known->second];
  std::vector<uint32_t> reached = {file};
  std::set<uint32_t> seen = {file};
  std::map<uint32_t, std::vector<uint32_t>> back;  // who brings a module
  for (size_t i = 0; i < reached.size() && reached.size() < kMaxStars; ++i) {
    for (const uint32_t next : star_modules(reached[i])) {
      back[next].push_back(reached[i]);
      if (seen.insert(next).second) reached.push_back(next);
    }
  }
  // Those that bring this file again reach the same.
  std::vector<uint32_t> same = {file};
  std::set<uint32_t> leading = {file};
  for (size_t i = 0; i < same.size() && reached.size() < kMaxStars; ++i) {
    for (const uint32_t before : back[same[i]]) {
      if (leading.insert(before).second) same.push_back(before);
    }
  }
  std::ranges::sort(reached);
  star_reaches_.push_back(std::move(reached));
  for (const uint32_t one : same) star_reach_of_[one] = star_reaches_.size() - 1;
  return star_reaches_.back();
}

// Of the modules that star imports lead to only those that hold the name are looked at: modules
// that all bring each other would be gone through once for each way between them.
std::optional<PythonName> PythonNames::through_stars(std::string_view name, uint32_t file,
                                                     Asked& asked, int depth) const {
  if (files_[file].stars.empty() || asked.star_steps >= kMaxStarSteps) return std::nullopt;
  const auto holders = holders_.find(name.substr(0, name.find('.')));
  if (holders == holders_.end()) return std::nullopt;
  std::vector<uint32_t> holding;
  const auto add_holding = [&](const std::vector<uint32_t>& reached) {
    const bool fewer = holders->second.size() < reached.size();
    const std::vector<uint32_t>&shorter = fewer ? holders->second : reached,
          &longer = fewer ? reached : holders->second;
    asked.star_steps += shorter.size();
    std::ranges::copy_if(shorter, std::back_inserter(holding), [&](uint32_t one) {
      return one != file && std::ranges::binary_search(longer, one);
    });
  };
  // What a package brings is one list for all files that import it.
  constexpr size_t kFew = 4;
  if (star_modules(file).size() > kFew) {
    add_holding(star_reach(file));
  } else {
    for (const uint32_t module : star_modules(file)) add_holding(star_reach(module));
    std::ranges::sort(holding);
    const auto same = std::ranges::unique(holding);
    holding.erase(same.begin(), same.end());
  }
  const auto look = [&](uint32_t module) -> std::optional<PythonName> {
    if (!asked.names.emplace(module, name).second) return std::nullopt;
    return bound_in(name, module, asked, depth + 1);
  };
  if (holding.size() < 2) return holding.empty() ? std::nullopt : look(holding[0]);
  // The first in the order of the imports.
  std::vector<uint32_t> left = {file};
  std::set<uint32_t> seen;
  while (!left.empty() && asked.star_steps < kMaxStarSteps) {
    const uint32_t at = left.back();
    left.pop_back();
    if (!seen.insert(at).second) continue;
    if (std::ranges::binary_search(holding, at)) {
      if (auto found = look(at)) return found;
    }
    const std::vector<uint32_t>& next = star_modules(at);
    asked.star_steps += 1 + next.size();
    left.insert(left.end(), next.rbegin(), next.rend());
  }
  return std::nullopt;
}

std::optional<PythonName> PythonNames::through_import(const python::Import& import,
                                                      std::string_view name, uint32_t file,
                                                      Asked& asked, int depth) const {
  // `import a.b` binds a, but makes a.b.c reachable; `import a.b as c` and `from` bind one name.
  const std::string_view bound = import.bound_to;
  if (name != bound &&
      !(name.starts_with(bound) && name.size() > bound.size() && name[bound.size()] == '.')) {
    return std::nullopt;
  }
  const std::string_view rest = name.size() > bound.size() ? name.substr(bound.size() + 1) : "";
  if (import.name.empty()) {
    const auto module = find_module(import.module, file);
    if (module && rest.empty()) return PythonName{PythonName::Kind::kModule, *module, 0};
    if (module) return in_file(rest, *module, asked, depth + 1);
    return std::nullopt;
  }
  if (const auto module = find_module(import.module, file); module && *module != file) {
    std::string wanted = import.name;
    if (!rest.empty()) wanted += "." + std::string(rest);
    if (auto found = in_file(wanted, *module, asked, depth + 1)) return found;
  }
  // `from package import module`
  const std::string separator = import.module.ends_with('.') ? "" : ".";
  if (const auto module = find_module(import.module + separator + import.name, file)) {
    if (rest.empty()) return PythonName{PythonName::Kind::kModule, *module, 0};
    return in_file(rest, *module, asked, depth + 1);
  }
  return std::nullopt;
}

std::optional<PythonField> PythonNames::find_field(uint32_t file, const python::Class& owner,
                                                   std::string_view field) const {
  for (const auto& [home, type] : with_bases(file, owner)) {
    for (const python::Field& candidate : type->fields) {
      if (candidate.name == field) return PythonField{home, type, &candidate};
    }
  }
  return std::nullopt;
}

std::vector<std::pair<uint32_t, const python::Class*>> PythonNames::with_bases(
    uint32_t file, const python::Class& type) const {
  std::vector<std::pair<uint32_t, const python::Class*>> out;
  std::vector<std::pair<uint32_t, const python::Class*>> left = {{file, &type}};
  while (!left.empty() && out.size() < kMaxBases) {
    const auto at = left.back();
    left.pop_back();
    if (contains(out, at)) continue;
    out.push_back(at);
    for (size_t i = at.second->bases.size(); i-- > 0;) {
      if (const auto base = resolve_class(at.second->bases[i], at.first))
        left.emplace_back(base->file, &python(base->file).classes[base->index]);
    }
  }
  return out;
}

}  // namespace fathom
