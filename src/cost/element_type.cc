#include "cost/element_type.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <unordered_map>

#include "base/ascii.h"
#include "base/tsv.h"

extern const std::string_view element_types_tsv;

namespace fathom {
namespace {

using Types = std::unordered_map<std::string_view, ElementType>;

const Types& built_in_types() {
  static const Types types = [] {
    Types all;
    for (const auto& row : read_tsv(element_types_tsv, 4)) {
      int bits = 0;
      std::from_chars(row[2].data(), row[2].data() + row[2].size(), bits);
      all[row[0]] = {row[1], bits, row[3] == "float"};
    }
    return all;
  }();
  return types;
}

}  // namespace

const ElementType* find_element_type(std::string_view trace_type) {
  if (const size_t colons = trace_type.find("::"); colons != std::string_view::npos) {
    trace_type.remove_prefix(colons + 2);
  }
  // Asked for each argument of each call: no string is made of it.
  std::array<char, 32> small{};
  if (trace_type.size() > small.size()) return nullptr;
  std::ranges::transform(trace_type, small.begin(), small_letter);
  const auto found = built_in_types().find({small.data(), trace_type.size()});
  return found == built_in_types().end() ? nullptr : &found->second;
}

const ElementType* find_scalar_type(std::string_view number) {
  // The order of c10::ScalarType.
  static constexpr std::string_view kTypes[] = {"byte",
                                                "char",
                                                "short",
                                                "int",
                                                "long",
                                                "half",
                                                "float",
                                                "double",
                                                "",
                                                "complex<float>",
                                                "complex<double>",
                                                "bool",
                                                "",
                                                "",
                                                "",
                                                "bfloat16",
                                                "",
                                                "",
                                                "",
                                                "",
                                                "",
                                                "",
                                                "",
                                                "float8_e5m2",
                                                "float8_e4m3fn",
                                                "float8_e5m2fnuz",
                                                "float8_e4m3fnuz"};
  size_t index = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
  if (error != std::errc() || end != number.data() + number.size()) return nullptr;
  return index < std::size(kTypes) ? find_element_type(kTypes[index]) : nullptr;
}

}  // namespace fathom
