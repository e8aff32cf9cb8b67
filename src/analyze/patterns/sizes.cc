// Work whose sizes do not fit the GPU: unaligned products, few blocks, contended atomics.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

// "align1" of CUTLASS, not "align16".
bool is_unaligned_kernel(std::string_view name) {
  for (const std::string_view word : {"align1", "align2", "Align1", "Align2"}) {
    const size_t at = name.find(word);
    if (at == std::string_view::npos) continue;
    const char next = at + word.size() < name.size() ? name[at + word.size()] : ' ';
    if (next < '0' || next > '9') return true;
  }
  return false;
}

// The elements that a 16-byte load holds; none: the type is not one of the narrow ones.
std::optional<int64_t> vector_width(const OpView& view) {
  for (const ArgValue& value : view.args.inputs) {
    if (!value.is_tensor()) continue;
    const ElementType* type = find_element_type(value.type);
    if (type == nullptr) continue;
    if (type->is_float && type->bits == 16) return 8;
    if (type->bits == 8) return 16;
    return {};
  }
  return {};
}

// Rows of an operand that lie a number of elements apart which no wide load divides, as in a view
// of a wider tensor without its first column; 0: none.
int64_t odd_stride(const OpView& view, int64_t width) {
  for (const ArgValue& value : view.args.inputs) {
    if (value.shape.strides.size() < 2) continue;
    for (const int64_t stride : value.shape.strides)
      if (stride > 1 && stride % width != 0) return stride;
  }
  return 0;
}

bool is_unaligned(const PatternInput& in, const AssessedCall& call) {
  const auto& size = in.product(*call.assessed);
  const auto width = vector_width(in.view(call));
  constexpr int64_t kSkinny = 64;
  if (!size || !width || std::min({size->m, size->n, size->k}) < kSkinny) return false;
  if (std::ranges::any_of(call.op->kernels, [&in](EventId kernel) {
        return is_unaligned_kernel(in.store().name(kernel));
      }))
    return true;
  // Rows of the operands begin at multiples of K and N; M only counts rows.
  return size->k % *width != 0 || size->n % *width != 0;
}

}  // namespace

// Only where aligned products of the trace, or the usual rate, are clearly faster.
std::vector<Finding> odd_sizes(const PatternInput& in) {
  constexpr double kUsual = 0.6, kClearly = 0.8;
  double good_bound = 0, good_time = 0;
  std::vector<const AssessedCall*> unaligned;
  for (const AssessedCall& call : in.calls()) {
    const AssessedOp& op = *call.assessed;
    if (!op.efficiency || !op.bound || !op.bound->is_compute() || op.category != "gemm") continue;
    if (is_unaligned(in, call)) {
      unaligned.push_back(&call);
    } else if (vector_width(in.view(call))) {
      good_bound += *op.efficiency * seconds_of(call.time);
      good_time += seconds_of(call.time);
    }
  }
  const double reachable = good_time > 0 ? std::clamp(good_bound / good_time, 0.0, 1.0) : kUsual;
  MatchedCalls found;
  double least = 0, most = 0;
  for (const AssessedCall* call : unaligned) {
    const double efficiency = *call->assessed->efficiency;
    if (efficiency > kClearly * std::min(reachable, kUsual)) continue;
    const double now = seconds_of(call->time), limit = now * efficiency;
    found.add(*call, false);
    least += (now - std::min(now, limit / std::min(reachable, kUsual))) * call->assessed->counted;
    most += (now - std::min(now, limit)) * call->assessed->counted;
  }
  if (found.empty() || !is_noticeable(in, least)) return {};
  const AssessedOp& first = *ops_by_time(found.calls()).front();
  const ProductSize size = in.product(first).value_or(ProductSize{});
  const int64_t width = vector_width(in.view(first)).value_or(8);
  const bool fits = size.k % width == 0 && size.n % width == 0;
  const int64_t stride = fits ? odd_stride(in.view(first), width) : 0;
  PatternText text{
      FindingKind::kOddSizes, std::string(first.group->key.name),
      stride != 0 ? fmt::format("Rows of a matrix lie {} elements apart, no multiple of {}: slow "
                                "kernels",
                                stride, width)
                  : fmt::format("Matrix sizes are not multiples of {}: slow kernels", width),
      fmt::format("{} take {}, such as M {}, N {}, K {}. Rows that do not begin at 16-byte "
                  "boundaries need kernels with narrow loads.",
                  counted(found.size(), "product"), micros_text(nanos_from(found.seconds())),
                  size.m, size.n, size.k),
      Confidence::kMedium};
  Finding f = pattern_finding(
      in, std::move(text), found,
      {least, most,
       good_time > 0 ? "at the rate of the trace's aligned products" : "at 60 % of achievable",
       "at 100 % of achievable"});
  if (stride != 0)
    f.change_code =
        "Copy the view into a tensor of its own once, or keep the columns that it leaves out in "
        "another tensor.";
  return {f};
}

