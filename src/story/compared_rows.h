#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "measure/formula.h"
#include "story/expectation.h"

// How expected and measured quantities are compared: the rows of data/stories.
namespace fathom {

// compared.tsv: how a quantity is measured, and how far outside its range it may be.
struct QuantityRow {
  std::string_view id, title, unit;
  Formula measured;
  double low = 1, high = 1, floor = 0;
};

// measured_sides.tsv: how busy a part of the GPU was, percent.
struct SideRow {
  Bottleneck side = Bottleneck::kUnknown;
  Formula share;
};

// On which side of the expected range a value lies.
enum class Outside : uint8_t { kAny, kBelow, kAbove };

// surprises.tsv: a reason and when it holds.
struct SurpriseRow {
  std::string_view quantity;
  Outside where = Outside::kAny;
  Formula when;
  std::string_view reason;
};

const std::vector<QuantityRow>& quantity_rows();
const std::vector<SideRow>& side_rows();
const std::vector<SurpriseRow>& surprise_rows();

}  // namespace fathom
