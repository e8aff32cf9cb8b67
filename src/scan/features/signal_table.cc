#include "scan/features/signal_table.h"

#include <algorithm>

#include "base/glob.h"
#include "base/hash.h"
#include "base/tsv.h"
#include "scan/features/file_weight.h"
#include "scan/features/signal_search.h"

namespace fathom {

FileSignals HitCollector::take() {
  std::ranges::sort(hits_, {}, &SignalHit::signal);
  return std::move(hits_);
}

SignalTable::SignalTable(const FeatureRules& rules) : signal_count_(rules.signals().size()) {
  for (uint32_t i = 0; i < rules.signals().size(); ++i) {
    const Signal& signal = rules.signals()[i];
    for (const std::string& alternative : signal.alternatives) add(i, signal.kind, alternative);
  }
  // Their addresses are taken only now that no more are added.
  for (const Wanted& wanted : exact_) exact_by_name_[wanted.glob].push_back(&wanted);
}

const SignalTable& SignalTable::built_in() {
  static const SignalTable table(FeatureRules::built_in());
  return table;
}

void SignalTable::add(uint32_t index, SignalKind kind, std::string_view alternative) {
  Wanted wanted{index, kind, std::string(alternative), {}};
  if (kind == SignalKind::kCall) {
    for (const std::string_view part : split(alternative, '.'))
      wanted.qualifiers.emplace_back(part);
    wanted.glob = wanted.qualifiers.back();
    wanted.qualifiers.pop_back();
  }
  const bool is_exact = wanted.glob.find_first_of("*?") == std::string::npos;
  switch (kind) {
    case SignalKind::kName:
    case SignalKind::kCall:
      (is_exact ? exact_ : globs_).push_back(std::move(wanted));
      break;
    case SignalKind::kClass:
    case SignalKind::kDef:
      definitions_.push_back(std::move(wanted));
      break;
    case SignalKind::kImport:
      modules_.push_back(std::move(wanted));
      break;
    case SignalKind::kInclude:
      headers_.push_back(std::move(wanted));
      break;
    case SignalKind::kPattern:
    case SignalKind::kKernel:
    case SignalKind::kOption:
    case SignalKind::kPath:
      break;  // facts of the whole repository
  }
}

SignalTable::Matches SignalTable::names(std::string_view identifier) const {
  const std::string folded = fold_name(identifier);
  Matches found;
  if (const auto exact = exact_by_name_.find(folded); exact != exact_by_name_.end()) {
    found = exact->second;
  }
  if (is_stand_in(folded)) return found;
  for (const Wanted& wanted : globs_) {
    if (glob_matches(wanted.glob, folded)) found.push_back(&wanted);
  }
  return found;
}

SignalTable::Matches SignalTable::definitions(std::string_view identifier, SignalKind kind) const {
  const std::string folded = fold_name(identifier);
  Matches found;
  if (is_stand_in(folded)) return found;
  for (const Wanted& wanted : definitions_) {
    if (wanted.kind == kind && glob_matches(wanted.glob, folded)) found.push_back(&wanted);
  }
  return found;
}

const SignalTable::Matches& SignalFinder::matches(std::string_view identifier, SignalKind role) {
  const uint64_t key = mix_bits(hash_text(identifier), static_cast<uint64_t>(role));
  const auto [entry, is_new] = seen_.try_emplace(key, 0);
  if (is_new) {
    SignalTable::Matches found =
        role == SignalKind::kName ? table_.names(identifier) : table_.definitions(identifier, role);
    if (!found.empty()) {
      entry->second = static_cast<uint32_t>(found_.size());
      found_.push_back(std::move(found));
    }
  }
  return found_[entry->second];
}

}  // namespace fathom
