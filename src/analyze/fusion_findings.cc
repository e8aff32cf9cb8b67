// Findings about runs of ops that one op could do.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "analyze/advice.h"
#include "analyze/analyses.h"
#include "analyze/finding_parts.h"
#include "analyze/priority.h"
#include "cost/element_type.h"

namespace fathom::analyses {
namespace {

using Call = AssessedCall;

const std::vector<int64_t>* largest_dims(const OpArgs& args) {
  const std::vector<int64_t>* largest = nullptr;
  int64_t most = -1;
  for (const ArgValue& value : args.inputs) {
    if (!value.is_tensor()) continue;
    const int64_t count = element_count(value.shape.dims).value_or(0);
    if (count > most) most = count, largest = &value.shape.dims;
  }
  return largest;
}

// Each dimension equal, or 1 in one of them: what elementwise ops may hand each other.
bool stretches_over(const std::vector<int64_t>& x, const std::vector<int64_t>& y) {
  const size_t common = std::min(x.size(), y.size());
  for (size_t i = 1; i <= common; ++i) {
    const int64_t p = x[x.size() - i], q = y[y.size() - i];
    if (p != q && p != 1 && q != 1) return false;
  }
  return common > 0;
}

bool is_pointwise(const AssessedOp& op) {
  return op.group->cost &&
         (op.category == "elementwise" || op.category == "reduce" || op.category == "norm" ||
          op.category == "rope") &&
         (!op.bound || !op.bound->is_compute());
}

double seconds_of(Nanos time) { return static_cast<double>(time.count) / 1e9; }

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

struct Chain {
  size_t times = 0;
  double seconds = 0, counted_seconds = 0, fused_bytes = 0;
  std::vector<const AssessedOp*> ops;  // of the first one seen
  EventId example;
};

class ChainFinder {
 public:
  explicit ChainFinder(const Assessment& a) : a_(a), args_(a.ops().size()) {}

  using Chains = std::map<std::vector<std::string_view>, Chain>;  // by the names of the ops

  Chains find() {
    for (const Call& call : a_.calls()) {
      if (!continues(call)) close();
      if (is_pointwise(*call.assessed)) open_.push_back(call);
    }
    close();
    return std::move(chains_);
  }

 private:
  const OpArgs* args_of(const AssessedOp& op) {
    std::optional<std::optional<OpArgs>>& slot = args_[static_cast<size_t>(&op - a_.ops().data())];
    if (!slot) {
      const EventStore& store = a_.input().store;
      slot = read_op_args(store, store.args_id(op.group->first().event));
    }
    return *slot ? &**slot : nullptr;
  }

  bool continues(const Call& call) {
    if (open_.empty() || !is_pointwise(*call.assessed)) return open_.empty();
    const Call& before = open_.back();
    const EventStore& store = a_.input().store;
    if (before.parent != call.parent ||
        store.track_id(before.op->event) != store.track_id(call.op->event)) {
      return false;
    }
    const OpArgs *x = args_of(*before.assessed), *y = args_of(*call.assessed);
    if (x == nullptr || y == nullptr) return false;
    const auto *p = largest_dims(*x), *q = largest_dims(*y);
    return p != nullptr && q != nullptr && stretches_over(*p, *q);
  }

  void close() {
    constexpr size_t kShortest = 3;
    if (open_.size() >= kShortest) {
      std::vector<std::string_view> names;
      for (const Call& call : open_) names.push_back(call.assessed->group->key.name);
      Chain& chain = chains_[std::move(names)];
      if (chain.times++ == 0) {
        for (const Call& call : open_) chain.ops.push_back(call.assessed);
        chain.example = open_.front().op->event;
      }
      for (size_t i = 0; i < open_.size(); ++i) {
        const Call& call = open_[i];
        chain.seconds += seconds_of(call.time);
        chain.counted_seconds += seconds_of(call.time) * call.assessed->counted;
        chain.fused_bytes += call.assessed->group->cost->bytes;
        // What one op writes only for the next to read never leaves the registers.
        if (i + 1 < open_.size()) {
          const OpArgs* args = args_of(*call.assessed);
          if (args != nullptr) chain.fused_bytes -= 2 * written_bytes(*call.assessed, *args);
        }
      }
    }
    open_.clear();
  }

