#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

// A formula of data/hypotheses: numbers, names, + - * /, min, max, known, comparisons, & and |.
// Comparisons are 1 or 0. What depends on an unknown value is unknown.
class Formula {
 public:
  // Views of the text, which must outlive it.
  static Result<Formula> parse(std::string_view text);
  // Of a table that is compiled in, where a mistake is a bug.
  static Formula built_in(std::string_view text);

  using Lookup = std::function<std::optional<double>(std::string_view name)>;
  std::optional<double> value(const Lookup& lookup) const;
  // Each name once, in the order of the text.
  std::vector<std::string_view> names() const;
  // The names whose values are missing to know the formula's.
  std::vector<std::string_view> missing(const Lookup& lookup) const;
  // The known values that make a true or false formula so: of "a & b" where only b is false, b's.
  std::vector<std::string_view> deciding(const Lookup& lookup) const;
  bool empty() const { return nodes_.empty(); }

 private:
  friend class FormulaParser;
  enum class Kind : uint8_t {
    kNumber,
    kName,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kMin,
    kMax,
    kKnown,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kEqual,
    kAnd,
    kOr
  };
  struct Node {
    Kind kind;
    double number = 0;
    std::string_view name;
    size_t left = 0, right = 0;
  };
  std::optional<double> value_of(size_t at, const Lookup& lookup) const;
  void add_missing(size_t at, const Lookup& lookup, std::vector<std::string_view>& out) const;
  void add_deciding(size_t at, const Lookup& lookup, std::vector<std::string_view>& out) const;

  std::vector<Node> nodes_;  // the last is the whole
};

}  // namespace fathom
