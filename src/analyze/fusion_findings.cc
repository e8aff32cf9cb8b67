// Findings about runs of ops that one op could do.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "analyze/advice.h"
#include "analyze/analyses.h"
#include "analyze/finding_parts.h"
#include "analyze/gradients.h"
#include "analyze/priority.h"
#include "analyze/sequence_index.h"
#include "base/count_text.h"
#include "cost/element_type.h"

namespace fathom::analyses {
namespace {

using Call = AssessedCall;

// What an op writes: all it moves less what it reads.
double written_bytes(const AssessedOp& op, const OpArgs& args) {
  double read = 0;
  for (const ArgValue& value : args.inputs) {
    const ElementType* type = find_element_type(value.type);
    if (value.is_tensor() && type != nullptr) {
      double count = 1;
      for (int64_t dim : value.shape.dims) count *= static_cast<double>(dim);
      read += count * type->bytes();
    }
  }
  return std::max(0.0, op.group->cost->bytes - read);
}

using Names = std::vector<std::string_view>;

// All runs of the same ops, or of a part of them.
struct Chain {
  size_t times = 0;
  double seconds = 0, counted_seconds = 0, fused_bytes = 0;
  double waited_seconds = 0;           // before all ops but the first
  std::vector<const AssessedOp*> ops;  // of the first one seen
  EventId example;
  std::vector<const Call*> calls;

  void add(const Chain& other) {
    calls.insert(calls.end(), other.calls.begin(), other.calls.end());
    times += other.times;
    seconds += other.seconds;
    counted_seconds += other.counted_seconds;
    fused_bytes += other.fused_bytes;
    waited_seconds += other.waited_seconds;
  }
};

// "mul → silu → neg", "roll × 4 → add"
std::string subject_of(const Names& names) {
  constexpr std::string_view kPrefix = "aten::";
  constexpr size_t kMostNames = 12, kManyAlike = 3;
  std::vector<std::string> bare;
  for (size_t i = 0; i < names.size();) {
    size_t alike = 1;
    while (i + alike < names.size() && names[i + alike] == names[i]) ++alike;
    const std::string name(names[i].starts_with(kPrefix) ? names[i].substr(kPrefix.size())
                                                         : names[i]);
    if (alike < kManyAlike) alike = 1;
    bare.push_back(alike > 1 ? fmt::format("{} × {}", name, alike) : name);
    i += alike;
  }
  if (bare.size() > kMostNames) {
    bare.resize(kMostNames);
    bare.push_back(fmt::format("… ({} ops)", names.size()));
  }
  return fmt::format("{}", fmt::join(bare, " → "));
}

class ChainCollector {
 public:
  explicit ChainCollector(const Assessment& a) : a_(a), written_(a.ops().size()) {}

  std::map<Names, Chain> collect() {
    std::map<Names, Chain> chains;
    for (const PointwiseRun& run : a_.pointwise_runs()) {
      const std::span calls = std::span(a_.calls()).subspan(run.begin, run.end - run.begin);
      Names names;
      for (const Call& call : calls) names.push_back(call.assessed->group->key.name);
      Chain& chain = chains[std::move(names)];
      if (chain.times == 0) {
        for (const Call& call : calls) chain.ops.push_back(call.assessed);
        chain.example = calls.front().op->event;
      }
      chain.add(measure(calls));
    }
    return merged(std::move(chains));
  }

 private:
  Chain measure(std::span<const Call> calls) {
    Chain chain;
    chain.times = 1;
    for (size_t i = 0; i < calls.size(); ++i) {
      const AssessedOp& op = *calls[i].assessed;
      chain.calls.push_back(&calls[i]);
      chain.seconds += seconds_of(calls[i].time);
      chain.counted_seconds += seconds_of(calls[i].time) * op.counted;
      chain.fused_bytes += op.group->cost->bytes;
      if (i > 0) chain.waited_seconds += seconds_of(calls[i].waited);
      // What one op writes only for the next to read never leaves the registers.
      if (i + 1 < calls.size()) chain.fused_bytes -= 2 * written_by(op);
    }
    return chain;
  }

