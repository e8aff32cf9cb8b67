#include "story/compared_rows.h"

#include "base/check.h"
#include "base/text_parts.h"
#include "base/tsv.h"

extern const std::string_view compared_tsv, measured_sides_tsv, surprises_tsv;

namespace fathom {
namespace {

double number_of(std::string_view text) {
  const auto value = number_in<double>(text);
  CHECK(value.has_value());
  return *value;
}

}  // namespace

const std::vector<QuantityRow>& quantity_rows() {
  static const std::vector<QuantityRow> rows = [] {
    std::vector<QuantityRow> out;
    for (const auto& row : read_tsv(compared_tsv, 7))
      out.push_back({row[0], row[1], row[2], Formula::built_in(row[3]), number_of(row[4]),
                     number_of(row[5]), number_of(row[6])});
    return out;
  }();
  return rows;
}

const std::vector<SideRow>& side_rows() {
  static const std::vector<SideRow> rows = [] {
    std::vector<SideRow> out;
    for (const auto& row : read_tsv(measured_sides_tsv, 2)) {
      SideRow one{Bottleneck::kUnknown, Formula::built_in(row[1])};
      for (const Bottleneck side : {Bottleneck::kMemory, Bottleneck::kCompute,
                                    Bottleneck::kSharedMemory, Bottleneck::kL1}) {
        if (bottleneck_name(side) == row[0]) one.side = side;
      }
      CHECK(one.side != Bottleneck::kUnknown);
      out.push_back(std::move(one));
    }
    return out;
  }();
  return rows;
}

const std::vector<SurpriseRow>& surprise_rows() {
  static const std::vector<SurpriseRow> rows = [] {
    std::vector<SurpriseRow> out;
    for (const auto& row : read_tsv(surprises_tsv, 5)) {
      const Outside where = row[1] == "below"   ? Outside::kBelow
                            : row[1] == "above" ? Outside::kAbove
                                                : Outside::kAny;
      out.push_back({row[0], where, Formula::built_in(row[2]), row[3]});
    }
    return out;
  }();
  return rows;
}

}  // namespace fathom
