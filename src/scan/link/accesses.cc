#include "scan/link/accesses.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "scan/facts/code_names.h"
#include "scan/facts/expression.h"
#include "scan/facts/text_lines.h"
#include "scan/facts/type_bytes.h"

namespace fathom {
namespace {

// Of the walk of one kernel: steps, steps for each byte of code, and accesses that are listed.
constexpr size_t kLeastWork = 1000, kMostWork = 30000, kWorkOfByte = 8, kWorkOfSite = 60;
constexpr size_t kMostShared = 1 << 16;  // bytes of a function that is walked for its callers
constexpr size_t kLeastSites = 24, kMostSites = 160;
constexpr size_t kLongestConstant = 48;  // text of one that may be evaluated
constexpr int kConstantDepth = 4;        // constants made of constants

// "PlainLayout<64>::column" → "PlainLayout" and "column".
std::pair<std::string, std::string> split_name(std::string_view name) {
  const size_t colons = name.rfind("::");
  if (colons == std::string_view::npos) return {"", std::string(name)};
  std::string_view scope = name.substr(0, colons);
  scope = scope.substr(0, std::min(scope.find('<'), scope.size()));
  const size_t outer = scope.rfind("::");
  if (outer != std::string_view::npos) scope.remove_prefix(outer + 2);
  return {std::string(scope), std::string(name.substr(colons + 2))};
}

// The text with each whole word that is a key replaced.
std::string replaced(std::string_view text, const std::map<std::string, std::string>& words) {
  std::string out, word;
  const auto add = [&] {
    const auto found = words.find(word);
    out += found == words.end() ? word : found->second;
    word.clear();
  };
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
    } else {
      add();
      out += c;
    }
  }
  add();
  return out;
}

std::vector<std::string> template_names(std::string_view parameters) {
  return cpp::template_parameter_names(parameters);
}

}  // namespace

AccessLinker::AccessLinker(const Readings& readings, const IncludeGraph& includes,
                           const FunctionPlaces& places)
    : readings_(readings), places_(places), aliases_(includes), constants_(includes) {
  share_work();
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const FileReading& reading = readings.readings[file];
    for (const cpp::LocalValue& alias : reading.device_code.aliases)
      aliases_.add(alias.name, file, alias.text);
    for (const auto& [name, bytes] : reading.device_code.vectors) vectors_.emplace(name, bytes);
    if (reading.device_code.bodies.empty() && reading.constants.size() > 2000) continue;
    const std::set<const cpp::LocalValue*> of_classes = add_members(reading);
    for (const cpp::LocalValue& constant : reading.constants) {
      if (constant.text.size() > kLongestConstant || of_classes.contains(&constant)) continue;
      // What a function computes for itself is known to it alone.
      if (const auto inside = places.at({file, constant.line}))
        locals_.emplace(std::pair(*inside, constant.name), constant.text);
      else
        constants_.add(constant.name, file, constant.text);
    }
  }
}

// All kernels together take a multiple of the code that there is, however many share it.
void AccessLinker::share_work() {
  size_t bytes = 0, kernels = 1;
  for (const FileReading& reading : readings_.readings) {
    for (const auto& [function, body] : reading.device_code.bodies) {
      bytes += body.text.size();
      kernels += reading.cpp.functions[function].kind == cpp::FunctionKind::kKernel ? 1 : 0;
    }
  }
  work_of_one_ = std::clamp(kWorkOfByte * bytes / kernels, kLeastWork, kMostWork);
  sites_of_one_ = std::clamp(work_of_one_ / kWorkOfSite, kLeastSites, kMostSites);
}

// The constants that stand inside each class, which no other code knows by their plain names.
std::set<const cpp::LocalValue*> AccessLinker::add_members(const FileReading& reading) {
  std::set<const cpp::LocalValue*> out;
  constexpr size_t kMaxMembers = 256;  // of one class: classes inside classes repeat them
  std::vector<const cpp::LocalValue*> by_line;
  for (const cpp::LocalValue& constant : reading.constants) by_line.push_back(&constant);
  std::stable_sort(by_line.begin(), by_line.end(),
                   [](const auto* a, const auto* b) { return a->line < b->line; });
  for (const cpp::Class& type : reading.cpp.classes) {
    auto at = std::lower_bound(by_line.begin(), by_line.end(), type.line_first,
                               [](const auto* one, uint32_t line) { return one->line < line; });
    if (at == by_line.end() || (*at)->line > type.line_last) continue;
    const std::vector<std::string> parameters = template_names(type.template_parameters);
    for (size_t i = 0; i < kMaxMembers && at != by_line.end(); ++i, ++at) {
      if ((*at)->line > type.line_last) break;
      members_.emplace(type.name + "::" + (*at)->name, Member{(*at)->text, parameters});
      out.insert(*at);
    }
  }
  return out;
}

