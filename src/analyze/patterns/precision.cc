// Work in a wider type than needed: FP32 products off the matrix units, double precision, casts.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"
#include "tree/steps.h"

namespace fathom::patterns {
namespace {

// Kernels that multiply FP32 on the vector units, as cuBLAS, cuDNN, CUTLASS and rocBLAS name them.
constexpr std::string_view kVectorFp32[] = {"sgemm",
                                            "simt",
                                            "ffma",
                                            "f32f32_f32f32",
                                            "scudnn",
                                            "_SB_",
                                            "gemmSN",
                                            "SgemmStrided",
                                            "gemm_fp32",
                                            "fp32fp32",
                                            "magma_sgemm",
                                            "winograd_float",
                                            "implicit_convolve_sgemm"};
constexpr std::string_view kOnMatrixUnits[] = {"tf32", "TF32", "s1688", "tensorop",
                                               "xf32", "bf16", "h884",  "s884"};

bool all_floats_have(const OpView& view, int bits) {
  bool any = false;
  for (const ArgValue& value : view.args.inputs) {
    if (!value.is_tensor()) continue;
    const ElementType* type = find_element_type(value.type);
    if (type == nullptr || !type->is_float) continue;
    if (type->bits != bits) return false;
    any = true;
  }
  return any;
}

std::optional<double> rate_named(const Platform& platform, std::string_view name) {
  const Rate* rate = platform.find(name);
  const std::optional<Limit> limit = rate != nullptr ? limit_of(*rate) : std::nullopt;
  return limit ? std::optional(limit->rate) : std::nullopt;
}

// Seconds that one call needs with other arithmetic, and with its bytes scaled.
std::optional<double> bound_with(const PatternInput& in, const Cost& cost, std::string_view spec,
                                 double bytes_scale) {
  const std::optional<double> rate = rate_named(*in.assessment().platform(), spec);
  if (!rate || !in.memory_rate()) return {};
  return std::max(cost.flops / *rate, cost.bytes * bytes_scale / *in.memory_rate());
}

bool is_wide_product(const PatternInput& in, const AssessedCall& call) {
  const AssessedOp& op = *call.assessed;
  if (op.category != "gemm" && op.category != "convolution") return false;
  if (!op.group->cost || op.group->cost->flops <= 0 || !all_floats_have(in.view(op), 32)) {
    return false;
  }
  return in.any_kernel(*call.op, kVectorFp32) && !in.any_kernel(*call.op, kOnMatrixUnits);
}

struct WiderThanNeeded {
  MatchedCalls calls;
  double least = 0, most = 0;

