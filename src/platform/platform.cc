#include "platform/platform.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace fathom {

std::string_view source_kind_name(Source::Kind kind) {
  switch (kind) {
    case Source::Kind::kDatasheet:
      return "datasheet";
    case Source::Kind::kMeasured:
      return "measured";
    case Source::Kind::kDerived:
      return "derived";
    case Source::Kind::kAssumed:
      return "assumed";
    case Source::Kind::kFile:
      return "file";
  }
  CHECK(false);
}

std::optional<Limit> limit_of(const Rate& rate) {
  if (rate.achievable) return Limit{*rate.achievable, true, rate.achievable_source};
  if (rate.peak) return Limit{*rate.peak, false, rate.peak_source};
  return {};
}

std::span<const std::string_view> compute_spec_names() {
  static constexpr std::array<std::string_view, 13> kNames = {
      "matrix_fp64", "matrix_fp32", "matrix_tf32", "matrix_fp16", "matrix_bf16",
      "matrix_fp8",  "matrix_fp6",  "matrix_fp4",  "matrix_int8", "vector_fp64",
      "vector_fp32", "vector_fp16", "vector_bf16"};
  return kNames;
}

std::string_view compute_unit_of(std::string_view spec) {
  return spec.find("_int") == std::string_view::npos ? "FLOP/s" : "OP/s";
}

const Rate* Platform::find(std::string_view spec) const {
  const auto found = std::ranges::find(specs, spec, &ComputeSpec::name);
  return found == specs.end() ? nullptr : &found->rate;
}

}  // namespace fathom