namespace {

constexpr Nanos kLongKernel{50'000};

// Blocks of a launch; none: the trace has no grid, or one that nothing could run.
std::optional<double> blocks_of(const EventStore& store, EventId kernel) {
  if (store.kind(kernel) != EventKind::kKernel) return {};
  const std::optional<Dim3>& grid = store.gpu_work(kernel).grid;
  if (!grid || grid->x == 0 || grid->y == 0 || grid->z == 0) return {};
  return static_cast<double>(grid->x) * grid->y * grid->z;
}

}  // namespace

std::vector<Finding> few_blocks(const PatternInput& in) {
  if (!in.compute_units()) return {};
  const auto units = static_cast<double>(*in.compute_units());
  MatchedCalls found;
  double saved = 0, weighted = 0;
  for (const AssessedCall& call : in.calls()) {
    double part = 0, time = 0;
    for (EventId kernel : call.op->kernels) {
      const auto blocks = blocks_of(in.store(), kernel);
      const Nanos duration = in.store().duration(kernel);
      // Half of the units and more is what the shapes of many good kernels come to.
      if (!blocks || *blocks * 2 > units || duration < kLongKernel) continue;
      part += seconds_of(duration) * (1 - *blocks / units);
      time += seconds_of(duration);
      weighted += *blocks * seconds_of(duration);
    }
    // At its limit, more blocks do not help.
    const double limit = call.assessed->bound ? call.assessed->bound->seconds() : 0;
    part = std::min(part, seconds_of(call.time) - limit);
    if (time <= 0 || part <= 0) continue;
    found.add(call, false);
    saved += part * call.assessed->counted;
  }
  if (found.empty() || !is_noticeable(in, saved)) return {};
  const std::vector<const AssessedOp*> ops = ops_by_time(found.calls());
  PatternText text{
      FindingKind::kFewBlocks, std::string(ops.front()->group->key.name),
      "Long kernels with fewer blocks than the GPU has units",
      fmt::format("{} take {} with {:.0f} blocks on average, and the GPU has {:.0f} "
                  "units.",
                  counted(found.size(), "call"), micros_text(nanos_from(found.seconds())),
                  weighted / std::max(1e-12, found.seconds()), units),
      Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {saved / 2, saved, "half of what all units would save",
                           "the same work on all units (upper bound)"})};
}

namespace {

// index_put says whether it adds to what is there.
bool only_stores(const OpView& view) {
  constexpr size_t kAccumulate = 3;
  const ArgValue* accumulates = view.args.at(kAccumulate);
  return accumulates != nullptr && accumulates->concrete == "False";
}

}  // namespace

// A full grid at a few percent of the bandwidth: many threads add to the same addresses.
std::vector<Finding> contended_atomics(const PatternInput& in) {
  constexpr double kFewPercent = 0.15, kUsual = 0.6;
  constexpr Nanos kWorthIt{20'000};
  constexpr double kPasses = 8;  // over the data, to sort it first (assumed)
  MatchedCalls found;
  double least = 0, most = 0;
  for (const AssessedCall& call : in.calls()) {
    const AssessedOp& op = *call.assessed;
    if (!in.has(call, Role::kAtomic) || !op.efficiency || *op.efficiency > kFewPercent) continue;
    if (call.time < kWorthIt || only_stores(in.view(call))) continue;
    // Few rows leave units idle, which is another cause.
    const bool full = std::ranges::any_of(call.op->kernels, [&in](EventId kernel) {
      const auto blocks = blocks_of(in.store(), kernel);
      return !blocks || !in.compute_units() || *blocks >= static_cast<double>(*in.compute_units());
    });
    if (!full) continue;
    const double now = seconds_of(call.time), limit = now * *op.efficiency;
    found.add(call, false);
    least += (now - std::min(now, limit * kPasses / kUsual)) * op.counted;
    most += (now - limit) * op.counted;
  }
  if (found.empty() || !is_noticeable(in, most)) return {};
  const AssessedOp& first = *ops_by_time(found.calls()).front();
  PatternText text{
      FindingKind::kContendedAtomics, std::string(first.group->key.name),
      fmt::format("{} is slowed down by additions to the same rows", first.group->key.name),
      fmt::format("{} run at {} of achievable bandwidth with a full grid, {} in all: "
                  "atomic additions or duplicate indices are serialized.",
                  counted(found.size(), "call"), percent_text(*first.efficiency),
                  micros_text(nanos_from(found.seconds()))),
      Confidence::kMedium};
  return {pattern_finding(
      in, std::move(text), found,
      {least, most, "sorted first, 8 passes at 60 % of the bandwidth", "at full bandwidth"})};
}

}  // namespace fathom::patterns
