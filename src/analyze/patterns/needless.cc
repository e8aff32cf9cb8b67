// Work that gives nothing: lookups by products, sorts for a few, tables made again, training mode.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

constexpr int64_t kManyClasses = 256;  // a router over a few experts is no lookup

// m[rows, columns] = 1 right after the matrix was filled, with far fewer values than it has.
bool writes_into_zeros(const PatternInput& in, size_t place) {
  constexpr int64_t kFar = 8;
  const AssessedCall& call = in.calls()[place];
  const ArgValue* whole = in.view(call).tensor(0);
  const ArgValue* values = in.view(call).tensor(1);
  if (place == 0 || whole == nullptr ||
      call.assessed->group->key.name.find("index_put") == std::string_view::npos)
    return false;
  constexpr size_t kFilledWithin = 3;  // the number to store may be copied to the GPU between
  for (size_t back = 1; back <= std::min(kFilledWithin, place); ++back) {
    const AssessedCall& before = in.calls()[place - back];
    const ArgValue* filled = in.view(before).tensor(0);
    if (!in.has(before, Role::kFill) || filled == nullptr) continue;
    return elements_of(*filled) == elements_of(*whole) &&
           (values == nullptr || elements_of(*values) < elements_of(*whole) / kFar);
  }
  return false;
}

// A scatter by an index for each element, or each second one, moves rows: no ones among zeros.
bool stores_most(const OpView& view, std::string_view op) {
  constexpr int64_t kFar = 8;
  const ArgValue *whole = view.tensor(0), *index = view.tensor(1);
  return op.find("scatter") != std::string_view::npos && whole != nullptr && index != nullptr &&
         elements_of(*index) > elements_of(*whole) / kFar;
}

// The op that made a matrix [rows, classes] of zeros and few others shortly before, if there is
// one.
std::optional<size_t> mostly_zeros_before(const PatternInput& in, Role role, size_t place,
                                          int64_t rows, int64_t classes) {
  constexpr size_t kBefore = 12;
  for (size_t back = 1; back <= std::min(kBefore, place); ++back) {
    const AssessedCall& call = in.calls()[place - back];
    if (!in.same_thread(call, in.calls()[place])) return {};
    const bool makes = in.has(call, role) || in.around(call.op->event, role) ||
                       (role == Role::kOneHot && writes_into_zeros(in, place - back));
    if (!makes || stores_most(in.view(call), call.assessed->group->key.name)) continue;
    for (const ArgValue& value : in.view(call).args.inputs) {
      if (!value.is_tensor() || value.shape.dims.back() != classes) continue;
      if (elements_of(value) != rows * classes) continue;
      // The zeros below the ones are a part of it.
      size_t begin = place - back;
      while (begin > 0 && in.same_thread(in.calls()[begin - 1], call)) {
        const ArgValue* filled = in.view(in.calls()[begin - 1]).tensor(0);
        const bool makes_it = in.has(in.calls()[begin - 1], Role::kFill) ||
                              in.has(in.calls()[begin - 1], Role::kOneHot) ||
                              writes_into_zeros(in, begin - 1);
        if (!makes_it || filled == nullptr || elements_of(*filled) != rows * classes) break;
        --begin;
      }
      return begin;
    }
  }
  return {};
}

// What is computed from a one-hot matrix by products with its elements, and copied: mostly zeros as
// well, known by its size for a while.
class MostlyZeros {
 public:
  explicit MostlyZeros(const PatternInput& in) : in_(in) {}

  static bool is_sum(const AssessedCall& call) {
    const std::string_view name = call.assessed->group->key.name;
    return name == "aten::sum" || name == "aten::mean";
  }

  // In the order of calls. The chain of calls that made an operand of this product or sum, if one
  // is.
  std::vector<size_t> add(size_t place) {
    constexpr int64_t kLarge = int64_t{1} << 16;
    const AssessedCall& call = in_.calls()[place];
    const OpView& view = in_.view(call);
    int64_t written = 0, read = 0;
    std::vector<size_t> chain;
    for (const ArgValue& value : view.args.inputs) {
      if (!value.is_tensor()) continue;
      const int64_t elements = elements_of(value);
      written = std::max(written, elements);
      const Made* made = find(place, elements);
      if (made == nullptr) continue;
      read = elements;
      chain = made->chain;
    }
    const auto& size = in_.product(*call.assessed);
    if (size ? size->batch == 1 : is_sum(call))
      return read >= kLarge ? chain : std::vector<size_t>{};
    const bool begins = in_.around(call.op->event, Role::kOneHot).has_value() &&
                        in_.any_around(call.op->event, "aten::one_hot");
    if (!begins && chain.empty()) return {};
    const bool goes_on =
        begins || in_.has(call, Role::kCopy) || call.assessed->group->key.name == "aten::mul";
    if (!goes_on) return {};
    if (call.assessed->group->key.name == "aten::mul") written = product_of_dims(view);
    if (chain.size() < kMostCalls) chain.push_back(place);
    made_[next_++ % std::size(made_)] = {place, written, std::move(chain)};
    return {};
  }