  const Assessment& a_;
  std::vector<std::optional<std::optional<OpArgs>>> args_;  // by op; empty: not yet read
  std::vector<Call> open_;
  Chains chains_;
};

}  // namespace

std::vector<Finding> fusible_chains(const Assessment& a) {
  const std::optional<Limit> memory =
      a.platform() != nullptr ? limit_of(a.platform()->memory_bandwidth) : std::nullopt;
  if (!memory) return {};
  std::vector<Finding> findings;
  for (const auto& [names, chain] : ChainFinder(a).find()) {
    const double floor = seconds_of(a.shortest_kernel()) * static_cast<double>(chain.times);
    const double fused = std::max(floor, std::max(0.0, chain.fused_bytes) / memory->rate);
    if (fused >= chain.seconds) continue;
    Finding f;
    f.kind = FindingKind::kFusibleChain;
    f.category = chain.ops.front()->category;
    f.subject = fmt::format("{}", fmt::join(names, " → "));
    f.time = nanos_from(chain.seconds);
    f.title = fmt::format("{} memory-bound ops in a row could be one kernel", chain.ops.size());
    f.issue = fmt::format(
        "{} runs of {} ops work on tensors of one size one after the other, for {} in all; what "
        "they "
        "hand each other goes through memory.",
        chain.times, chain.ops.size(), micros_text(f.time));
    advise(a, f, traits_of(a, chain.ops));
    f.confidence = Confidence::kMedium;
    rate_pattern(f, std::ranges::any_of(chain.ops, &AssessedOp::is_top));
    project_replacement(a, f, fused, chain.counted_seconds / chain.seconds);
    for (const AssessedOp* op : chain.ops) {
      if (f.evidence.size() < 8) f.evidence.push_back(evidence_of(a, *op));
    }
    f.call_stack = call_stack_of(a.input(), chain.example);
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
  Product p{};
  for (const CostParam& param : call.assessed->group->cost->params) {
    const auto number = read_int_list("[" + param.json + "]");
    if (!number || number->size() != 1) continue;
    if (param.name == "B") p.batch = (*number)[0];
    if (param.name == "M") p.m = (*number)[0];
    if (param.name == "N") p.n = (*number)[0];
    if (param.name == "K") p.k = (*number)[0];
  }
  return p;
}

bool is_softmax(const Call& call) {
  const std::string_view name = call.assessed->group->key.name;
  return name.find("softmax") != std::string_view::npos &&
         name.find("log_softmax") == std::string_view::npos &&
         name.find("backward") == std::string_view::npos;
}

// From a product at `begin` through a softmax over its columns to the product with V, with nothing
// but pointwise ops between; the place of the last, or nothing.
std::optional<size_t> attention_end(const std::vector<Call>& calls, size_t begin) {
  constexpr size_t kLongest = 12;
  const std::optional<Product> scores = read_product(calls[begin]);
  if (!scores || scores->batch < 2) return {};
  bool softmax = false;
  for (size_t i = begin + 1; i < std::min(calls.size(), begin + kLongest); ++i) {
    const std::optional<Product> product = read_product(calls[i]);
    if (product) {
      const bool fits = softmax && product->batch == scores->batch && product->m == scores->m &&
                        product->k == scores->n;
      return fits ? std::optional(i) : std::nullopt;
    }
    softmax = softmax || is_softmax(calls[i]);
    if (!is_softmax(calls[i]) && !is_pointwise(*calls[i].assessed)) return {};
  }
  return {};
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
  size_t times = 0;
  double seconds = 0, counted_seconds = 0, fused_seconds = 0;
  std::vector<const AssessedOp*> ops;
  EventId example;
};

}  // namespace

std::vector<Finding> unfused_attention(const Assessment& a) {
  const std::vector<Call>& calls = a.calls();
  UnfusedAttention found;
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::optional<size_t> end = attention_end(calls, i);
    if (!end) continue;
    const std::optional<Cost> cost = fused_attention_cost(a, calls[i], calls[*end]);
    const std::optional<Bound> bound = cost ? bound_of(*cost, a.platform()) : std::nullopt;
    if (!bound) continue;
    found.fused_seconds += bound->seconds();
    if (found.times++ == 0) found.example = calls[i].op->event;
    for (size_t k = i; k <= *end; ++k) {
      found.seconds += seconds_of(calls[k].time);
      found.counted_seconds += seconds_of(calls[k].time) * calls[k].assessed->counted;
      if (found.times == 1) found.ops.push_back(calls[k].assessed);
    }
    i = *end;
  }
  if (found.times == 0) return {};
  Finding f;
  f.kind = FindingKind::kUnfusedAttention;
  f.category = "sdpa_fwd";
  f.subject = "softmax(QKᵀ)V in separate ops";
  f.time = nanos_from(found.seconds);
  f.title = "Attention runs as separate products and a softmax";
  f.issue = fmt::format(
      "{} times the scores are written to memory and read back for {}; one fused op never does.",
      found.times, micros_text(f.time));
  advise(a, f, {});
  f.confidence = Confidence::kHigh;
  rate_pattern(f, std::ranges::any_of(found.ops, &AssessedOp::is_top));
  project_replacement(a, f, found.fused_seconds, found.counted_seconds / found.seconds);
  for (const AssessedOp* op : found.ops) f.evidence.push_back(evidence_of(a, *op));
  f.call_stack = call_stack_of(a.input(), found.example);
  return {f};
}

}  // namespace fathom::analyses
