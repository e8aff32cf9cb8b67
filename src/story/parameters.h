#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// What a user says of a workload: --param batch=64 --param dtype=fp16. Names are those of
// data/stories/parameter_names.tsv or any that the code itself uses.
class Parameters {
 public:
  // Fails on text that is not NAME=VALUE, or whose value is neither a number nor a type.
  static Result<Parameters> parse(const std::vector<std::string>& given);

  bool empty() const { return values_.empty(); }
  // Those that say the size of an element, and no size of the workload.
  Parameters types_only() const;
  const std::vector<std::pair<std::string, std::string>>& given() const { return given_; }

  // Those given that neither data/stories/parameter_names.tsv nor a launch or a parameter of these
  // kernels has: most often misspelt.
  std::vector<std::string> unused_in(const CodeFacts& facts) const;

  // Names that can be given for these kernels: those of the data file, and of their launches and
  // parameters. For messages; bounded.
  static std::vector<std::string> known_in(const CodeFacts& facts);

  // A name or expression atom of the code: given, or another name of something given; none:
  // unknown.
  std::optional<double> find(std::string_view name) const;
  // The same where the code's own values may say more: names → values of a launch.
  std::optional<double> evaluate_in(std::string_view expression,
                                    const std::vector<NamedValue>& values) const;
  // The names at the end of those values that nothing gives a number: "x.shape[0]" where grid is
  // blocks and blocks is made of it.
  std::vector<std::string> missing_in(std::string_view expression,
                                      const std::vector<NamedValue>& values) const;
  // Of a formula whose names are parameters.
  std::optional<double> evaluate_formula(std::string_view formula) const;

 private:
  std::optional<double> by_other_name(std::string_view name) const;

  std::map<std::string, double, std::less<>> values_;
  std::vector<std::pair<std::string, std::string>> given_;  // as written
};

}  // namespace fathom
