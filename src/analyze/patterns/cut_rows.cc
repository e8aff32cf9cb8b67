// Rows that are computed and then cut off: padding to a length that few batches have, room of
// experts that stays empty.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

constexpr double kMostKept = 0.75;          // more is left out of small batches, too
constexpr int64_t kManyElements = 1 << 16;  // of the tensor that is cut
constexpr uint32_t kViewsAfterCut = 48;     // after a cut
constexpr size_t kCallsAfterCut = 24;       // likewise, with GPU work
constexpr size_t kProducedWithin = 3;       // calls before a cut

// "[4096, 1024]" of a recorded argument.
std::optional<std::vector<int64_t>> numbers_of(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return {};
  std::vector<int64_t> numbers;
  const char* at = text.data() + 1;
  const char* end = text.data() + text.size() - 1;
  while (at < end) {
    int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc{}) return {};
    numbers.push_back(value);
    at = next;
    while (at < end && (*at == ',' || *at == ' ')) ++at;
  }
  return numbers;
}

// A view or lookup that takes a part of a tensor's rows, and leaves the others.
struct Cut {
  CallId call;
  std::vector<int64_t> dims;  // of the whole tensor
  int64_t length = 0, kept = 0;
  bool is_slice = false;

  int64_t elements() const { return element_count(dims).value_or(0); }
  int64_t rows() const { return dims.back() > 0 ? elements() / dims.back() : 0; }
  double part() const { return static_cast<double>(kept) / static_cast<double>(length); }
};

bool may_be_cut(const std::vector<int64_t>& dims) {
  return dims.size() >= 2 && dims.back() > 0 && element_count(dims).value_or(0) >= kManyElements;
}

// x[:, :length] along another dimension than the last.
std::optional<Cut> slice_at(const PatternInput& in, CallId call) {
  const auto args = read_op_args(in.store(), in.store().args_id(in.tree().event(call)));
  if (!args || args->inputs.size() < 4 || !args->inputs[0].is_tensor()) return {};
  const std::vector<int64_t>& dims = args->inputs[0].shape.dims;
  const auto number = [&](size_t i) { return numbers_of("[" + args->inputs[i].concrete + "]"); };
  const auto dimension = number(1), begin = number(2), end = number(3);
  if (!may_be_cut(dims) || !dimension || dimension->size() != 1 || !end || end->size() != 1)
    return {};
  if (begin && begin->size() == 1 && begin->front() != 0) return {};
  const int64_t d = dimension->front();
  if (d < 0 || d + 1 >= std::ssize(dims)) return {};
  const int64_t length = dims[static_cast<size_t>(d)], kept = end->front();
  // One row of many is what a class token or the last position is.
  if (kept < 2 || static_cast<double>(kept) > kMostKept * static_cast<double>(length)) return {};
  return Cut{call, dims, length, kept, true};
}

// room[expert, place]: the op's own view tells how much it gives.
std::optional<Cut> lookup_at(const PatternInput& in, CallId call) {
  const auto args = read_op_args(in.store(), in.store().args_id(in.tree().event(call)));
  if (!args || args->inputs.empty() || !args->inputs[0].is_tensor()) return {};
  const std::vector<int64_t>& dims = args->inputs[0].shape.dims;
  if (!may_be_cut(dims)) return {};
  for (CallId c(call.index + 1); c < in.tree().subtree_end(call); ++c.index) {
    const EventId event = in.tree().event(c);
    if (in.store().name(event) != "aten::as_strided") continue;
    const auto view = read_op_args(in.store(), in.store().args_id(event));
    if (!view || view->inputs.size() < 2 || view->inputs[0].shape.dims != dims) continue;
    const auto given = numbers_of(view->inputs[1].concrete);
    if (!given || given->empty() || given->back() != dims.back()) return {};
    Cut cut{call, dims, 0, element_count(*given).value_or(0) / dims.back(), false};
    cut.length = cut.rows();
    if (cut.kept < 2 || cut.part() > kMostKept) return {};
    return cut;
  }
  return {};
}

class CutRows {
 public:
  explicit CutRows(const PatternInput& in) : in_(in) {}

  // In the order of calls.
  void add(const Cut& cut) {
    const EventId event = in_.tree().event(cut.call);
    const TrackId track = in_.store().track_id(event);
    const Nanos when = in_.store().start(event);
    const size_t after = first_after(track, when);
    if (after == 0 || is_read_whole(cut, after) || has_other_parts(cut)) return;
    if (!is_made_before(cut, after)) return;
    find_work(cut, after);
  }

  MatchedCalls found;
  double least = 0, most = 0;
  size_t padded = 0, cuts = 0;
  Cut first;  // of those told