 private:
  static constexpr size_t kMostCalls = 16, kFarthest = 24;
  struct Made {
    size_t place = 0;
    int64_t elements = 0;
    std::vector<size_t> chain;
  };

  const Made* find(size_t place, int64_t elements) const {
    for (const Made& made : made_) {
      if (made.elements != elements || elements == 0 || place - made.place > kFarthest) continue;
      if (in_.same_thread(in_.calls()[made.place], in_.calls()[place])) return &made;
    }
    return nullptr;
  }

  // Of two tensors that are stretched over each other.
  static int64_t product_of_dims(const OpView& view) {
    std::vector<int64_t> dims;
    for (const ArgValue& value : view.args.inputs) {
      if (!value.is_tensor()) continue;
      const std::vector<int64_t>& own = value.shape.dims;
      if (dims.size() < own.size()) dims.insert(dims.begin(), own.size() - dims.size(), 1);
      for (size_t i = 0; i < own.size(); ++i) {
        int64_t& dim = dims[dims.size() - 1 - i];
        dim = std::max(dim, own[own.size() - 1 - i]);
      }
    }
    return element_count(dims).value_or(0);
  }

  const PatternInput& in_;
  Made made_[8];  // the last ones
  size_t next_ = 0;
};

}  // namespace

std::vector<Finding> one_hot_products(const PatternInput& in) {
  constexpr double kReached = 0.6;
  MostlyZeros zeros(in);
  MatchedCalls found;
  double needed = 0;
  size_t products = 0, diagonals = 0, sums = 0;
  std::set<size_t> known;  // of chains
  for (size_t i = 0; i < in.calls().size(); ++i) {
    const AssessedCall& call = in.calls()[i];
    const std::vector<size_t> chain = zeros.add(i);
    const auto& size = in.product(*call.assessed);
    if (!chain.empty() && !size) {
      for (const size_t k : chain)
        if (known.insert(k).second) found.add(in.calls()[k]);
      found.add(call);
      ++sums;
      continue;
    }
    if (!size || size->batch != 1 || size->k < kManyClasses || size->m < 1 || size->n < 1) continue;
    if (std::max(size->m, size->n) > INT64_MAX / size->k) continue;
    auto begin = mostly_zeros_before(in, Role::kOneHot, i, size->m, size->k);
    if (!begin) {
      if (size->m == size->k) begin = mostly_zeros_before(in, Role::kDiagonal, i, size->m, size->k);
      if (!begin && size->n == size->k)
        begin = mostly_zeros_before(in, Role::kDiagonal, i, size->k, size->n);
      diagonals += begin.has_value();
    }
    if (!begin && chain.empty()) continue;
    ++products;
    if (begin) {
      for (size_t k = *begin; k <= i; ++k) found.add(in.calls()[k]);
    } else {
      for (const size_t k : chain)
        if (known.insert(k).second) found.add(in.calls()[k]);
      found.add(call);
    }
    // What a lookup moves: each row read and written.
    const ArgValue* table = in.view(call).tensor(1);
    const ElementType* type = table != nullptr ? find_element_type(table->type) : nullptr;
    if (type != nullptr && in.memory_rate()) {
      needed += 2 * static_cast<double>(size->m) * static_cast<double>(size->n) * type->bytes() /
                *in.memory_rate();
    }
  }
  if (found.empty() || !is_noticeable(in, found.counted())) return {};
  const double floor =
      seconds_of(in.assessment().shortest_kernel()) * static_cast<double>(products + sums);
  const double most = found.counted() + found.waited();
  const bool is_diagonal = 2 * diagonals > products + sums;
  Traits traits;
  if (is_diagonal) traits.add("diagonal");
  const std::string instead = is_diagonal ? "an elementwise product" : "a lookup";
  PatternText text{
      FindingKind::kOneHotProduct, std::string(ops_by_time(found.calls()).front()->group->key.name),
      sums > products ? "One-hot matrix that is summed: a count or a lookup over all classes"
      : is_diagonal   ? "A product with a diagonal matrix: a scaling done as a GEMM"
                      : "One-hot matrix times a table: a lookup done as a GEMM",
      fmt::format("{} read a matrix of few values other than zero that was made just before. "
                  "Together they take {}.",
                  counted(products + sums, sums > products ? "sum" : "product"),
                  micros_text(nanos_from(found.seconds()))),
      Confidence::kMedium};
  return {pattern_finding(
      in, std::move(text), found,
      {found.counted() - std::min(found.counted(), std::max(needed / kReached, floor)),
       most - std::min(most, std::max(needed, floor)), instead + " at 60 % of the bandwidth",
       instead + " at full bandwidth"},
      traits)};
}

