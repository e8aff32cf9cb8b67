// Products that read an enlarged operand where the small one would do: pixels that were
// interpolated before a layer that mixes channels alone, one matrix that was expanded to a batch.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

using Dims = std::vector<int64_t>;

// Channels in and out of a convolution that mixes the channels of each pixel alone.
struct Channels {
  int64_t in = 0, out = 0;
};

std::optional<Channels> mixed_channels(const PatternInput& in, const AssessedCall& call) {
  const OpView& view = in.view(call);
  const ArgValue *input = view.tensor(0), *weight = view.tensor(1);
  if (call.assessed->category != "convolution" || input == nullptr || weight == nullptr) return {};
  const Dims &pixels = input->shape.dims, &kernel = weight->shape.dims;
  if (kernel.size() < 3 || pixels.size() != kernel.size() || pixels[1] != kernel[1]) return {};
  if (std::any_of(kernel.begin() + 2, kernel.end(), [](int64_t side) { return side != 1; }))
    return {};
  return Channels{kernel[1], kernel[0]};
}

// How many times as many pixels an interpolation right before it wrote: its place in calls.
struct Enlarged {
  size_t place;
  double times;
};

std::optional<Enlarged> enlarged_before(const PatternInput& in, size_t place) {
  constexpr size_t kBefore = 3;
  const std::vector<AssessedCall>& calls = in.calls();
  const Dims& written = in.view(calls[place]).tensor(0)->shape.dims;
  for (size_t back = 1; back <= std::min(kBefore, place); ++back) {
    const AssessedCall& call = calls[place - back];
    if (!in.same_thread(call, calls[place])) return {};
    if (!call.assessed->group->key.name.starts_with("aten::upsample_")) {
      if (in.has(call, Role::kCopy)) continue;
      return {};
    }
    const ArgValue* source = in.view(call).tensor(0);
    if (source == nullptr || source->shape.dims.size() != written.size() ||
        !std::equal(written.begin(), written.begin() + 2, source->shape.dims.begin()))
      return {};
    const double small = static_cast<double>(elements_of(*source));
    const double large = static_cast<double>(elements_of(*in.view(calls[place]).tensor(0)));
    return small > 0 ? std::optional(Enlarged{place - back, large / small}) : std::nullopt;
  }
  return {};
}

}  // namespace

std::vector<Finding> enlarged_pixels(const PatternInput& in) {
  constexpr double kLarger = 2;
  MatchedCalls found;
  double least = 0, most = 0, times = 0;
  size_t layers = 0;
  for (size_t i = 0; i < in.calls().size(); ++i) {
    const AssessedCall& layer = in.calls()[i];
    const auto channels = mixed_channels(in, layer);
    if (!channels || in.any_around(layer.op->event, "autograd::*")) continue;
    const auto enlarged = enlarged_before(in, i);
    if (!enlarged || enlarged->times < kLarger) continue;
    const auto counted_time = [](const AssessedCall& call) {
      return seconds_of(call.time) * call.assessed->counted;
    };
    // The interpolation then writes the layer's channels; those may be more.
    const double of_channels =
        static_cast<double>(channels->out) / static_cast<double>(channels->in);
    double saved = counted_time(layer) * (1 - 1 / enlarged->times);
    for (size_t k = enlarged->place; k < i; ++k)
      saved += counted_time(in.calls()[k]) * (1 - of_channels);
    if (saved <= 0) continue;
    for (size_t k = enlarged->place; k <= i; ++k) found.add(in.calls()[k], false);
    most += saved;
    least += counted_time(layer) * std::max(0.0, 1 - 2 / enlarged->times);
    times = std::max(times, enlarged->times);
    ++layers;
  }
  least = std::min(least, most);
  if (layers == 0 || !is_noticeable(in, most)) return {};
  PatternText text{FindingKind::kProductOrder,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "A 1×1 convolution runs on enlarged images, not on those they are made from",
                   fmt::format("{} right after an interpolation that writes up to {:.3g} times as "
                               "many pixels: {} together.",
                               per_step(in, layers, "convolution", "convolutions"), times,
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kHigh};
  return {pattern_finding(
      in, std::move(text), found,
      {least, most, "the layer before, at half of this rate", "the layer before the interpolation"},
      Traits{"enlarged"})};
}

namespace {

// Whether an operand of a batched product is one matrix, read again for each sample.
bool expands_an_operand(const OpView& view, int64_t batch) {
  return std::ranges::any_of(view.args.inputs, [batch](const ArgValue& value) {
    const ArgValue::Shape& shape = value.shape;
    return value.is_tensor() && shape.dims.size() == 3 && shape.strides.size() == 3 &&
           shape.dims[0] == batch && shape.strides[0] == 0;
  });
}

}  // namespace

std::vector<Finding> shared_operands(const PatternInput& in) {
  constexpr double kSlow = 0.5, kUsual = 0.6;
  MatchedCalls found;
  double least = 0, most = 0;
  ProductSize largest;
  for (const AssessedCall& call : in.calls()) {
    const auto& size = in.product(*call.assessed);
    const auto efficiency = call.assessed->efficiency;
    if (!size || size->batch < 2 || !efficiency || *efficiency >= kSlow) continue;
    if (!expands_an_operand(in.view(call), size->batch)) continue;
    found.add(call, false);
    const double time = seconds_of(call.time) * call.assessed->counted;
    least += time * (1 - *efficiency / kUsual);
    most += time * (1 - *efficiency);
    if (size->batch > largest.batch) largest = *size;
  }
  if (found.empty() || !is_noticeable(in, least)) return {};
  Traits traits{"shared_operand"};
  if (in.any_around(found.calls().front()->op->event, "aten::linear")) traits.add("of_linear");
  PatternText text{
      FindingKind::kProductOrder, std::string(ops_by_time(found.calls()).front()->group->key.name),
      "One matrix is expanded to a batch of products, which are small each",
      fmt::format("{} multiply one matrix with each sample of a batch, such as {} products of M "
                  "{}, N {}, K {}: {}. One product with all samples as rows reads it once.",
                  per_step(in, found.size(), "call", "calls"),
                  number_text(static_cast<uint64_t>(largest.batch)), largest.m, largest.n,
                  largest.k, micros_text(nanos_from(found.seconds()))),
      Confidence::kHigh};
  return {pattern_finding(
      in, std::move(text), found,
      {least, most, "one product at 60 % of achievable", "one product at 100 % of achievable"},
      traits)};
}

}  // namespace fathom::patterns