  // `now`: the bound of today's arithmetic; `better`, `best`: of others.
  void add(const PatternInput& in, const AssessedCall& call, double better, double best) {
    const double now = seconds_of(call.time);
    const double floor = seconds_of(in.assessment().shortest_kernel());
    calls.add(call, false);
    least += (now - std::min(now, std::max(better, floor))) * call.assessed->counted;
    most += (now - std::min(now, std::max(best, floor))) * call.assessed->counted;
  }
};

}  // namespace

// TF32 exists since sm_80; before it FP16 is the way to the matrix units.
std::vector<Finding> wide_products(const PatternInput& in) {
  const Platform* platform = in.assessment().platform();
  if (platform == nullptr) return {};
  constexpr double kReached = 0.6;  // of the limit, by library kernels at most sizes
  const bool tf32 = rate_named(*platform, "matrix_tf32").has_value();
  const std::string_view narrow =
      rate_named(*platform, "matrix_bf16") ? "matrix_bf16" : "matrix_fp16";
  WiderThanNeeded found;
  size_t calls = 0;
  for (const AssessedCall& call : in.calls()) {
    if (!is_wide_product(in, call)) continue;
    const Cost& cost = *call.assessed->group->cost;
    const auto half = bound_with(in, cost, narrow, 0.5);
    if (!half) continue;
    const auto first = tf32 ? bound_with(in, cost, "matrix_tf32", 1) : half;
    found.add(in, call, first.value_or(*half) / kReached, *half);
    ++calls;
  }
  if (found.calls.empty() || !is_noticeable(in, found.most)) return {};
  const std::string_view narrow_text = narrow == "matrix_bf16" ? "BF16" : "FP16";
  Traits traits;
  if (tf32) traits.add("has_tf32");
  PatternText text{
      FindingKind::kWideProducts,
      std::string(ops_by_time(found.calls.calls()).front()->group->key.name),
      fmt::format("FP32 matrix products do not use the matrix units{}",
                  tf32 ? " (TF32 is off)" : ""),
      fmt::format("{} with FP32 operands run on the vector units, {} of GPU time.",
                  counted(calls, "product"), micros_text(nanos_from(found.calls.seconds()))),
      Confidence::kHigh};
  return {pattern_finding(in, std::move(text), found.calls,
                          {found.least, found.most,
                           fmt::format("{} at 60 % of achievable", tf32 ? "TF32" : narrow_text),
                           fmt::format("{} at 100 % of achievable", narrow_text)},
                          traits)};
}

// Double precision in a program that is narrower otherwise. Where most of it is double, it is
// meant to be.
std::vector<Finding> double_precision(const PatternInput& in) {
  const Platform* platform = in.assessment().platform();
  double in_double = 0, in_float = 0, in_half = 0;
  std::vector<const AssessedCall*> doubles;
  for (const AssessedCall& call : in.calls()) {
    const OpView& view = in.view(call);
    const double seconds = seconds_of(call.time);
    // A cast to or from double belongs to neither side.
    if (view.has_double && !view.has_float && !view.has_half) in_double += seconds;
    if (view.has_float) in_float += seconds;
    if (view.has_half) in_half += seconds;
    if (view.has_double) doubles.push_back(&call);
  }
  // What the rest of the program computes in.
  const bool half = in_half > in_float;
  const std::string_view matrix = half ? "matrix_bf16" : "matrix_tf32";
  const double bytes_scale = half ? 0.25 : 0.5;
  WiderThanNeeded found;
  for (const AssessedCall* call : doubles) {
    const AssessedOp& op = *call->assessed;
    const double now = seconds_of(call->time);
    if (op.bound && op.group->cost && platform != nullptr) {
      const bool product = op.category == "gemm" || op.category == "convolution";
      const Cost& cost = *op.group->cost;
      const auto best = bound_with(in, cost, product ? matrix : "vector_fp32", bytes_scale);
      const auto vector = bound_with(in, cost, "vector_fp32", 0.5);
      if (vector) {
        // At today's distance from the limit, and at the limit.
        const double same = *vector * now / std::max(op.bound->seconds(), 1e-12);
        found.add(in, *call, std::min(now, same), best.value_or(*vector));
        continue;
      }
    }
    found.add(in, *call, now, now * bytes_scale);
  }
  constexpr double kMeantToBe = 0.8;
  if (found.calls.empty() || in_double > kMeantToBe * (in_double + in_float + in_half)) return {};
  if (!is_noticeable(in, found.most)) return {};
  PatternText text{
      FindingKind::kDoublePrecision,
      std::string(ops_by_time(found.calls.calls()).front()->group->key.name),
      "Double precision in a program of narrower types",
      fmt::format("{} with double operands, {} of GPU time. The rest of the program uses "
                  "narrower types.",
                  counted(found.calls.size(), "call"),
                  micros_text(nanos_from(found.calls.seconds()))),
      Confidence::kHigh};
  return {pattern_finding(in, std::move(text), found.calls,
                          {found.least, found.most, "FP32 at the same % of achievable",
                           half ? "BF16 at 100 % of achievable" : "FP32 at 100 % of achievable"})};
}

namespace {

struct Cast {
  size_t place;  // in calls()
  std::string_view from, to;
  const std::vector<int64_t>* dims;
};

// copy_(to, from) of one shape and two types.
std::optional<Cast> cast_at(const PatternInput& in, size_t place) {
  const AssessedCall& call = in.calls()[place];
  if (!in.has(call, Role::kCopy)) return {};
  const ArgValue *to = in.view(call).tensor(0), *from = in.view(call).tensor(1);
  if (to == nullptr || from == nullptr || to->type == from->type) return {};
  if (to->shape.dims != from->shape.dims) return {};
  if (find_element_type(to->type) == nullptr || find_element_type(from->type) == nullptr) return {};
  return Cast{place, from->type, to->type, &to->shape.dims};
}

// The next product that reads a matrix of these sizes: then the cast is of a weight.
std::optional<size_t> feeds_product(const PatternInput& in, const Cast& cast) {
  constexpr size_t kNext = 4;
  if (cast.dims->size() != 2) return {};
  const std::vector<int64_t>& dims = *cast.dims;
  for (size_t i = cast.place + 1; i < std::min(in.calls().size(), cast.place + 1 + kNext); ++i) {
    const AssessedCall& call = in.calls()[i];
    if (call.assessed->category != "gemm") continue;
    for (const ArgValue& value : in.view(call).args.inputs) {
      if (value.type != cast.to || value.shape.dims.size() != 2) continue;
      const int64_t rows = value.shape.dims[0], columns = value.shape.dims[1];
      if ((rows == dims[0] && columns == dims[1]) || (rows == dims[1] && columns == dims[0])) {
        return i;
      }
    }
  }
  return {};
}

// Sizes of tensors that ops may have written: of an elementwise op its largest operand's, of a
// product its own. Copies and updates of weights are left out.
std::set<int64_t> written_sizes(const PatternInput& in) {
  std::set<int64_t> sizes;
  for (const AssessedOp& op : in.assessment().ops()) {
    const OpView& view = in.view(op);
    if (view.has(Role::kUpdate) || view.has(Role::kFusedUpdate)) continue;
    if (const auto& size = in.product(op))
      sizes.insert(element_count({size->batch, size->m, size->n}).value_or(0));
    if (view.has(Role::kCopy) && view.tensor(1) != nullptr &&
        view.tensor(0)->type != view.tensor(1)->type)
      continue;
    for (const ArgValue& value : view.args.inputs)
      if (value.is_tensor()) sizes.insert(elements_of(value));
  }
  return sizes;
}

// Whether the size of what an op writes can be told from its operands.
bool has_known_result(const PatternInput& in, const AssessedCall& call) {
  return in.product(*call.assessed).has_value() || is_pointwise(*call.assessed) ||
         in.has(call, Role::kCopy);
}

// Casts to a narrower type, several in each step, of one large tensor that nothing between them
// writes: the same values each time. By its size: no other op has such a tensor.
std::vector<size_t> unchanged_sources(const PatternInput& in, const std::vector<Cast>& casts) {
  constexpr int64_t kLarge = int64_t{1} << 20;
  constexpr size_t kAgain = 4, kInAStep = 2;
  std::map<const AssessedOp*, std::vector<size_t>> alike;
  for (const Cast& cast : casts) {
    const ElementType *from = find_element_type(cast.from), *to = find_element_type(cast.to);
    if (from->bits <= to->bits || element_count(*cast.dims).value_or(0) < kLarge) continue;
    const size_t place = cast.place;
    if (place > 0 && !has_known_result(in, in.calls()[place - 1])) continue;
    alike[in.calls()[place].assessed].push_back(place);
  }
  std::vector<size_t> unchanged;
  if (alike.empty()) return unchanged;
  const std::set<int64_t> written = written_sizes(in);
  for (const auto& [op, places] : alike) {
    if (places.size() < std::max(kAgain, kInAStep * in.steps())) continue;
    if (written.contains(elements_of(*in.view(*op).tensor(1)))) continue;
    unchanged.insert(unchanged.end(), places.begin(), places.end());
  }
  return unchanged;
}

// Sums rows: in FP32, whatever the type of its operands.
bool sums_in_fp32(const AssessedCall& call) {
  const std::string_view name = call.assessed->group->key.name;
  return name.find("softmax") != std::string_view::npos || call.assessed->category == "norm" ||
         name == "aten::logsumexp";
}

// Large tensors of 16 bits that are cast to 32 for an op that sums in FP32 anyway: the cast, copies
// of it on the way, and in training the way back. What reads them would read half as much.
size_t mark_widened(const PatternInput& in, const std::vector<Cast>& casts,
                    std::vector<bool>& needless, std::vector<size_t>& halved) {
  constexpr int64_t kLarge = int64_t{1} << 20;
  constexpr size_t kNext = 5;
  constexpr double kNearlyAll = 0.9;
  const std::vector<AssessedCall>& calls = in.calls();
  const auto is_as_large = [&](const AssessedCall& call, int64_t elements) {
    const ArgValue* tensor = in.view(call).tensor(0);
    return tensor != nullptr && is_float_type(*tensor, 32) && elements_of(*tensor) <= elements &&
           static_cast<double>(elements_of(*tensor)) >= kNearlyAll * static_cast<double>(elements);
  };
  std::set<int64_t> sizes;
  size_t found = 0;
  for (const Cast& cast : casts) {
    const int64_t elements = element_count(*cast.dims).value_or(0);
    const ElementType *from = find_element_type(cast.from), *to = find_element_type(cast.to);
    if (needless[cast.place] || elements < kLarge || from->bits != 16 || to->bits != 32) continue;
    if (!from->is_float || !to->is_float) continue;
    std::vector<size_t> on_the_way;
    for (size_t i = cast.place + 1; i < std::min(calls.size(), cast.place + 1 + kNext); ++i) {
      if (!in.same_thread(calls[i], calls[cast.place])) break;
      if (!is_as_large(calls[i], elements)) continue;
      on_the_way.push_back(i);
      if (in.has(calls[i], Role::kCopy)) continue;
      if (!sums_in_fp32(calls[i])) break;
      ++found;
      needless[cast.place] = true;
      sizes.insert(elements);
      halved.insert(halved.end(), on_the_way.begin(), on_the_way.end());
      break;
    }
  }
  // Gradients of them: the gradient of the sum, and the cast back.
  for (size_t i = 0; i < calls.size() && !sizes.empty() && in.has_backward(); ++i) {
    if (needless[i] || !in.any_around(calls[i].op->event, "*Backward*")) continue;
    const ArgValue* tensor = in.view(calls[i]).tensor(0);
    if (tensor == nullptr || !sizes.contains(elements_of(*tensor))) continue;
    if (cast_at(in, i)) {
      needless[i] = true;
    } else if (is_pointwise(*calls[i].assessed)) {
      halved.push_back(i);
    }
  }
  return found;
}

// Casts that a later one undoes, with no product between for which they would be needed.
class RoundTrips {
 public:
  RoundTrips(const PatternInput& in, const std::vector<Cast>& casts)
      : in_(in), casts_(casts), steps_(in.store(), kProfilerSteps) {
    find_runs();
    products_before_.push_back(0);
    for (const AssessedCall& call : in.calls()) {
      const std::string_view category = call.assessed->category;
      const bool product = category == "gemm" || category == "convolution" ||
                           category == "sdpa_fwd" || category == "sdpa_bwd";
      products_before_.push_back(products_before_.back() + product);
    }
  }