  double written_by(const AssessedOp& op) {
    std::optional<double>& slot = written_[static_cast<size_t>(&op - a_.ops().data())];
    if (!slot) {
      const EventStore& store = a_.input().store;
      const auto args = read_op_args(store, store.args_id(op.group->first().event));
      slot = args ? written_bytes(op, *args) : 0;
    }
    return *slot;
  }

  // A run that is part of a longer one is the same place in the code, cut short by its neighbours:
  // both are told as the longer.
  static std::map<Names, Chain> merged(std::map<Names, Chain> chains) {
    std::vector<const Names*> by_length;
    for (const auto& [names, chain] : chains) by_length.push_back(&names);
    std::ranges::stable_sort(by_length, {}, [](const Names* n) { return n->size(); });
    // Symbols for names, so that a chain is looked for by numbers.
    std::map<std::string_view, SequenceIndex::Symbol> symbols;
    std::vector<std::vector<SequenceIndex::Symbol>> sequences;
    SequenceIndex index;
    for (const Names* names : by_length) {
      std::vector<SequenceIndex::Symbol>& sequence = sequences.emplace_back();
      for (std::string_view name : *names) {
        const auto next = static_cast<SequenceIndex::Symbol>(symbols.size());
        sequence.push_back(symbols.try_emplace(name, next).first->second);
      }
      index.add(sequence);
    }
    index.finish();
    std::vector<const Names*> gone;
    for (size_t i = 0; i < by_length.size(); ++i) {
      const size_t longest = index.last_container(sequences[i]);
      if (longest == i) continue;
      chains.at(*by_length[longest]).add(chains.at(*by_length[i]));
      gone.push_back(by_length[i]);
    }
    for (const Names* names : gone) chains.erase(chains.find(*names));
    return chains;
  }