namespace {

// A sort with all its work; the outermost, where sorts call each other.
struct SortCall {
  CallId op;
  std::vector<const AssessedCall*> calls;
};

std::vector<SortCall> find_sorts(const PatternInput& in) {
  std::vector<SortCall> sorts;
  for (const AssessedCall& call : in.calls()) {
    std::optional<CallId> op = in.around(call.op->event, Role::kSort);
    if (!op) continue;
    const CallId parent = in.tree().parent(*op);
    if (parent.valid()) {
      if (const auto outer = in.around(in.tree().event(parent), Role::kSort)) op = outer;
    }
    if (sorts.empty() || sorts.back().op != *op) sorts.push_back({*op, {}});
    sorts.back().calls.push_back(&call);
  }
  return sorts;
}

// A lookup of a few of these values.
bool reads_few(const PatternInput& in, EventId event, const ArgValue& values) {
  constexpr int64_t kFew = 64;  // of as many values one
  const auto args = read_op_args(in.store(), in.store().args_id(event));
  if (!args || args->inputs.empty() || args->inputs[0].shape.dims != values.shape.dims)
    return false;
  return std::ranges::any_of(args->inputs, [&values](const ArgValue& index) {
    return index.is_tensor() && is_integer_type(index) &&
           elements_of(index) <= elements_of(values) / kFew;
  });
}

// Whether the op around it, such as aten::quantile, picks a few values of what it sorts.
bool is_sort_of_pick(const PatternInput& in, CallId sort, const ArgValue& keys) {
  constexpr size_t kCalls = 256;
  const CallId op = in.tree().parent(sort);
  if (!op.valid() || !in.store().name(in.tree().event(op)).starts_with("aten::")) return false;
  CallId call = in.tree().subtree_end(sort);
  const CallId end = in.tree().subtree_end(op);
  for (size_t i = 0; i < kCalls && call < end; ++i, ++call.index) {
    const EventId event = in.tree().event(call);
    const uint32_t roles = roles_of(in.store().name(event));
    if (has_role(roles, Role::kGather) && reads_few(in, event, keys)) return true;
  }
  return false;
}

// Whether one of the next calls, those without GPU work included, takes a part of it or samples.
bool uses_first_only(const PatternInput& in, CallId sort) {
  constexpr int kNext = 24;
  const TrackId track = in.store().track_id(in.tree().event(sort));
  CallId call = in.tree().subtree_end(sort);
  for (int i = 0; i < kNext && call.index < in.tree().size(); ++i, ++call.index) {
    const EventId event = in.tree().event(call);
    if (in.store().track_id(event) != track) return false;
    if (has_role(roles_of(in.store().name(event)), Role::kFirstOfSorted)) return true;
  }
  return false;
}

}  // namespace

