#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// Arithmetic as code and the formulas of data files write it: + - * / // % << >>, comparisons,
// && || (unknown only where the known side does not decide) ! ?:, brackets, calls of min, max, cdiv
// (and the names code gives it), log2, next_power_of_2, sizeof. Numbers are doubles; where both
// sides of / are whole, it divides as integers do, as in C. A name's value comes from the caller;
// unknown names make the whole unknown, and so does a result beyond 2^53.
using ValueOf = std::function<std::optional<double>(std::string_view name)>;
std::optional<double> evaluate(std::string_view expression, const ValueOf& value_of);

// The names in an expression, in order of first use; functions it calls are none.
std::vector<std::string> names_in(std::string_view expression);

}  // namespace fathom