  const Assessment& a_;
  std::vector<std::optional<double>> written_;  // bytes, by op
};

bool is_in_place(std::string_view op) {
  return op.ends_with('_') && !op.ends_with("__") && !op.ends_with("copy_");
}

// Of the gradients of these calls, as far as the trace's length depends on such ops. They are a
// part of what the finding is about.
double cover_gradients(const Assessment& a, const Gradients& gradients, Finding& f,
                       std::span<const Call* const> calls) {
  double seconds = 0;
  for (const Call* call : calls) {
    for (EventId e : gradients.of(a.input().tree.call(call->op->event))) {
      const Nanos time = a.input().store.duration(e);
      f.covered.push_back({e, time});
      seconds += seconds_of(time) * call->assessed->counted;
    }
  }
  return seconds;
}

// What gradients save beside the forward ops, in seconds.
void add_gradients(const Assessment& a, Finding& f, double least, double most) {
  if (most <= 0 || f.projections.empty()) return;
  f.saving_at_least += nanos_from(least);
  f.saving_at_most += nanos_from(most);
  f.projections.push_back({"the same, with its gradients", f.projections.back().time,
                           ratio(f.saving_at_most, a.length())});
}

// Updates of an optimizer, casts to and fro, and one op that is slow by itself are patterns of
// their own, and fusing is not what helps.
bool is_told_elsewhere(const Chain& chain) {
  constexpr double kNearlyAll = 0.7, kSlowByItself = 0.2;
  size_t updates = 0, moments = 0, casts = 0;
  std::map<const AssessedOp*, double> seconds;
  for (const AssessedOp* op : chain.ops) {
    const std::string_view name = op->group->key.name;
    updates += is_in_place(name);
    moments += name == "aten::addcdiv_" || name == "aten::addcmul_" || name == "aten::lerp_";
    casts += name == "aten::copy_";
  }
  for (const Call* call : chain.calls) seconds[call->assessed] += seconds_of(call->time);
  if (moments > 0 && updates * 2 >= chain.ops.size()) return true;
  if (casts * 2 > chain.ops.size()) return true;
  return std::ranges::any_of(seconds, [&chain](const auto& op) {
    return op.second > kNearlyAll * chain.seconds && op.first->efficiency &&
           *op.first->efficiency < kSlowByItself && op.first->category == "reduce";
  });
}

// Whether the ops' operands show that they hand each other data. Of ops that read one tensor of the
// same size each, nothing does: they may stand side by side.
bool hands_on_data(const Assessment& a, std::span<const AssessedOp* const> ops) {
  constexpr size_t kLookedAt = 64;
  const EventStore& store = a.input().store;
  bool one_operand = false, two_operands = false;
  std::string cast_to;  // by the op before
  bool reduced = false;
  for (const AssessedOp* op : ops.first(std::min(kLookedAt, ops.size()))) {
    const auto args = read_op_args(store, store.args_id(op->group->first().event));
    if (!args) return false;
    std::vector<const ArgValue*> tensors;
    for (const ArgValue& value : args->inputs) {
      if (value.is_tensor()) tensors.push_back(&value);
    }
    if (tensors.empty()) continue;
    const bool narrower = std::ranges::any_of(tensors, [&](const ArgValue* t) {
      return t->shape.dims.back() == 1 && tensors.front()->shape.dims.back() > 1;
    });
    // A mean or a sum over rows, then an op that stretches one number over a row.
    if (reduced && narrower) return true;
    if (!cast_to.empty() && tensors.front()->type == cast_to) return true;
    const std::string_view name = op->group->key.name;
    const bool casts = tensors.size() > 1 && tensors[0]->type != tensors[1]->type;
    cast_to = name == "aten::copy_" && casts ? tensors[0]->type : std::string();
    reduced = reduced || op->category == "reduce";
    if (is_in_place(name) || name == "aten::copy_") continue;
    const bool two = tensors.size() > 1 && tensors[0]->shape.dims == tensors[1]->shape.dims;
    (two ? two_operands : one_operand) = true;
  }
  // A formula combines what it computed; ops side by side are alike.
  return one_operand && two_operands;
}

}  // namespace

std::vector<Finding> fusible_chains(const Assessment& a) {
  const std::optional<Limit> memory =
      a.platform() != nullptr ? limit_of(a.platform()->memory_bandwidth) : std::nullopt;
  if (!memory) return {};
  std::vector<Finding> findings;
  OpTraits traits(a);
  const Gradients gradients_of(a.input());
  for (const auto& [names, chain] : ChainCollector(a).collect()) {
    const double floor = seconds_of(a.shortest_kernel()) * static_cast<double>(chain.times);
    const double fused =
        std::min(chain.seconds, std::max(floor, std::max(0.0, chain.fused_bytes) / memory->rate));
    if (fused >= chain.seconds && chain.waited_seconds <= 0) continue;
    if (is_told_elsewhere(chain)) continue;
    Finding f;
    f.kind = FindingKind::kFusibleChain;
    f.category = chain.ops.front()->category;
    f.subject = subject_of(names);
    f.time = nanos_from(chain.seconds + chain.waited_seconds);
    f.title = "Unfused memory-bound ops: " + f.subject;
    f.issue = fmt::format(
        "{} {} these {} memory-bound ops run one after the other on tensors of one size, for "
        "{} in all. Intermediate results are written to and read back from memory",
        chain.times, noun(chain.times, "time"), chain.ops.size(),
        micros_text(nanos_from(chain.seconds)));
    f.issue += chain.waited_seconds > 0
                   ? fmt::format(". The GPU is idle for {} between their launches.",
                                 micros_text(nanos_from(chain.waited_seconds)))
                   : ".";
    advise(a, f, traits.of(chain.ops));
    f.confidence = Confidence::kMedium;
    const bool dependent = hands_on_data(a, chain.ops);
    rate_pattern(f, dependent && std::ranges::any_of(chain.ops, &AssessedOp::is_top));
    if (!dependent) {
      f.confidence = Confidence::kLow;
      f.notes.push_back(
          {"The trace does not show that these ops read each other's results: check "
           "the code.",
           {},
           {}});
    }
    project_replacement(a, f, {chain.seconds, chain.counted_seconds, fused, chain.waited_seconds});
    // The gradients of a fused op are fused, too: at most they shrink as the op itself does.
    const double gradients = cover_gradients(a, gradients_of, f, chain.calls);
    if (chain.seconds > 0) {
      add_gradients(a, f, 0, gradients * (1 - fused / chain.seconds));
    }
    // The shapes that take the time, not those of the first time.
    for (const AssessedOp* op : ops_by_time(chain.calls)) {
      if (f.evidence.size() < 8) f.evidence.push_back(evidence_of(a, *op));
    }
    f.call_stack = call_stack_of(a.input(), chain.example);
    for (const Call* call : chain.calls) cover(a, f, *call->op);
    findings.push_back(std::move(f));
  }
  return findings;
}

namespace {

struct Product {
  int64_t batch, m, n, k;
};

std::optional<Product> read_product(const Call& call) {
  if (call.assessed->category != "gemm" || !call.assessed->group->cost) return {};
  const auto number = [&call](std::string_view name) {
    return integer_param(*call.assessed->group->cost, name).value_or(0);
  };
  return Product{number("B"), number("M"), number("N"), number("K")};
}

bool is_softmax(const Call& call) {
  const std::string_view name = call.assessed->group->key.name;
  return name.find("softmax") != std::string_view::npos &&
         name.find("log_softmax") == std::string_view::npos &&
         name.find("backward") == std::string_view::npos;
}

// Whether a softmax reads scores of these sizes: [batch, m, n] in whatever dimensions.
bool is_softmax_of(const Assessment& a, const Call& call, const Product& scores) {
  if (!is_softmax(call)) return false;
  const EventStore& store = a.input().store;
  const auto args = read_op_args(store, store.args_id(call.op->event));
  if (!args || args->inputs.empty() || !args->inputs[0].is_tensor()) return false;
  const std::vector<int64_t>& dims = args->inputs[0].shape.dims;
  const double elements = static_cast<double>(scores.batch) * static_cast<double>(scores.m) *
                          static_cast<double>(scores.n);
  return dims.back() == scores.n &&
         static_cast<double>(element_count(dims).value_or(0)) == elements;
}

// From a product at `begin` through a softmax over its columns to the product with V; the place of
// the last, or nothing. Scale, mask, dropout and casts may come in any order, and ops that make the
// mask may stand between: that the sizes fit three times is the evidence.
std::optional<size_t> attention_end(const Assessment& a, size_t begin) {
  constexpr size_t kLongest = 24;
  const std::vector<Call>& calls = a.calls();
  const std::optional<Product> scores = read_product(calls[begin]);
  if (!scores || scores->m < 1 || scores->n < 2) return {};
  bool softmax = false;
  for (size_t i = begin + 1; i < std::min(calls.size(), begin + kLongest); ++i) {
    const std::string_view category = calls[i].assessed->category;
    if (category == "sdpa_fwd" || category == "convolution") return {};
    const std::optional<Product> product = read_product(calls[i]);
    if (product) {
      const bool fits = softmax && product->batch == scores->batch && product->m == scores->m &&
                        product->k == scores->n;
      return fits ? std::optional(i) : std::nullopt;
    }
    softmax = softmax || is_softmax_of(a, calls[i], *scores);
  }
  return {};
}

bool is_called_by_attention(const Assessment& a, const Call& call) {
  constexpr int kLookedAt = 16;
  const CallTree& tree = a.input().tree;
  CallId at = tree.call(call.op->event);
  for (int i = 0; i < kLookedAt && at.valid(); ++i, at = tree.parent(at)) {
    if (a.input().store.name(tree.event(at)).find("scaled_dot_product_attention") !=
        std::string_view::npos) {
      return true;
    }
  }
  return false;
}

ArgValue operand(int64_t heads, int64_t length, int64_t width, std::string type) {
  ArgValue value;
  value.shape.dims = {1, heads, length, width};
  value.type = std::move(type);
  return value;
}

// The same work as one op, by the same cost function.
std::optional<Cost> fused_attention_cost(const Assessment& a, const Call& scores,
                                         const Call& last) {
  const std::optional<Product> qk = read_product(scores), pv = read_product(last);
  const EventStore& store = a.input().store;
  const auto args = read_op_args(store, store.args_id(scores.op->event));
  if (!qk || !pv || !args) return {};
  std::string type;
  for (const ArgValue& value : args->inputs) {
    if (value.is_tensor()) type = value.type;
  }
  OpArgs fused;
  fused.inputs = {operand(qk->batch, qk->m, qk->k, type), operand(qk->batch, qk->n, qk->k, type),
                  operand(qk->batch, qk->n, pv->n, type)};
  CostQuestion question;
  question.op = "aten::_scaled_dot_product_flash_attention";
  question.args = &fused;
  return cost_of(question);
}

struct UnfusedAttention {
  size_t times = 0, batched = 0;
  double seconds = 0, counted_seconds = 0, fused_seconds = 0, waited_seconds = 0;
  std::vector<const Call*> calls;
  EventId example;
};

}  // namespace

std::vector<Finding> unfused_attention(const Assessment& a) {
  const std::vector<Call>& calls = a.calls();
  UnfusedAttention found;
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::optional<size_t> end = attention_end(a, i);
    if (!end) continue;
    if (is_called_by_attention(a, calls[i])) continue;  // told as the math path of that op
    const std::optional<Cost> cost = fused_attention_cost(a, calls[i], calls[*end]);
    const std::optional<Bound> bound = cost ? bound_of(*cost, a.platform()) : std::nullopt;
    if (!bound) continue;
    found.fused_seconds += std::max(bound->seconds(), seconds_of(a.shortest_kernel()));
    found.batched += read_product(calls[i])->batch > 1;
    if (found.times++ == 0) found.example = calls[i].op->event;
    for (size_t k = i; k <= *end; ++k) {
      found.calls.push_back(&calls[k]);
      found.seconds += seconds_of(calls[k].time);
      found.counted_seconds += seconds_of(calls[k].time) * calls[k].assessed->counted;
      if (k > i) found.waited_seconds += seconds_of(calls[k].waited);
    }
    i = *end;
  }
  // One product, a softmax and one product may be anything; head after head it is attention.
  constexpr size_t kHeads = 4;
  if (found.times == 0 || (found.batched == 0 && found.times < kHeads)) return {};
  Finding f;
  f.kind = FindingKind::kUnfusedAttention;
  f.category = "sdpa_fwd";
  f.subject = "softmax(QKᵀ)V in separate ops";
  f.time = nanos_from(found.seconds + found.waited_seconds);
  f.title = "Unfused attention: separate GEMMs and softmax";
  f.issue = fmt::format(
      "{} {} the scores are written to and read back from memory, for {} in all. A fused kernel "
      "keeps "
      "them on chip.",
      found.times, noun(found.times, "time"), micros_text(nanos_from(found.seconds)));
  advise(a, f, {});
  f.confidence = Confidence::kHigh;
  const std::vector<const AssessedOp*> ops = ops_by_time(found.calls);
  rate_pattern(f, std::ranges::any_of(ops, &AssessedOp::is_top));
  project_replacement(
      a, f, {found.seconds, found.counted_seconds, found.fused_seconds, found.waited_seconds});
  // The gradient of attention has five products where the forward pass has two.
  constexpr double kProducts = 2.5, kGood = 0.6;
  const double gradients = cover_gradients(a, Gradients(a.input()), f, found.calls);
  add_gradients(a, f, std::max(0.0, gradients - kProducts * found.fused_seconds / kGood),
                std::max(0.0, gradients - kProducts * found.fused_seconds));
  for (size_t i = 0; i < std::min<size_t>(8, ops.size()); ++i) {
    f.evidence.push_back(evidence_of(a, *ops[i]));
  }
  f.call_stack = call_stack_of(a.input(), found.example);
  for (const Call* call : found.calls) cover(a, f, *call->op);
  return {f};
}

}  // namespace fathom::analyses