const DeviceFunction* AccessLinker::function(FunctionAt at, size_t most_bytes) {
  auto& known = functions_[at];
  if (known) return known.get();
  const FileReading& reading = readings_.readings[at.first];
  const auto body = reading.device_code.bodies.find(at.second);
  if (body == reading.device_code.bodies.end() || body->second.text.size() > most_bytes)
    return nullptr;
  bytes_read_ += body->second.text.size();
  const cpp::Function& definition = reading.cpp.functions[at.second];
  known = std::make_unique<DeviceFunction>();
  known->name = definition.name;
  known->owner = last_name(definition.scope);
  known->file = at.first;
  known->tree = read_code(body->second.text, body->second.line);
  known->parameters = code_parameters(definition.parameters);
  known->template_parameters = template_names(definition.template_parameters);
  return known.get();
}

// The sizes that a name can have by the aliases that are meant, each looked at once.
const std::set<uint32_t>& AccessLinker::sizes_of(const std::string& type, uint32_t file,
                                                 int depth) {
  constexpr int kMaxDepth = 32;       // of aliases of aliases
  constexpr size_t kMaxAliases = 24;  // of one name
  static const std::set<uint32_t> unknown;
  if (depth > kMaxDepth) return unknown;
  const std::pair key(type, file);
  const auto [known, added] = sizes_.emplace(key, std::set<uint32_t>());
  if (!added) return known->second;  // empty while it is worked out: a circle adds nothing
  std::set<uint32_t> found;
  if (const auto size = bytes_of_type_name(type)) {
    found.insert(*size);
  } else if (const auto vector = vectors_.find(type.substr(0, type.find('<')));
             vector != vectors_.end()) {
    found.insert(vector->second);
  } else {
    const std::vector<const SeenTexts::Text*> aliases = aliases_.meant(type, file);
    for (size_t i = 0; i < std::min(aliases.size(), kMaxAliases); ++i) {
      const std::set<uint32_t>& of_target = sizes_of(aliases[i]->text, aliases[i]->file, depth + 1);
      found.insert(of_target.begin(), of_target.end());
    }
  }
  return sizes_[key] = std::move(found);
}

// None where two aliases of a name differ in size: which one holds is decided by an #if.
std::optional<uint32_t> AccessLinker::bytes_of(std::string_view type, uint32_t file) {
  const std::set<uint32_t>& found = sizes_of(std::string(type), file);
  return found.size() == 1 ? std::optional(*found.begin()) : std::nullopt;
}

std::optional<std::string> AccessLinker::member(std::string_view name, uint32_t file,
                                                int depth) const {
  const auto [scope, last_part] = split_name(name);
  const auto found = members_.find(scope + "::" + last_part);
  if (found == members_.end()) {
    const std::vector<const SeenTexts::Text*> alias = aliases_.meant(scope, file);
    if (alias.empty() || depth > 6) return std::nullopt;
    return member(alias[0]->text + "::" + last_part, alias[0]->file, depth + 1);
  }
  std::map<std::string, std::string> filled;
  const size_t open = name.find('<'), close = name.rfind('>');
  if (open != std::string_view::npos && close != std::string_view::npos && close > open) {
    const std::vector<std::string>& parameters = found->second.template_parameters;
    const auto given = split_list(name.substr(open + 1, close - open - 1));
    for (size_t i = 0; i < std::min(given.size(), parameters.size()); ++i)
      filled.emplace(parameters[i], given[i]);
  }
  return replaced(found->second.text, filled);
}

// "1 << 21", "kTile * 2"
template <typename Lookup>
std::optional<double> AccessLinker::whole_number(std::string_view text, Lookup constant) {
  const std::optional<double> value = evaluate(text, constant);
  return value && std::floor(*value) == *value ? value : std::nullopt;
}

// What all launches give for the parameters of the kernel's template, by their places; none: they
// differ, or one does not write a number that is known there.
std::vector<std::optional<double>> AccessLinker::arguments_of_launches(
    const KernelFacts& kernel) const {
  std::vector<std::optional<double>> found;
  for (const KernelLauncher& launcher : kernel.launchers) {
    // "a, 1 | b, 2": one launch of several instances.
    if (holds(launcher.template_arguments, " | ")) return {};
    const bool is_first = &launcher == &kernel.launchers.front();
    const std::vector<std::string_view> given = split_list(launcher.template_arguments);
    if (is_first || given.size() < found.size()) found.resize(given.size());
    for (size_t i = 0; i < found.size(); ++i) {
      if (!is_first && !found[i]) continue;
      const auto value = whole_number(
          given[i], [&](std::string_view name) { return constant_at(name, launcher.at); });
      found[i] = is_first || value == found[i] ? value : std::nullopt;
    }
  }
  return found;
}

