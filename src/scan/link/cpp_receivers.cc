#include "scan/link/cpp_receivers.h"

#include <algorithm>

#include "scan/facts/code_names.h"

namespace fathom {
namespace {

constexpr size_t kMostBases = 8, kMostDerived = 24, kMostClasses = 4;

// "public ns::Base<T>" → "ns::Base"
std::string_view base_name(std::string_view written) {
  const size_t space = written.find_last_of(" \t", written.find('<'));
  if (space != std::string_view::npos) written.remove_prefix(space + 1);
  return written.substr(0, written.find('<'));
}

}  // namespace

CppReceivers::CppReceivers(const Readings& readings, const SymbolIndex& index)
    : readings_(readings), index_(index) {
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    const FileReading& reading = readings.readings[file];
    for (const cpp::Class& one : reading.cpp.classes) class_names_.insert(one.name);
    for (const cpp::Field& field : reading.usage.fields)
      fields_.try_emplace({field.owner, field.name, file}, field.type);
  }
  for (uint32_t file = 0; file < readings.files.size(); ++file) {
    for (uint32_t i = 0; i < readings.readings[file].cpp.classes.size(); ++i) {
      const SymbolId id = index.type(file, i);
      const Symbol& symbol = index.symbol(id);
      for (const std::string& base : type(id).bases) {
        if (!class_names_.contains(last_name(base_name(base)))) continue;
        for (const Candidate& one :
             index.resolve(base_name(base), {symbol.file, symbol.scope}, SymbolKind::kClass)) {
          if (one.certainty != Certainty::kUnsure && one.symbol != id)
            derived_[one.symbol].push_back(id);
        }
      }
    }
  }
}

std::vector<SymbolId> CppReceivers::with_bases(SymbolId id) const {
  std::vector<SymbolId> out = {id};
  for (size_t i = 0; i < out.size() && out.size() < kMostBases; ++i) {
    const Symbol& symbol = index_.symbol(out[i]);
    for (const std::string& base : type(out[i]).bases) {
      for (const Candidate& one :
           index_.resolve(base_name(base), {symbol.file, symbol.scope}, SymbolKind::kClass)) {
        const bool known = std::find(out.begin(), out.end(), one.symbol) != out.end();
        if (!known && one.certainty != Certainty::kUnsure) out.push_back(one.symbol);
      }
    }
  }
  return out;
}

std::vector<SymbolId> CppReceivers::derived_from(SymbolId id) const {
  std::vector<SymbolId> out = {id};
  for (size_t i = 0; i < out.size() && out.size() <= kMostDerived; ++i) {
    const auto found = derived_.find(out[i]);
    if (found == derived_.end()) continue;
    for (const SymbolId one : found->second) {
      if (std::find(out.begin(), out.end(), one) == out.end()) out.push_back(one);
    }
  }
  out.erase(out.begin());
  return out;
}

std::vector<CppRef> CppReceivers::find(SymbolId id, std::string_view method) const {
  constexpr size_t kMostTwins = 24;
  std::vector<CppRef> all;
  for (const SymbolId one : index_.methods(index_.qualified_name(id), method)) {
    const Symbol& symbol = index_.symbol(one);
    if (symbol.kind == SymbolKind::kHostFunction) all.push_back({symbol.file, symbol.index});
  }
  if (all.size() < 2) return all;
  const uint32_t home = index_.symbol(id).file;
  std::vector<CppRef> own;
  if (all.size() > kMostTwins) {  // of very many only what stands beside the class
    for (auto at = std::lower_bound(all.begin(), all.end(), CppRef{home, 0});
         at != all.end() && at->file == home; ++at)
      own.push_back(*at);
    return own;
  }
  for (const CppRef& ref : all) {
    if (ref.file == home || index_.includes().sees(ref.file, home)) own.push_back(ref);
  }
  return own.empty() ? all : own;
}

std::optional<std::pair<std::string, uint32_t>> CppReceivers::field_type(std::string_view object,
                                                                         const CppRef& from) const {
  const bool element = object.ends_with("[]");
  const std::string_view name = element ? object.substr(0, object.size() - 2) : object;
  const std::string& owner = function(from).scope;
  if (owner.empty() || !class_names_.contains(last_name(owner))) return std::nullopt;
  const std::vector<Candidate>& meant = index_.resolve(owner, {from.file}, SymbolKind::kClass);
  for (size_t i = 0; i < meant.size() && meant.size() <= kMostClasses; ++i) {
    for (const SymbolId id : with_bases(meant[i].symbol)) {
      const std::string scope = index_.qualified_name(id);
      const uint32_t file = index_.symbol(id).file;
      const auto found = fields_.find({scope, name, file});
      if (found == fields_.end()) continue;
      std::string declared(found->second);
      const bool list = declared.ends_with("[]");
      if (list && !element) return std::pair(std::string("std::vector"), file);
      if (list) declared.resize(declared.size() - 2);
      return std::pair(std::move(declared), file);
    }
  }
  return std::nullopt;
}

std::optional<std::vector<CppReceivers::Method>> CppReceivers::methods(const cpp::Call& call,
                                                                       const CppRef& from) const {
  if (call.receiver.empty()) return std::nullopt;
  const std::string& inside = function(from).scope;
  std::string declared = call.receiver;
  uint32_t file = from.file;
  if (declared.starts_with('.')) {
    const auto field = field_type(std::string_view(declared).substr(1), from);
    if (!field) return std::nullopt;
    std::tie(declared, file) = *field;
  }
  if (declared.starts_with("std::")) return std::vector<Method>();
  if (!class_names_.contains(last_name(declared))) return std::nullopt;
  const std::vector<Candidate>& meant =
      index_.resolve(declared, {file, inside}, SymbolKind::kClass);
  if (meant.empty() || meant.size() > kMostClasses) return std::nullopt;
  const std::string_view name = last_name(call.name);
  std::vector<Method> out;
  for (const Candidate& one : meant) {
    std::vector<CppRef> own;
    for (const SymbolId id : with_bases(one.symbol)) {
      if (own.empty()) own = find(id, name);
    }
    const size_t before = out.size();
    for (const CppRef& ref : own) out.push_back({ref, one.certainty});
    for (const SymbolId id : derived_from(one.symbol)) {
      for (const CppRef& ref : find(id, name)) out.push_back({ref, one.certainty});
    }
    // Which class's it is, or which overload, is decided when it runs or by types.
    const size_t found = out.size() - before;
    for (size_t i = before; i < out.size() && found > 1; ++i) {
      const bool overloads = own.size() == found;
      out[i].certainty =
          std::max(out[i].certainty, overloads ? Certainty::kLikely : Certainty::kUnsure);
    }
  }
  if (out.size() > kMostDerived) return std::vector<Method>();
  return out;
}

std::vector<CppReceivers::Method> CppReceivers::constructors(const cpp::Call& call,
                                                             const CppRef& from) const {
  const std::string_view name = last_name(call.name);
  if (!class_names_.contains(name)) return {};
  const NameScope at{from.file, function(from).scope};
  const std::vector<Candidate>& meant = index_.resolve(call.name, at, SymbolKind::kClass);
  std::vector<Method> out;
  for (size_t i = 0; i < meant.size() && meant.size() <= kMostClasses; ++i) {
    const std::vector<CppRef> own = find(meant[i].symbol, name);
    const Certainty several = own.size() == 1 ? Certainty::kCertain : Certainty::kLikely;
    for (const CppRef& ref : own) out.push_back({ref, std::max(meant[i].certainty, several)});
  }
  return out;
}

}  // namespace fathom
