#include "scan/index/class_tree.h"

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
    if (index_.named(last_name(name), SymbolKind::kClass).empty()) continue;
    for (const Candidate& one :
         index_.resolve(name, {symbol.file, symbol.scope}, SymbolKind::kClass)) {
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