  // Marks their places; how many there are. `between`: places of the ops between, which would run
  // on a type of half the size.
  size_t mark(std::vector<bool>& needless, std::vector<size_t>& between) {
    constexpr size_t kUndoneWithin = 12;
    size_t found = 0;
    for (size_t i = 0; i < casts_.size(); ++i) {
      if (needless[casts_[i].place]) continue;
      for (size_t k = i + 1; k < casts_.size(); ++k) {
        if (casts_[k].place - casts_[i].place > kUndoneWithin) break;
        if (!may_be_undone(casts_[i], casts_[k])) break;
        const bool undone = casts_[k].from == casts_[i].to && casts_[k].to == casts_[i].from &&
                            *casts_[k].dims == *casts_[i].dims && !needless[casts_[k].place];
        if (!undone) continue;
        if (told_as_run(casts_[i], casts_[k])) break;
        ++found;
        needless[casts_[i].place] = needless[casts_[k].place] = true;
        for (size_t at = casts_[i].place + 1; at < casts_[k].place; ++at) {
          const AssessedCall& call = in_.calls()[at];
          if (needless[at] || !is_pointwise(*call.assessed) || in_.has(call, Role::kCopy)) continue;
          between.push_back(at);
        }
        break;
      }
    }
    return found;
  }

