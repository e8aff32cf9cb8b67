#pragma once

#include <string_view>

namespace fathom {

// What data/op_families/element_types.tsv says of a type.
struct ElementType {
  std::string_view short_name;  // "bf16"
  int bits = 0;
  bool is_float = false;

  double bytes() const { return bits / 8.0; }
};

// By the trace's spelling, "c10::BFloat16" or "long int"; null for one that no row names.
const ElementType* find_element_type(std::string_view trace_type);

// By PyTorch's number for it (15 is bfloat16), as dtype arguments are printed.
const ElementType* find_scalar_type(std::string_view number);

}  // namespace fathom