// A constant in host code: the function's own first, whose template parameters are none.
std::optional<double> AccessLinker::constant_at(std::string_view name, const CodePlace& at,
                                                int depth) const {
  if (depth > kConstantDepth) return std::nullopt;
  const std::optional<FunctionNode> around = places_.at(at);
  if (!around || !around->cpp) return std::nullopt;
  const cpp::Function& function = readings_.readings[at.file].cpp.functions[around->index];
  for (const std::string& parameter : template_names(function.template_parameters)) {
    if (parameter == name) return std::nullopt;
  }
  const auto inside = [&](std::string_view part) { return constant_at(part, at, depth + 1); };
  const auto [first, last] = locals_.equal_range(std::pair(*around, std::string(name)));
  if (first != last)
    return std::next(first) == last ? whole_number(first->second, inside) : std::nullopt;
  return constant(name, at.file, Sight::kSeen, depth + 1);
}

// None where visible definitions differ.
std::optional<double> AccessLinker::constant(std::string_view name, uint32_t file, Sight farthest,
                                             int depth) const {
  constexpr size_t kMostDefinitions = 100;  // of one name
  if (depth > kConstantDepth) return std::nullopt;
  const std::vector<const SeenTexts::Text*> definitions = constants_.meant(name, file, farthest);
  if (definitions.size() > kMostDefinitions) return std::nullopt;
  std::optional<double> found;
  for (const SeenTexts::Text* one : definitions) {
    const std::optional<double> value = whole_number(one->text, [&](std::string_view part) {
      return constant(part, file, farthest, depth + 1);
    });
    if (!value || (found && *found != *value)) return std::nullopt;
    found = value;
  }
  return found;
}

void AccessLinker::add_to(KernelFacts& kernel, const std::vector<FunctionAt>& reached) {
  if (reached.empty()) return;
  // Kernels share their helpers, which are read once as long as they take little memory.
  constexpr size_t kBytesKept = 1 << 18;
  if (bytes_read_ > kBytesKept) {
    functions_.clear();
    bytes_read_ = 0;
  }
  const DeviceFunction* walked = function(reached.front());
  if (walked == nullptr) return;
  std::multimap<std::string_view, FunctionAt> by_name;
  for (size_t i = 1; i < reached.size(); ++i) {
    const FileReading& reading = readings_.readings[reached[i].first];
    if (!reading.device_code.bodies.contains(reached[i].second)) continue;
    by_name.emplace(reading.cpp.functions[reached[i].second].name, reached[i]);
  }
  WalkSurroundings around;
  around.find = [&](std::string_view name, size_t arguments) -> const DeviceFunction* {
    const auto [scope, last_part] = split_name(name);
    const auto [first, last] = by_name.equal_range(last_part);
    const DeviceFunction* found = nullptr;
    for (auto one = first; one != last; ++one) {
      const DeviceFunction* candidate = function(one->second, kMostShared);
      if (candidate == nullptr || candidate->parameters.size() < arguments) continue;
      const std::string& own =
          readings_.readings[one->second.first].cpp.functions[one->second.second].scope;
      if (!scope.empty() && own.ends_with(scope)) return candidate;
      if (found == nullptr) found = candidate;
    }
    return found;
  };
  around.member = [&](std::string_view name) { return member(name, kernel.at.file); };
  around.bytes_of = [&](std::string_view type) { return bytes_of(type, kernel.at.file); };
  around.constant = [&](std::string_view name) { return constant(name, kernel.at.file); };
  const auto given = arguments_of_launches(kernel);
  for (size_t i = 0; i < std::min(given.size(), walked->template_parameters.size()); ++i) {
    if (given[i])
      around.template_arguments.emplace(walked->template_parameters[i],
                                        std::to_string(static_cast<int64_t>(*given[i])));
  }
  // A kernel's own code counts for itself, what it shares with others by its share.
  const size_t own = walked->tree.bytes();
  around.max_work = std::min(kMostWork, work_of_one_ + kWorkOfByte * own);
  around.max_sites = std::min(kMostSites, sites_of_one_ + kWorkOfByte * own / kWorkOfSite);
  KernelAccesses found = walk_accesses(*walked, around);
  kernel.accesses = std::move(found.accesses);
  kernel.traffic = std::move(found.traffic);
  kernel.unresolved = std::move(found.unresolved);
  kernel.arithmetic = std::move(found.arithmetic);
}

}  // namespace fathom