 private:
  // Within a run of ops that could be one, fusing them removes the casts, and is told as that.
  void find_runs() {
    const std::vector<PointwiseRun>& runs = in_.assessment().pointwise_runs();
    run_of_.assign(in_.calls().size(), SIZE_MAX);
    for (size_t run = 0; run < runs.size(); ++run) {
      for (size_t i = runs[run].begin; i < runs[run].end; ++i) run_of_[i] = run;
    }
    std::vector<size_t> casts_in(runs.size());
    for (const Cast& cast : casts_) {
      if (run_of_[cast.place] != SIZE_MAX) ++casts_in[run_of_[cast.place]];
    }
    for (size_t run = 0; run < runs.size(); ++run) {
      mostly_casts_.push_back(casts_in[run] * 2 > runs[run].end - runs[run].begin);
    }
  }
  bool told_as_run(const Cast& x, const Cast& y) const {
    const size_t run = run_of_[x.place];
    return run != SIZE_MAX && run == run_of_[y.place] && !mostly_casts_[run];
  }
  bool may_be_undone(const Cast& x, const Cast& y) const {
    const AssessedCall &from = in_.calls()[x.place], &to = in_.calls()[y.place];
    if (!in_.same_thread(from, to)) return false;
    if (products_before_[x.place] != products_before_[y.place]) return false;
    // The end of one step and the beginning of the next.
    const EventStore& store = in_.store();
    return steps_.at(store.start(from.op->event)) == steps_.at(store.start(to.op->event));
  }