std::vector<Finding> full_sorts(const PatternInput& in) {
  constexpr int64_t kLongRow = 2048;
  // A selection by digits reads a row several times, with one block for a row: assumed as long as
  // 32 reads at full bandwidth.
  constexpr double kReads = 32;
  const double floor = seconds_of(in.assessment().shortest_kernel());
  MatchedCalls found;
  double least = 0, most = 0;
  size_t sorts = 0;
  for (const SortCall& sort : find_sorts(in)) {
    const auto args = read_op_args(in.store(), in.store().args_id(in.tree().event(sort.op)));
    if (!args || args->inputs.empty() || !args->inputs[0].is_tensor()) continue;
    const ArgValue& keys = args->inputs[0];
    if (keys.shape.dims.back() < kLongRow ||
        !(uses_first_only(in, sort.op) || is_sort_of_pick(in, sort.op, keys)))
      continue;
    MatchedCalls work;
    for (const AssessedCall* call : sort.calls) work.add(*call, false);
    const double once =
        in.memory_rate() ? bytes_of(keys).value_or(0) / *in.memory_rate() : work.seconds();
    const auto saved = [&](double seconds) {
      return (work.seconds() - std::min(work.seconds(), seconds)) * work.counted_share();
    };
    least += saved(std::max(once * kReads, 2 * floor));
    most += saved(std::max(once, floor));
    ++sorts;
    for (const AssessedCall* call : sort.calls) found.add(*call, false);
  }
  if (found.empty() || !is_noticeable(in, most)) return {};
  PatternText text{FindingKind::kFullSort, "aten::sort",
                   "A full sort where only a few values are used",
                   fmt::format("{} over rows of {} or more take {}; a slice, a lookup of a few, a "
                               "cumulative sum or a sample follows.",
                               per_step(in, sorts, "sort", "sorts"),
                               number_text(static_cast<uint64_t>(kLongRow)),
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kMedium};
  return {
      pattern_finding(in, std::move(text), found,
                      {least, most, "top-k as long as 32 reads of the rows", "top-k in one read"})};
}

namespace {

// Whether a call computes a table on from what another one made. In one call of a function, all
// elementwise work up to the first other op; without stacks, only ops that read nothing else.
bool is_part_of_table(const PatternInput& in, const AssessedCall& made, const AssessedCall& call) {
  const EventId frame = in.user_frame(made.op->event);
  if (frame.valid()) {
    const std::string_view category = call.assessed->category;
    return in.user_frame(call.op->event) == frame && !in.has(call, Role::kGather) &&
           (category == "elementwise" || category == "memcpy");
  }
  if (call.caller != made.caller) return false;
  const OpView& view = in.view(call);
  if (!view.has(Role::kTable) && !in.around(call.op->event, Role::kCreate)) return false;
  size_t tensors = 0;
  for (const ArgValue& value : view.args.inputs) tensors += value.is_tensor();
  return tensors <= (view.has(Role::kCopy) ? 2u : 1u);  // copy_ is called with its result, too
}

}  // namespace

// A table or mask depends on its arguments alone: made with the same ones, it is the same.
std::vector<Finding> repeated_tables(const PatternInput& in) {
  constexpr size_t kAgain = 3, kFollowing = 16;
  const std::vector<AssessedCall>& calls = in.calls();
  // By the creating op and its arguments, as one group.
  std::map<const AssessedOp*, std::vector<size_t>> made;
  for (size_t i = 0; i < calls.size(); ++i) {
    // A single number, such as what a backward pass begins with, is no table.
    const bool is_number = in.has(calls[i], Role::kFill) && in.view(calls[i]).tensor(0) == nullptr;
    if (!is_number && in.around(calls[i].op->event, Role::kCreate))
      made[calls[i].assessed].push_back(i);
  }
  std::vector<bool> taken(calls.size());
  MatchedCalls found;
  double kept = 0;
  size_t tables = 0;
  for (const auto& [op, places] : made) {
    if (places.size() < kAgain * in.steps()) continue;
    MatchedCalls chain;
    size_t chains = 0;
    for (size_t place : places) {
      if (taken[place]) continue;
      ++chains;
      taken[place] = true;
      chain.add(calls[place]);
      // What is computed from it, of the same code.
      for (size_t i = place + 1; i < std::min(calls.size(), place + 1 + kFollowing); ++i) {
        const bool follows = !taken[i] && in.same_thread(calls[i], calls[place]) &&
                             is_part_of_table(in, calls[place], calls[i]);
        // The same ops after each of the others: a part of the table, not of what uses it.
        if (!follows) break;
        const bool repeated = calls[i].assessed->group->calls.size() >= places.size();
        if (!repeated) break;
        taken[i] = true;
        chain.add(calls[i]);
      }
    }
    if (chains < kAgain * in.steps()) continue;
    tables += chains;
    kept += (chain.counted() + chain.waited()) * static_cast<double>(in.steps()) /
            static_cast<double>(chains);
    for (const AssessedCall* call : chain.calls()) found.add(*call);
  }
  const double saved = found.counted() + found.waited() - kept;
  if (found.empty() || !is_noticeable(in, saved)) return {};
  PatternText text{FindingKind::kRepeatedTables,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "A mask or table is made again with the same arguments",
                   fmt::format("{} of masks, positions or tables with arguments that were used "
                               "before take {}, {} of it idle time before their launches.",
                               per_step(in, tables, "creation", "creations"),
                               micros_text(nanos_from(found.seconds() + found.waited())),
                               micros_text(nanos_from(found.waited()))),
                   Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {std::max(0.0, found.counted() - kept), saved, "made once a step",
                           "made once a step, without the idle time before the launches"})};
}

