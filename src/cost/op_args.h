#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/event_store.h"

namespace fathom {

// One argument of an op, as far as the trace says.
struct ArgValue {
  struct Shape {
    std::vector<int64_t> dims, strides;  // strides are empty where the trace has none
  };
  Shape shape;              // of a tensor; no dims: a scalar, or no tensor at all
  std::vector<Shape> list;  // of a list of tensors
  std::string type;         // "c10::BFloat16", "Scalar", "TensorList", "" where none
  std::string concrete;     // the value of what is no tensor, as the trace prints it; "" where none

  bool is_tensor() const { return !shape.dims.empty(); }
};

// What the op's Input Dims, Input type, Input Strides and Concrete Inputs say, argument by
// argument. Nothing where the trace has no shapes, or none that can be read.
struct OpArgs {
  std::vector<ArgValue> inputs;

  // Null past the last one, so that optional arguments need no care.
  const ArgValue* at(size_t place) const {
    return place < inputs.size() ? &inputs[place] : nullptr;
  }
};

std::optional<OpArgs> read_op_args(const EventStore& store, ArgsId id);

// "[1, -1]" or "[1,-1]"; nothing for any other text.
std::optional<std::vector<int64_t>> read_int_list(std::string_view text);

// How many elements; nothing where it is more than anything could hold.
std::optional<int64_t> element_count(const std::vector<int64_t>& dims);

}  // namespace fathom
