// The timed runs of an ablation's variants.
#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/text_parts.h"
#include "session/code/ablate_steps.h"
#include "session/code/command_output.h"
#include "trial/order.h"

namespace fathom::ablate {

Status AblateSteps::time_all(bool pairs) {
  const Suite& suite = *a_.suite_;
  std::optional<LogPattern> first, second;
  if (!suite.timing.pattern.empty()) first = TRY(LogPattern::parse(suite.timing.pattern));
  if (suite.timing.second == SecondTimer::kPrinted)
    second = TRY(LogPattern::parse(suite.timing.second_pattern));
  std::vector<Slot> slots;
  for (size_t v = 0; v < suite.variants.size(); ++v) {
    if (!is_wanted(v, pairs) || !is_checked(v)) continue;
    for (size_t c = 0; c < suite.cases.size(); ++c) slots.push_back({v, c});
  }
  const auto done = [&](const Slot& slot) -> const std::vector<int64_t>& {
    auto& rounds = a_.found_.rounds[suite.variants[slot.variant].name];
    rounds.resize(suite.cases.size());
    return rounds[slot.in_case];
  };
  const auto is_left = [&](const Slot& slot, int64_t round) {
    return measured(slot.variant).cases[slot.in_case].problem.empty() &&
           !contains(done(slot), round);
  };
  for (const Slot& slot : slots) {
    const auto rounds = std::views::iota(int64_t{0}, suite.repetitions);
    if (std::ranges::none_of(rounds, [&](int64_t r) { return is_left(slot, r); })) continue;
    for (int64_t i = 0; i < suite.warmup; ++i) TRY(time_slot(slot, -1, nullptr, nullptr));
  }
  const std::vector<size_t> order =
      interleaved(slots.size(), static_cast<size_t>(suite.repetitions));
  for (size_t n = 0; n < order.size(); ++n) {
    const auto round = static_cast<int64_t>(n / std::max<size_t>(1, slots.size()));
    const Slot& slot = slots[order[n]];
    if (!is_left(slot, round)) continue;
    TRY(time_slot(slot, round, first ? &*first : nullptr, second ? &*second : nullptr));
  }
  return Nothing{};
}

// Round −1 is a warm-up.
Status AblateSteps::time_slot(const Slot& slot, int64_t round, const LogPattern* first,
                              const LogPattern* second) {
  const Suite& suite = *a_.suite_;
  const VariantPlan& plan = a_.plan_.variants[slot.variant];
  const Variant& variant = suite.variants[slot.variant];
  const std::string& case_name = suite.cases[slot.in_case].name;
  const std::string shown = variant.name + (case_name.empty() ? "" : ", " + case_name);
  tell(round < 0 ? fmt::format("warm-up of {}", shown)
                 : fmt::format("run {} of {} of {}", round + 1, suite.repetitions, shown));
  gpu_.start();
  const Result<Ran> result = run_one(plan.runs[slot.in_case], a_.plan_.builds[plan.build].tree,
                                     fmt::format("{}.run.{}", variant.name, slot.in_case));
  const GpuState::Reading gpu = gpu_.stop();
  const Ran ran = TRY(result);
  Sample sample;
  sample.wall = ran.seconds;
  sample.clock_mhz = gpu.clock_mhz;
  sample.temperature = gpu.temperature;
  std::string problem;
  if (!ran.end.ok()) {
    const double limit = static_cast<double>(plan.runs[slot.in_case].timeout_ms) / 1e3;
    problem = end_reason(ran.end, limit, ran.output);
  } else if (round >= 0) {
    const auto printed = [&](const LogPattern& pattern) -> std::optional<double> {
      const auto number = printed_number(pattern, ran.output);
      return number ? std::optional(*number * suite.timing.unit) : std::nullopt;
    };
    const auto time = first != nullptr ? printed(*first) : std::optional(ran.seconds);
    if (!time)
      problem = fmt::format("printed no '{}'", suite.timing.pattern);
    else if (!(*time > 0) || *time > 1e9)
      problem = fmt::format("printed {:g} s, which is no time", *time);
    else
      sample.seconds = *time;
    if (second != nullptr) sample.second = printed(*second);
    if (suite.timing.second == SecondTimer::kWall) sample.second = ran.seconds;
  }
  if (round < 0 && problem.empty()) {
    a_.found_.measurements.seconds_spent += ran.seconds;
    return journal_.append(warmup_record(ran.seconds));
  }
  sample.order = a_.found_.next_order++;
  TRY(journal_.append(run_record(step_of(slot.variant, plan.run_keys[slot.in_case]), case_name,
                                 std::max<int64_t>(round, 0), sample, problem)));
  a_.found_.measurements.seconds_spent += ran.seconds;
  Timed& timed = measured(slot.variant).cases[slot.in_case];
  if (problem.empty())
    timed.samples.push_back(sample);
  else
    timed.problem = problem;
  return Nothing{};
}

}  // namespace fathom::ablate