 private:
  size_t first_after(TrackId track, Nanos when) const {
    const auto& calls = in_.calls();
    const auto at = std::ranges::lower_bound(
        calls, std::pair(track, when), {}, [this](const AssessedCall& call) {
          return std::pair(in_.store().track_id(call.op->event), in_.store().start(call.op->event));
        });
    return static_cast<size_t>(at - calls.begin());
  }

  bool is_in_step_of(const Cut& cut, const AssessedCall& call) const {
    const EventId event = in_.tree().event(cut.call);
    return in_.store().track_id(event) == in_.store().track_id(call.op->event) &&
           step_at(in_.store().start(event)) == step_at(in_.store().end(call.op->event));
  }

  // Something else reads all rows later: a loss, the next layer.
  bool is_read_whole(const Cut& cut, size_t after) const {
    const size_t end = std::min(in_.calls().size(), after + kCallsAfterCut);
    for (size_t i = after; i < end && is_in_step_of(cut, in_.calls()[i]); ++i) {
      if (in_.calls()[i].op->event == in_.tree().event(cut.call)) continue;  // the lookup itself
      for (const ArgValue& value : in_.view(in_.calls()[i]).args.inputs)
        if (value.is_tensor() && value.shape.dims == cut.dims) return true;
    }
    return false;
  }

  // The other rows are taken by another view: nothing is left out.
  bool has_other_parts(const Cut& cut) const {
    const EventStore& store = in_.store();
    const EventId event = in_.tree().event(cut.call);
    const ArgsId own = store.args_id(event);
    CallId at = in_.tree().subtree_end(cut.call);
    for (uint32_t i = 0; i < kViewsAfterCut && at.index < in_.tree().size(); ++i, ++at.index) {
      const EventId other = in_.tree().event(at);
      if (store.track_id(other) != store.track_id(event)) return false;
      const std::string_view name = store.name(other);
      if (name != "aten::slice" && name != "aten::select" && name != "aten::index") continue;
      if (store.args_id(other) == own) continue;
      const auto args = read_op_args(store, store.args_id(other));
      if (args && !args->inputs.empty() && args->inputs[0].shape.dims == cut.dims) return true;
    }
    return false;
  }

  // One of the calls right before it gives a tensor of the size: it is no parameter, no cache.
  bool is_made_before(const Cut& cut, size_t after) const {
    for (size_t back = 1; back <= std::min(kProducedWithin, after); ++back) {
      const AssessedCall& call = in_.calls()[after - back];
      if (!is_in_step_of(cut, call)) return false;
      if (const auto& size = in_.product(*call.assessed);
          size && element_count({size->batch, size->m, size->n}) == cut.elements())
        return true;
      if (!is_pointwise(*call.assessed)) continue;
      for (const ArgValue& value : in_.view(call).args.inputs)
        if (value.is_tensor() && elements_of(value) == cut.elements()) return true;
    }
    return false;
  }

  // Whether an op works on all rows: a product of as many, or a tensor with that dimension.
  bool carries_rows(const Cut& cut, const AssessedCall& call) const {
    const int64_t rows = cut.rows();
    if (const auto& size = in_.product(*call.assessed)) {
      if (size->m == rows || element_count({size->batch, size->m}) == rows) return true;
    }
    for (const ArgValue& value : in_.view(call).args.inputs) {
      if (!value.is_tensor() || elements_of(value) < rows || elements_of(value) % rows != 0)
        continue;
      const std::vector<int64_t>& dims = value.shape.dims;
      if (cut.is_slice && std::ranges::find(dims, cut.length) != dims.end()) return true;
      int64_t leading = 1;
      for (const int64_t dim : dims) {
        if (leading == rows) return true;
        if (dim < 1 || leading > rows) break;
        leading *= dim;
      }
    }
    return false;
  }

  // The part of the rows that an op fills at the beginning: a padding, or a scatter into zeros.
  std::optional<double> part_filled(const AssessedCall& call) const {
    const OpView& view = in_.view(call);
    const std::string_view name = call.assessed->group->key.name;
    if (name.find("index_put") != std::string_view::npos) {
      const ArgValue *whole = view.tensor(0), *values = view.tensor(1);
      if (whole == nullptr || values == nullptr || elements_of(*whole) == 0) return {};
      return static_cast<double>(elements_of(*values)) / static_cast<double>(elements_of(*whole));
    }
    if (!view.has(Role::kFill) || !in_.any_around(call.op->event, "aten::constant_pad_nd"))
      return {};
    CallId pad = in_.tree().call(call.op->event);
    while (pad.valid() && in_.store().name(in_.tree().event(pad)) != "aten::constant_pad_nd")
      pad = in_.tree().parent(pad);
    const auto args = read_op_args(in_.store(), in_.store().args_id(in_.tree().event(pad)));
    const ArgValue* whole = view.tensor(0);
    if (!args || args->inputs.empty() || whole == nullptr || elements_of(*whole) == 0) return {};
    return static_cast<double>(elements_of(args->inputs[0])) /
           static_cast<double>(elements_of(*whole));
  }

