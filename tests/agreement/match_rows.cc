#include "match_rows.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

namespace fathom::agreement {
namespace {

void check_our_sorting(const SheetRule& rule, const Csv& ours, std::vector<OrderFault>& faults) {
  for (size_t row = 1; row < ours.rows.size(); ++row) {
    const auto before = parse_number(ours.cell(row - 1, rule.sorted_by));
    const auto here = parse_number(ours.cell(row, rule.sorted_by));
    if (!before || !here) continue;  // reported as a cell
    const auto first = parse_number(ours.cell(row - 1, rule.then_by));
    const auto second = parse_number(ours.cell(row, rule.then_by));
    const bool tie_broken_wrongly = *here == *before && first && second && *second < *first;
    if (*here <= *before && !tie_broken_wrongly) continue;
    faults.push_back({find_key(rule, ours, row), std::string(ours.cell(row, rule.sorted_by)),
                      "after " + std::string(ours.cell(row - 1, rule.sorted_by)),
                      tie_broken_wrongly
                          ? "our tie is not in rising order of " + std::string(rule.then_by)
                          : "ours is not in falling order of " + std::string(rule.sorted_by)});
  }
}

}  // namespace

std::string find_key(const SheetRule& rule, const Csv& csv, size_t row) {
  if (rule.keys.empty()) return "bin " + std::to_string(row);
  std::string key;
  for (const auto column : rule.keys) {
    if (column != rule.keys.front()) key += '|';
    key += csv.cell(row, column);
  }
  return key;
}

RowMatch match_rows(const SheetRule& rule, const Csv& ours, const Csv& theirs) {
  std::map<std::string, std::deque<size_t>> waiting;
  for (size_t row = 0; row < theirs.rows.size(); ++row) {
    waiting[find_key(rule, theirs, row)].push_back(row);
  }
  RowMatch match;
  for (size_t row = 0; row < ours.rows.size(); ++row) {
    auto& candidates = waiting[find_key(rule, ours, row)];
    if (candidates.empty()) {
      match.only_ours.push_back(row);
      continue;
    }
    match.pairs.emplace_back(row, candidates.front());
    match.theirs_by_rank.push_back(candidates.front());
    candidates.pop_front();
  }
  for (const auto& [key, rest] : waiting) {
    match.only_theirs.insert(match.only_theirs.end(), rest.begin(), rest.end());
  }
  std::sort(match.only_theirs.begin(), match.only_theirs.end());
  std::sort(match.theirs_by_rank.begin(), match.theirs_by_rank.end());
  return match;
}

std::vector<OrderFault> check_order(const SheetRule& rule, const Csv& ours, const Csv& theirs,
                                    const RowMatch& rows, const EventCounts& events) {
  std::vector<OrderFault> faults;
  if (!rule.sorted_by.empty()) check_our_sorting(rule, ours, faults);
  const auto may_swap = [&](size_t a, size_t b) {
    if (rule.sorted_by.empty()) return false;
    const auto first = parse_number(theirs.cell(a, rule.sorted_by));
    const auto second = parse_number(theirs.cell(b, rule.sorted_by));
    if (!first || !second) return false;
    return std::abs(*first - *second) <=
           std::max(find_tolerance(rule.sorted_by, theirs, a, events),
                    find_tolerance(rule.sorted_by, theirs, b, events));
  };
  // All pairs, not neighbours: being within tolerance is not transitive. One fault for each row is
  // enough.
  for (size_t i = 0; i < rows.pairs.size(); ++i) {
    for (size_t j = i + 1; j < rows.pairs.size(); ++j) {
      const size_t first = rows.pairs[i].second, second = rows.pairs[j].second;
      if (first < second || may_swap(first, second)) continue;
      faults.push_back({find_key(rule, ours, rows.pairs[i].first),
                        "row " + std::to_string(rows.pairs[i].first + 1),
                        "row " + std::to_string(first + 1),
                        "ours has it before " + find_key(rule, theirs, second)});
      break;
    }
  }
  return faults;
}

}  // namespace fathom::agreement