  const PatternInput& in_;
  const std::vector<Cast>& casts_;
  const Steps steps_;
  std::vector<size_t> run_of_, products_before_;
  std::vector<bool> mostly_casts_;
};

}  // namespace

// Needless for certain: a cast that is undone soon after, or the same weight cast again and again.
// A single cast at the border of the model is neither.
std::vector<Finding> casts(const PatternInput& in) {
  constexpr size_t kAgain = 4;
  const std::vector<AssessedCall>& calls = in.calls();
  std::vector<Cast> all;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (const auto cast = cast_at(in, i)) all.push_back(*cast);
  }
  std::vector<bool> needless(calls.size());
  std::vector<size_t> between;
  const size_t round_trips = RoundTrips(in, all).mark(needless, between);
  std::map<const AssessedOp*, std::vector<std::pair<size_t, size_t>>> weights;  // cast, product
  for (const Cast& cast : all) {
    const auto product = feeds_product(in, cast);
    if (product) weights[calls[cast.place].assessed].emplace_back(cast.place, *product);
  }
  std::vector<size_t> halved;  // ops that would read half as much
  const size_t widened = mark_widened(in, all, needless, halved);
  size_t weight_casts = 0;
  for (const size_t place : unchanged_sources(in, all)) {
    weight_casts += !needless[place];
    needless[place] = true;
  }
  for (const auto& [op, same] : weights) {
    if (same.size() < kAgain) continue;
    for (const auto& [cast, product] : same) {
      weight_casts += !needless[cast];
      needless[cast] = true;
      // What is computed from the weight on the way, such as its scaling.
      for (size_t i = cast + 1; i < product; ++i) {
        if (is_pointwise(*calls[i].assessed)) needless[i] = true;
      }
    }
  }
  MatchedCalls found;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (needless[i]) found.add(calls[i], false);
  }
  double most = found.counted();
  for (const auto& places : {between, halved})
    for (size_t place : places)
      most += seconds_of(calls[place].time) * calls[place].assessed->counted / 2;
  if (found.empty() || !is_noticeable(in, most)) return {};
  Traits traits;
  const bool is_widened = widened > std::max(weight_casts, round_trips);
  if (weight_casts > round_trips) traits.add("weights");
  if (is_widened) traits.add("widened");
  PatternText text{FindingKind::kCasts,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   is_widened ? "Tensors are widened for ops that sum in FP32 anyway"
                   : weight_casts > round_trips ? "The same weights are cast again and again"
                                                : "Tensors are cast to another type and back",
                   fmt::format("{} ({} of weights, {} undone soon after, {} before a softmax or "
                               "norm) take {}.",
                               per_step(in, found.size(), "op", "ops"), number_text(weight_casts),
                               number_text(round_trips), number_text(widened),
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kMedium};
  // Training keeps wide weights for the optimizer: a narrow copy of them is made once a step.
  const bool required = in.has_backward() && weight_casts > round_trips;
  Finding f =
      pattern_finding(in, std::move(text), found,
                      {required ? 0 : found.counted(), most, required ? "" : "no such casts",
                       "no such casts, and the ops between them on narrow types"},
                      traits);
  for (size_t place : between) {
    for (EventId kernel : calls[place].op->kernels) cover_beside(f, kernel);
  }
  return {f};
}

}  // namespace fathom::patterns
