// Work in a wider type than needed: FP32 products off the matrix units, double precision, casts.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

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
  double in_double = 0, in_float = 0;
  WiderThanNeeded found;
  for (const AssessedCall& call : in.calls()) {
    const OpView& view = in.view(call);
    bool any_double = false, any_float = false;
    for (const ArgValue& value : view.args.inputs) {
      if (!value.is_tensor()) continue;
      any_double = any_double || is_float_type(value, 64);
      const ElementType* type = find_element_type(value.type);
      any_float = any_float || (type != nullptr && type->is_float && type->bits < 64);
    }
    // A cast to or from double belongs to neither side.
    if (any_double && !any_float) in_double += seconds_of(call.time);
    if (any_float) in_float += seconds_of(call.time);
    if (!any_double) continue;
    const AssessedOp& op = *call.assessed;
    const double now = seconds_of(call.time);
    if (op.bound && op.group->cost && platform != nullptr) {
      const bool product = op.category == "gemm" || op.category == "convolution";
      const auto narrow =
          bound_with(in, *op.group->cost, product ? "matrix_tf32" : "vector_fp32", 0.5);
      const auto vector = bound_with(in, *op.group->cost, "vector_fp32", 0.5);
      if (vector) {
        // At today's distance from the limit, and at the limit.
        const double same = *vector * now / std::max(op.bound->seconds(), 1e-12);
        found.add(in, call, std::min(now, same), narrow.value_or(*vector));
        continue;
      }
    }
    found.add(in, call, now, now / 2);  // half of the bytes
  }
  constexpr double kMeantToBe = 0.8;
  if (found.calls.empty() || in_double > kMeantToBe * (in_double + in_float)) return {};
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
                           "FP32 at 100 % of achievable"})};
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
bool feeds_product(const PatternInput& in, const Cast& cast) {
  constexpr size_t kNext = 4;
  if (cast.dims->size() != 2) return false;
  const std::vector<int64_t>& dims = *cast.dims;
  for (size_t i = cast.place + 1; i < std::min(in.calls().size(), cast.place + 1 + kNext); ++i) {
    const AssessedCall& call = in.calls()[i];
    if (call.assessed->category != "gemm") continue;
    for (const ArgValue& value : in.view(call).args.inputs) {
      if (value.type != cast.to || value.shape.dims.size() != 2) continue;
      const int64_t rows = value.shape.dims[0], columns = value.shape.dims[1];
      if ((rows == dims[0] && columns == dims[1]) || (rows == dims[1] && columns == dims[0])) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

// Needless for certain: a cast that is undone soon after, or the same weight cast again and again.
// A single cast at the border of the model is neither.
std::vector<Finding> casts(const PatternInput& in) {
  constexpr size_t kUndoneWithin = 12, kAgain = 4;
  const std::vector<AssessedCall>& calls = in.calls();
  std::vector<Cast> all;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (const auto cast = cast_at(in, i)) all.push_back(*cast);
  }
  std::map<const AssessedOp*, std::vector<const Cast*>> weights;
  std::vector<bool> needless(all.size());
  size_t round_trips = 0, weight_casts = 0;
  // Within a run of ops that could be one, fusing them removes the casts, and is told as that.
  std::vector<size_t> run_of(calls.size(), SIZE_MAX);
  for (size_t run = 0; run < in.assessment().pointwise_runs().size(); ++run) {
    const PointwiseRun& places = in.assessment().pointwise_runs()[run];
    for (size_t i = places.begin; i < places.end; ++i) run_of[i] = run;
  }
  std::vector<size_t> casts_in_run(in.assessment().pointwise_runs().size());
  for (const Cast& cast : all) {
    if (run_of[cast.place] != SIZE_MAX) ++casts_in_run[run_of[cast.place]];
  }
  std::vector<bool> mostly_casts;
  for (size_t run = 0; run < casts_in_run.size(); ++run) {
    const PointwiseRun& places = in.assessment().pointwise_runs()[run];
    mostly_casts.push_back(casts_in_run[run] * 2 > places.end - places.begin);
  }
  std::vector<size_t> products_before{0};
  for (const AssessedCall& call : calls) {
    const std::string_view category = call.assessed->category;
    const bool product = category == "gemm" || category == "convolution" ||
                         category == "sdpa_fwd" || category == "sdpa_bwd";
    products_before.push_back(products_before.back() + product);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const AssessedCall& call = calls[all[i].place];
    if (feeds_product(in, all[i])) weights[call.assessed].push_back(&all[i]);
    for (size_t k = i + 1; k < all.size() && all[k].place - all[i].place <= kUndoneWithin; ++k) {
      if (!in.same_thread(call, calls[all[k].place])) break;
      // A product between them is what the cast is for.
      if (products_before[all[k].place] != products_before[all[i].place]) break;
      const bool undone = all[k].from == all[i].to && all[k].to == all[i].from &&
                          *all[k].dims == *all[i].dims && !needless[k];
      const size_t run = run_of[all[i].place];
      if (undone && run != SIZE_MAX && run == run_of[all[k].place] && !mostly_casts[run]) break;
      if (!undone) continue;
      if (!needless[i]) ++round_trips;
      needless[i] = needless[k] = true;
      break;
    }
  }
  for (const auto& [op, same] : weights) {
    if (same.size() < kAgain) continue;
    for (const Cast* cast : same) {
      const auto at = static_cast<size_t>(cast - all.data());
      weight_casts += !needless[at];
      needless[at] = true;
    }
  }
  MatchedCalls found;
  for (size_t i = 0; i < all.size(); ++i) {
    if (needless[i]) found.add(calls[all[i].place], false);
  }
  if (found.empty() || !is_noticeable(in, found.counted())) return {};
  Traits traits;
  if (weight_casts > round_trips) traits.add("weights");
  PatternText text{
      FindingKind::kCasts, std::string(ops_by_time(found.calls()).front()->group->key.name),
      weight_casts > round_trips ? "The same weights are cast again and again"
                                 : "Tensors are cast to another type and back",
      fmt::format("{} ({} of weights before a product, {} undone soon after) take {}.",
                  per_step(in, found.size(), "cast", "casts"), number_text(weight_casts),
                  number_text(round_trips), micros_text(nanos_from(found.seconds()))),
      Confidence::kMedium};
  // Training keeps wide weights for the optimizer: a narrow copy of them is made once a step.
  const bool required = in.has_backward() && weight_casts > round_trips;
  return {pattern_finding(in, std::move(text), found,
                          {required ? 0 : found.counted(), found.counted(), "", "no such casts"},
                          traits)};
}

}  // namespace fathom::patterns
