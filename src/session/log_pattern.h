#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

// `hit rate: {float}`: where a line of a program's output holds the words, the number is taken.
// Several numbers in a pattern are several counters. White space fits any white space.
class LogPattern {
 public:
  // Fails where there is no number, or an unknown one; {int}, {float}, {} are known.
  static Result<LogPattern> parse(std::string_view text);

  struct Found {
    size_t counter;  // of names()
    double value;
    size_t begin = 0, end = 0;  // of the number in the line
  };
  // Every number, or none where the line does not fit.
  std::vector<Found> match(std::string_view line) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> literals_;  // before each number, and after the last
  std::vector<bool> whole_;            // {int}
  std::vector<std::string> names_;
};

}  // namespace fathom
