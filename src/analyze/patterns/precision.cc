// Work in a wider type than needed: FP32 products off the matrix units, double precision.
#include <fmt/format.h>

#include <algorithm>

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
// meant to be, unless operands of both widths meet: one of them made the results double.
std::vector<Finding> double_precision(const PatternInput& in) {
  const Platform* platform = in.assessment().platform();
  double in_double = 0, in_float = 0, in_half = 0, promoted = 0;
  std::vector<const AssessedCall*> doubles;
  for (const AssessedCall& call : in.calls()) {
    const OpView& view = in.view(call);
    const double seconds = seconds_of(call.time);
    // A cast to or from double belongs to neither side.
    if (view.has_double && !view.has_float && !view.has_half) in_double += seconds;
    if (view.has_float) in_float += seconds;
    if (view.has_half) in_half += seconds;
    if (view.has_double) doubles.push_back(&call);
    const bool is_mixed = view.has_double && (view.has_float || view.has_half);
    if (is_mixed && !view.has(Role::kCopy)) promoted += seconds;
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
  constexpr double kMeantToBe = 0.8, kByPromotion = 0.01;
  const double all = in_double + in_float + in_half;
  const bool by_promotion = promoted > kByPromotion * all;
  if (found.calls.empty() || (in_double > kMeantToBe * all && !by_promotion)) return {};
  if (!is_noticeable(in, found.most)) return {};
  PatternText text{
      FindingKind::kDoublePrecision,
      std::string(ops_by_time(found.calls.calls()).front()->group->key.name),
      "Double precision in a program of narrower types",
      fmt::format("{} with double operands, {} of GPU time. {}",
                  counted(found.calls.size(), "call"),
                  micros_text(nanos_from(found.calls.seconds())),
                  by_promotion ? "Operands of double and of narrower types meet, which makes the "
                                 "results double."
                               : "The rest of the program uses narrower types."),
      Confidence::kHigh};
  return {pattern_finding(in, std::move(text), found.calls,
                          {found.least, found.most, "FP32 at the same % of achievable",
                           half ? "BF16 at 100 % of achievable" : "FP32 at 100 % of achievable"})};
}

}  // namespace fathom::patterns
