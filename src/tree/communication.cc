#include "tree/communication.h"

#include <algorithm>

#include "base/tsv.h"

extern const std::string_view communication_kernels_tsv;

namespace fathom {
namespace {

bool contains_ignoring_case(std::string_view text, std::string_view lower_case) {
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
  return !std::ranges::search(text, lower_case, same).empty();
}

}  // namespace

bool is_communication_name(std::string_view kernel_name) {
  static const auto kernels = read_tsv(communication_kernels_tsv, 2);
  return std::ranges::any_of(
      kernels, [&](const auto& row) { return contains_ignoring_case(kernel_name, row[0]); });
}

}  // namespace fathom
