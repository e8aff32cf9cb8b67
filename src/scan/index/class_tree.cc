#include "scan/index/class_tree.h"

#include <algorithm>

#include "scan/facts/code_names.h"
#include "scan/facts/text_lines.h"

namespace fathom {
namespace {

constexpr size_t kMostBases = 8, kMostDerived = 24;

// "public ns::Base<T>" → "ns::Base"
std::string_view base_name(std::string_view written) {
  const size_t space = written.find_last_of(" \t", written.find('<'));
  if (space != std::string_view::npos) written.remove_prefix(space + 1);
  return written.substr(0, written.find('<'));
}

}  // namespace

std::vector<Candidate> ClassTree::classes_of(std::string_view written, const NameScope& at) const {
  constexpr int kDeepest = 6;  // aliases of aliases
  NameScope place = at;
  auto certainty = Certainty::kCertain;
  for (int depth = 0; depth < kDeepest; ++depth) {
    static const std::vector<Candidate> none;
    const auto meant = [&](SymbolKind kind) -> const std::vector<Candidate>& {
      const bool named = !index_.named(last_name(written), kind).empty();
      return named ? index_.resolve(written, place, kind) : none;
    };
    const std::vector<Candidate>& classes = meant(SymbolKind::kClass);
    const std::vector<Candidate>& aliases = meant(SymbolKind::kAlias);
    const auto nearness = [](const Candidate& one) { return std::pair(one.sight, one.fit); };
    if (aliases.size() != 1 || (!classes.empty() && nearness(classes[0]) <= nearness(aliases[0]))) {
      std::vector<Candidate> out = classes;
      for (Candidate& one : out) one.certainty = std::max(one.certainty, certainty);
      return out;
    }
    certainty = std::max(certainty, aliases[0].certainty);
    const Symbol& alias = index_.symbol(aliases[0].symbol);
    const std::vector<std::string>& stands_for = index_.code(alias.file).usage->alias_types;
    if (alias.index >= stands_for.size() || stands_for[alias.index].empty()) return {};
    written = stands_for[alias.index];
    place = {alias.file, alias.scope};
  }
  return {};
}

ClassTree::ClassTree(const SymbolIndex& index) : index_(index) {
  for (uint32_t i = 0; i < index.size(); ++i) {
    if (index.symbol({i}).kind != SymbolKind::kClass) continue;
    Ids bases = bases_written({i});
    for (const SymbolId base : bases) derived_[base].push_back({i});
    if (!bases.empty()) bases_.emplace(SymbolId{i}, std::move(bases));
  }
}

std::vector<SymbolId> ClassTree::bases_written(SymbolId type) const {
  Ids out;
  const Symbol& symbol = index_.symbol(type);
  for (const std::string& base : index_.code(symbol.file).cpp->classes[symbol.index].bases) {
    const std::string_view name = base_name(base);
    for (const Candidate& one : classes_of(name, {symbol.file, symbol.scope})) {
      if (one.certainty != Certainty::kUnsure && one.symbol != type) out.push_back(one.symbol);
    }
  }
  return out;
}

std::vector<SymbolId> ClassTree::with_bases(SymbolId type) const {
  Ids out = {type};
  for (size_t i = 0; i < out.size() && out.size() < kMostBases; ++i) {
    const auto found = bases_.find(out[i]);
    if (found == bases_.end()) continue;
    for (const SymbolId base : found->second) {
      if (!contains(out, base)) out.push_back(base);
    }
  }
  return out;
}

std::vector<SymbolId> ClassTree::derived_from(SymbolId type) const {
  Ids out = {type};
  for (size_t i = 0; i < out.size() && out.size() <= kMostDerived; ++i) {
    const auto found = derived_.find(out[i]);
    if (found == derived_.end()) continue;
    for (const SymbolId one : found->second) {
      if (!contains(out, one)) out.push_back(one);
    }
  }
  out.erase(out.begin());
  return out;
}

}  // namespace fathom