namespace {

// A batch norm that computes the batch's statistics: it says so, or its kernels do.
bool computes_statistics(const PatternInput& in, const AssessedCall& call) {
  constexpr size_t kTraining = 5;  // the argument's place in all of PyTorch's batch norms
  constexpr std::string_view kKernels[] = {"collect_statistics", "bn_fw_tr", "FwdTrain", "welford"};
  if (call.assessed->category != "batchnorm") return false;
  const ArgValue* training = in.view(call).args.at(kTraining);
  if (training != nullptr && !training->concrete.empty()) return training->concrete == "True";
  return in.any_kernel(*call.op, kKernels);
}

}  // namespace

std::vector<Finding> training_mode(const PatternInput& in) {
  // Of the bandwidth, by a batch norm that only scales.
  constexpr double kReached = 0.6;
  constexpr size_t kRepeated = 2;
  if (in.has_backward()) return {};
  MatchedCalls found;
  size_t dropouts = 0, norms = 0;
  double least = 0;
  for (const AssessedCall& call : in.calls()) {
    const bool drops = in.has(call, Role::kDropout) || in.around(call.op->event, Role::kDropout);
    if (!drops && !computes_statistics(in, call)) continue;
    found.add(call, false);
    ++(drops ? dropouts : norms);
    const double now = seconds_of(call.time);
    const auto& bound = call.assessed->bound;
    const double scaling = drops ? 0 : bound ? bound->seconds() / kReached : now;
    least += (now - std::min(now, scaling)) * call.assessed->counted;
  }
  const double most = found.counted();
  if (dropouts + norms < kRepeated || !is_noticeable(in, most)) return {};
  PatternText text{
      FindingKind::kTrainingMode, std::string(ops_by_time(found.calls()).front()->group->key.name),
      dropouts > norms ? "Dropout runs in a program that computes no gradients"
                       : "Batch norm computes statistics in a program without gradients",
      fmt::format("{} take {}, and no gradient is computed in this trace.",
                  per_step(in, dropouts + norms, "call", "calls"),
                  micros_text(nanos_from(found.seconds()))),
      Confidence::kMedium};
  return {
      pattern_finding(in, std::move(text), found,
                      {least, most, norms > 0 ? "model.eval(), scaling only" : "",
                       norms > 0 ? "model.eval(), folded into the layer before" : "model.eval()"})};
}

std::vector<Finding> gradient_mode(const PatternInput& in) {
  constexpr size_t kNodes = 3;  // of a step
  // Of the time of late launches: a program that the host bounds, with and without the graph
  // (tests/faults, gradients_while_serving).
  constexpr double kBookkeeping = 0.25;
  const Assessment& a = in.assessment();
  if (in.has_backward()) return {};
  // Without gradients ops have no sequence number; with them each node of the graph has its own.
  // autocast records its casts of weights even under no_grad.
  std::set<int64_t> nodes;
  std::vector<bool> seen(in.tree().size());
  for (const AssessedCall& call : in.calls()) {
    if (in.has(call, Role::kCopy)) continue;
    for (CallId c = in.tree().call(call.op->event); c.valid() && !seen[c.index];
         c = in.tree().parent(c)) {
      seen[c.index] = true;
      const AutogradFacts* facts = in.store().autograd(in.tree().event(c));
      if (facts == nullptr) continue;
      if (nodes.size() < kNodes * in.steps()) nodes.insert(facts->sequence);
      break;
    }
  }
  if (nodes.size() < kNodes * in.steps()) return {};
  const double late = seconds_of(a.idle().time(IdleCause::kHost));
  if (!is_noticeable(in, kBookkeeping * late)) return {};
  MatchedCalls found;
  for (const AssessedCall& call : in.calls()) found.add(call, false);
  PatternText text{FindingKind::kGradientMode, "autograd",
                   "Gradients are recorded in a program that computes none",
                   "Ops record nodes of a gradient graph, but the trace has no backward pass. The "
                   "bookkeeping is host time in each op, and activations stay allocated.",
                   Confidence::kMedium};
  Finding f = pattern_finding(in, std::move(text), found,
                              {0, kBookkeeping * late, "", "without the graph (upper bound)"});
  f.time = nanos_from(kBookkeeping * late);
  f.share = ratio(f.time, a.length());
  return {f};
}

