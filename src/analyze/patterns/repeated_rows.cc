// Rows that are repeated before a model instead of after it: the same rows are computed several
// times.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

struct RepeatedIds {
  int64_t before = 0, after = 0;  // elements
};

// Ids of tokens that an op repeats: equal ids have equal rows in all of the model.
std::optional<RepeatedIds> repeated_ids(const PatternInput& in, const AssessedCall& call) {
  constexpr int64_t kFewest = 64;
  const std::optional<CallId> op = in.around(call.op->event, Role::kRepeat);
  if (!op) return {};
  const EventId event = in.tree().event(*op);
  const auto args = read_op_args(in.store(), in.store().args_id(event));
  const ArgValue* ids = args ? args->at(0) : nullptr;
  if (ids == nullptr || !ids->is_tensor() || !is_integer_type(*ids)) return {};
  RepeatedIds found{elements_of(*ids), 0};
  for (const ArgValue& value : in.view(call).args.inputs)
    if (value.is_tensor()) found.after = std::max(found.after, elements_of(value));
  const bool repeats =
      found.before >= kFewest && found.after >= 2 * found.before && found.after % found.before == 0;
  return repeats ? std::optional(found) : std::nullopt;
}

// Whether an embedding looks these ids up next.
bool are_looked_up(const PatternInput& in, size_t place, int64_t ids) {
  constexpr size_t kNext = 6;
  const std::vector<AssessedCall>& calls = in.calls();
  for (size_t i = place + 1; i < std::min(calls.size(), place + 1 + kNext); ++i) {
    if (!in.same_thread(calls[i], calls[place])) return false;
    if (!in.any_around(calls[i].op->event, "aten::embedding")) continue;
    return std::ranges::any_of(in.view(calls[i]).args.inputs, [ids](const ArgValue& value) {
      if (!value.is_tensor() || !is_integer_type(value)) return false;
      return elements_of(value) == ids || value.shape.dims.front() == ids;
    });
  }
  return false;
}

// Whether the first operand has one row for each id, as [ids, …], [rows, ids of a row, …] or with
// heads between.
bool has_row_for_each(const OpView& view, int64_t ids) {
  const ArgValue* first = view.tensor(0);
  if (first == nullptr) return false;
  const std::vector<int64_t>& dims = first->shape.dims;
  if (dims.size() > 1 && dims[0] == ids) return true;
  for (size_t i = 1; i + 1 < dims.size() && i < 3; ++i)
    if (dims[i] > 1 && dims[0] > 1 && ids % dims[i] == 0 && ids / dims[i] == dims[0]) return true;
  return false;
}

}  // namespace

std::vector<Finding> repeated_rows(const PatternInput& in) {
  constexpr size_t kLayers = 4;  // products
  if (in.has_backward()) return {};
  const std::vector<AssessedCall>& calls = in.calls();
  MatchedCalls found;
  double saved = 0;
  size_t products = 0, repeats = 0;
  int64_t times = 0;
  EventId repeat;
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto ids = repeated_ids(in, calls[i]);
    if (!ids || !are_looked_up(in, i, ids->after)) continue;
    ++repeats;
    times = std::max(times, ids->after / ids->before);
    if (!repeat.valid()) repeat = calls[i].op->event;
    const size_t step = in.step_of(calls[i]);
    const double part = 1 - static_cast<double>(ids->before) / static_cast<double>(ids->after);
    for (; i + 1 < calls.size() && in.same_thread(calls[i], calls[i + 1]) &&
           in.step_of(calls[i + 1]) == step && !repeated_ids(in, calls[i + 1]);
         ++i) {
      const AssessedCall& call = calls[i + 1];
      if (!has_row_for_each(in.view(call), ids->after)) continue;
      found.add(call, false);
      saved += part * seconds_of(call.time) * call.assessed->counted;
      products += in.product(*call.assessed).has_value();
    }
  }
  if (products < kLayers * repeats || found.empty() || !is_noticeable(in, saved)) return {};
  Traits traits;
  traits.add("repeated_rows");
  PatternText text{FindingKind::kRecompute, "repeated rows",
                   fmt::format("Token ids are repeated before the model: the same rows are "
                               "computed {} times",
                               times),
                   fmt::format("{} of ids in front of an embedding. The ops on one row for each "
                               "repeated id take {}, and {} of {} rows are copies.",
                               per_step(in, repeats, "repetition", "repetitions"),
                               micros_text(nanos_from(found.seconds())), times - 1, times),
                   Confidence::kMedium};
  Finding f =
      pattern_finding(in, std::move(text), found, {0, saved, "", "each row computed once"}, traits);
  put_first(in, f, repeat);
  return {std::move(f)};
}

}  // namespace fathom::patterns
