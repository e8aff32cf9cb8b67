#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::agreement {

// What a kernel_details or perf_params cell holds. Theirs is written as a Python literal, ours as
// JSON; both become this, so that they can be compared key by key.
struct Value {
  enum class Kind { none, boolean, number, text, list, dict };

  Kind kind = Kind::none;
  bool boolean = false;
  double number = 0;
  std::string text;
  std::vector<std::string> keys;  // dict only; keys[i] names items[i], in the order written
  std::vector<Value> items;       // list (a tuple too) and dict

  const Value* find(std::string_view key) const;
};

// np.float64(x) is x; a tuple is a list; nan is none, for JSON has no nan.
std::optional<Value> parse_python_literal(std::string_view text);
// Strict: a Python literal that is no JSON is refused.
std::optional<Value> parse_json(std::string_view text);

std::string format_json(const Value& value);

}  // namespace fathom::agreement
