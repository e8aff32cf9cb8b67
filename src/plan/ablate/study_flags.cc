#include <algorithm>
#include <cmath>

#include "plan/ablate/study_parts.h"
#include "sheets/kernel_contexts.h"

namespace fathom::ablate {
namespace {

constexpr double kLeastEffect = 0.01;  // of the logarithm: below 1 % nothing is claimed
constexpr double kSmallEffect = 0.05;  // an interval within it holds none that matters

const StudyRow* row_of_flags(const Study& study, std::vector<std::string> names) {
  std::ranges::sort(names);
  for (const StudyRow& row : study.rows) {
    std::vector<std::string> own = row.variant->flag_names;
    std::ranges::sort(own);
    if (own == names) return row.state == RowState::kTimed ? &row : nullptr;
  }
  return nullptr;
}

SpeedUp between(const StudyRow& before, const StudyRow& after) {
  return speed_up(first_times(before.measured->cases[0]), first_times(after.measured->cases[0]));
}

double half_width(const Estimate& time) { return std::log(time.high / time.low) / 2; }

// How far the two effects are apart, as a logarithm, and the noise of that.
double discrepancy(const FlagEffect& effect) {
  return effect.alone && effect.in_all ? std::log(effect.alone->ratio / effect.in_all->ratio) : 0;
}

void add_effect(Study& study, const std::string& flag, const StudyRow* none, const StudyRow* all) {
  FlagEffect effect;
  effect.flag = flag;
  std::vector<std::string> others;
  for (const std::string& name : study.suite->flags) {
    if (name != flag) others.push_back(name);
  }
  const StudyRow* only = row_of_flags(study, {flag});
  const StudyRow* without = row_of_flags(study, others);
  if (none != nullptr && only != nullptr) effect.alone = between(*none, *only);
  if (all != nullptr && without != nullptr) effect.in_all = between(*without, *all);
  if (effect.alone && effect.in_all) {
    const auto noise = [](const SpeedUp& s) { return std::log(s.high / s.low) / 2; };
    effect.differs =
        std::abs(discrepancy(effect)) >
        std::max(kLeastEffect, std::hypot(noise(*effect.alone), noise(*effect.in_all)));
  }
  study.flags.push_back(std::move(effect));
}

void add_pair(Study& study, const std::string& a, const std::string& b, const StudyRow& none) {
  const StudyRow* first = row_of_flags(study, {a});
  const StudyRow* second = row_of_flags(study, {b});
  const StudyRow* both = row_of_flags(study, {a, b});
  if (first == nullptr || second == nullptr || both == nullptr) return;
  const Estimate &t0 = *none.times[0], &ta = *first->times[0], &tb = *second->times[0],
                 &tab = *both->times[0];
  PairEffect pair{
      a, b, (t0.median / ta.median) * (t0.median / tb.median), between(none, *both), {}};
  const double size = std::log(ta.median * tb.median / (t0.median * tab.median));
  double squares = 0;
  for (const Estimate* time : {&t0, &ta, &tb, &tab})
    squares += half_width(*time) * half_width(*time);
  const double noise = std::sqrt(squares);
  pair.interaction = {std::exp(size), std::exp(size - noise), std::exp(size + noise),
                      std::abs(size) > std::max(noise, kLeastEffect)
                          ? (size > 0 ? Difference::kFaster : Difference::kSlower)
                      : std::abs(size) + noise <= kSmallEffect ? Difference::kNone
                                                               : Difference::kNotResolved};
  study.pairs.push_back(std::move(pair));
}

bool was_tried(const StudyRow& row) { return row.state != RowState::kNotMeasured; }

}  // namespace

void add_flag_effects(Study& study) {
  if (!study.suite->has_flags) return;
  const std::vector<std::string>& flags = study.suite->flags;
  const StudyRow* none = row_of_flags(study, {});
  const StudyRow* all = row_of_flags(study, flags);
  for (const std::string& flag : flags) add_effect(study, flag, none, all);
  if (none == nullptr) return;
  for (size_t i = 0; i < flags.size(); ++i) {
    for (size_t j = i + 1; j < flags.size(); ++j) add_pair(study, flags[i], flags[j], *none);
  }
}

std::vector<std::string> pairs_that_matter(const Study& study) {
  std::vector<std::pair<double, std::string>> ranked;
  const auto effect_of = [&](const std::string& flag) {
    return std::ranges::find(study.flags, flag, &FlagEffect::flag);
  };
  for (const Variant& variant : study.suite->variants) {
    if (!variant.only_if_pairs_matter || variant.flag_names.size() != 2) continue;
    const auto a = effect_of(variant.flag_names[0]), b = effect_of(variant.flag_names[1]);
    if (a == study.flags.end() || b == study.flags.end() || (!a->differs && !b->differs)) continue;
    ranked.emplace_back(-(std::abs(discrepancy(*a)) + std::abs(discrepancy(*b))), variant.name);
  }
  std::ranges::sort(ranked);
  std::vector<std::string> names;
  for (const auto& [rank, name] : ranked) {
    if (names.size() == static_cast<size_t>(study.suite->most_pairs)) break;
    names.push_back(name);
  }
  return names;
}

void find_next(Study& study) {
  if (!study.best) return;
  const StudyRow& best = study.rows[*study.best];
  for (const TestedHypothesis& tested : best.tested) {
    if (tested.verdict == Verdict::kUntested) {
      for (const std::string_view name : tested.missing) {
        if (std::ranges::find(study.missing_counts, name) == study.missing_counts.end())
          study.missing_counts.emplace_back(name);
      }
      continue;
    }
    if (tested.verdict != Verdict::kConfirmed) continue;
    const std::string_view id = tested.hypothesis->id;
    NextHypothesis next;
    next.tested = tested;
    next.most_gain = tested.most_gain();
    if (best.floor && next.most_gain) {
      const double left = best.times[0]->median / *best.floor;
      next.is_bounded = left < *next.most_gain;
      next.most_gain = std::min(*next.most_gain, left);
    }
    bool tried_here = false;
    for (const StudyRow& row : study.rows) {
      if (row.variant->hypothesis != id || !was_tried(row)) continue;
      if (study.parent_of(row) == &best) tried_here = true;
      next.tried_in = row.variant->name;
    }
    for (const Note& note : study.measurements->notes) {
      if (note.hypothesis == id && note.variant == best.variant->name &&
          note.step != "hypothesis" && note.step != "identified")
        tried_here = true;
    }
    if (tried_here) continue;
    KernelContext context;
    context.values = best.measured->counters.values;
    next.evidence = evidence_text(context, tested);
    study.next.push_back(std::move(next));
  }
  std::ranges::stable_sort(study.next, [](const NextHypothesis& a, const NextHypothesis& b) {
    if (a.tested.explained_by.empty() != b.tested.explained_by.empty())
      return a.tested.explained_by.empty();
    return a.most_gain.value_or(1) > b.most_gain.value_or(1);
  });
  if (!study.missing_counts.empty()) {
    const std::vector<std::string_view> names(study.missing_counts.begin(),
                                              study.missing_counts.end());
    study.missing_command = command_for(names);
  }
}

}  // namespace fathom::ablate