namespace {

// Elements of a call's tensors that have these sizes, and of all its tensors.
std::pair<double, double> elements_with(const OpView& view, const std::vector<int64_t>& dims) {
  double with = 0, all = 0;
  const auto add = [&](const std::vector<int64_t>& of) {
    const auto count = static_cast<double>(element_count(of).value_or(0));
    all += count;
    if (of == dims) with += count;
  };
  for (const ArgValue& value : view.args.inputs) {
    if (value.is_tensor()) add(value.shape.dims);
    for (const ArgValue::Shape& shape : value.list) add(shape.dims);
  }
  return {with, all};
}

// The lookup in a table that a call is, or is part of; invalid: none.
EventId lookup_around(const PatternInput& in, const AssessedCall& call) {
  constexpr int kCallsLookedAt = 4;
  CallId c = in.tree().call(call.op->event);
  for (int i = 0; i < kCallsLookedAt && c.valid(); ++i, c = in.tree().parent(c)) {
    const std::string_view name = in.store().name(in.tree().event(c));
    if (name == "aten::embedding" || name == "aten::_embedding_bag") return in.tree().event(c);
  }
  return {};
}

bool is_product(const AssessedCall& call) {
  return call.assessed->category == "gemm" || call.assessed->category == "attention";
}

}  // namespace

std::vector<Finding> dense_gradients(const PatternInput& in) {
  constexpr double kFewRows = 0.125, kNearlyAll = 0.8;
  constexpr size_t kMostTables = 8;
  if (!in.has_backward()) return {};
  bool any_dense = false;
  std::map<std::vector<int64_t>, double> tables;  // of which few rows are read: rows read
  for (const AssessedCall& call : in.calls()) {
    const std::string_view name = call.assessed->group->key.name;
    any_dense = any_dense || name.find("embedding_dense_backward") != std::string_view::npos ||
                name.find("_embedding_bag_dense_backward") != std::string_view::npos;
    const EventId lookup = lookup_around(in, call);
    if (!lookup.valid()) continue;
    OpView view;
    if (auto args = read_op_args(in.store(), in.store().args_id(lookup)))
      view.args = std::move(*args);
    const ArgValue *table = view.tensor(0), *indices = view.tensor(1);
    if (table == nullptr || indices == nullptr || table->shape.dims.size() != 2) continue;
    if (tables.size() == kMostTables && !tables.contains(table->shape.dims)) continue;
    tables[table->shape.dims] += static_cast<double>(elements_of(*indices));
  }
  if (!any_dense || tables.empty()) return {};
  for (auto& [dims, read] : tables) read /= static_cast<double>(in.steps());
  std::erase_if(tables, [](const auto& table) {
    return table.second > kFewRows * static_cast<double>(table.first[0]);
  });
  MatchedCalls found;
  std::set<const AssessedCall*> known;
  std::pair<double, int64_t> rows;  // read, and all, of the first table
  for (const auto& [dims, read] : tables) {
    // An output layer with the same weights makes the gradient dense anyway.
    const std::vector<int64_t> turned = {dims[1], dims[0]};
    const bool is_tied = std::ranges::any_of(in.calls(), [&](const AssessedCall& call) {
      return is_product(call) && (elements_with(in.view(call), dims).first > 0 ||
                                  elements_with(in.view(call), turned).first > 0);
    });
    if (is_tied) continue;
    if (found.empty()) rows = {read, dims[0]};
    for (const AssessedCall& call : in.calls()) {
      if (lookup_around(in, call).valid()) continue;
      const std::string_view name = call.assessed->group->key.name;
      const auto [with, all] = elements_with(in.view(call), dims);
      const bool is_gradient = name.find("dense_backward") != std::string_view::npos;
      if (!is_gradient && (with <= 0 || with < kNearlyAll * all)) continue;
      if (known.insert(&call).second) found.add(call, false);
    }
  }
  if (found.empty() || !is_noticeable(in, found.seconds())) return {};
  PatternText text{FindingKind::kDenseGradient,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "An embedding table gets a dense gradient for the few rows that are read",
                   fmt::format("At most {:.0f} of {} rows are read in a step, but gradient and "
                               "update go over all of them: {}.",
                               rows.first, rows.second, micros_text(nanos_from(found.seconds()))),
                   Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {0, found.seconds(), "", "only the rows that are read"})};
}

}  // namespace fathom::patterns