  // All work on these rows back to where they begin: the padding, the cut before, or the step.
  void find_work(const Cut& cut, size_t after) {
    constexpr double kAlike = 0.02;
    std::vector<size_t> work;
    bool is_padded = false, has_product = false;
    for (size_t i = after; i-- > told_until_ && is_in_step_of(cut, in_.calls()[i]);) {
      const AssessedCall& call = in_.calls()[i];
      if (const auto filled = part_filled(call);
          filled && std::abs(*filled - cut.part()) < kAlike) {
        is_padded = true;
        break;
      }
      if (!carries_rows(cut, call)) continue;
      has_product = has_product || in_.product(*call.assessed).has_value();
      work.push_back(i);
    }
    told_until_ = after;
    // Without a sight of the padding, other rows may depend on those that are cut off.
    if (!has_product || (!is_padded && !cut.is_slice)) return;
    if (cuts++ == 0) first = cut;
    padded += is_padded;
    for (const size_t i : work) {
      const AssessedCall& call = in_.calls()[i];
      const double saved = seconds_of(call.time) * call.assessed->counted * (1 - cut.part());
      found.add(call, false);
      most += saved;
      if (is_padded) least += saved / 2;
    }
  }

  // The step in which the host was.
  size_t step_at(Nanos when) const {
    const std::vector<BaseStep>& steps = in_.assessment().base().steps;
    const auto after = std::ranges::upper_bound(steps, when, {}, &BaseStep::host_begin);
    return static_cast<size_t>(after - steps.begin());
  }

  const PatternInput& in_;
  size_t told_until_ = 0;
};

}  // namespace

std::vector<Finding> cut_rows(const PatternInput& in) {
  CutRows rows(in);
  // Names and arguments are interned: each is looked at once.
  enum class Kind : uint8_t { kUnknown, kOther, kSlice, kLookup };
  std::vector<Kind> kinds(in.store().text_count(), Kind::kUnknown);
  std::unordered_map<ArgsId, std::optional<Cut>> slices;
  for (CallId c(0); c.index < in.tree().size(); ++c.index) {
    const EventId event = in.tree().event(c);
    const StringId name = in.store().name_id(event);
    if (!name.valid()) continue;
    Kind& kind = kinds[name.index];
    if (kind == Kind::kUnknown) {
      const std::string_view text = in.store().text(name);
      kind = text == "aten::slice"   ? Kind::kSlice
             : text == "aten::index" ? Kind::kLookup
                                     : Kind::kOther;
    }
    if (kind == Kind::kLookup) {
      if (const auto cut = lookup_at(in, c)) rows.add(*cut);
    } else if (kind == Kind::kSlice) {
      const auto [known, is_new] = slices.try_emplace(in.store().args_id(event));
      if (is_new) known->second = slice_at(in, c);
      if (!known->second) continue;
      Cut cut = *known->second;
      cut.call = c;
      rows.add(cut);
    }
  }
  if (rows.found.empty() || !is_noticeable(in, rows.most)) return {};
  const bool all_padded = rows.padded == rows.cuts;
  Traits traits;
  traits.add("rows");
  traits.add(rows.first.is_slice ? "cut" : "room");
  PatternText text{FindingKind::kDiscardedRows,
                   std::string(ops_by_time(rows.found.calls()).front()->group->key.name),
                   all_padded ? "Rows that nothing fills are computed and left out"
                              : "Rows are computed and cut off",
                   fmt::format("{} take {}. Of their rows {} of {} are read afterwards, by a {}.{}",
                               per_step(in, rows.found.size(), "op", "ops"),
                               micros_text(nanos_from(rows.found.seconds())),
                               number_text(static_cast<uint64_t>(rows.first.kept)),
                               number_text(static_cast<uint64_t>(rows.first.length)),
                               rows.first.is_slice ? "slice" : "lookup",
                               all_padded ? " As many were filled before." : ""),
                   all_padded ? Confidence::kMedium : Confidence::kLow};
  return {
      pattern_finding(in, std::move(text), rows.found,
                      {rows.least, rows.most, all_padded ? "half of the share of these rows" : "",
                       "only the rows that are read, at today's rate"},
                      traits)};
}

}  // namespace fathom::patterns
