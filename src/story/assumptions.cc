#include "story/assumptions.h"

#include "base/check.h"
#include "base/text_parts.h"
#include "base/tsv.h"

extern const std::string_view assumptions_tsv;

namespace fathom {
namespace {

std::vector<std::string_view> row_of(std::string_view name) {
  for (const auto& row : read_tsv(assumptions_tsv, 4)) {
    if (row[0] == name) return row;
  }
  CHECK(false);
}

}  // namespace

double assumption(std::string_view name) { return number_in<double>(row_of(name)[1]).value_or(0); }

std::string_view assumption_source(std::string_view name) { return row_of(name)[3]; }

}  // namespace fathom
