#include "scan/index/function_places.h"

namespace fathom {

const FunctionsByLine& FunctionPlaces::in(uint32_t file, bool cpp) const {
  const auto known = known_.find({file, cpp});
  if (known != known_.end()) return known->second;
  const FileCode& code = files_[file];
  return known_
      .emplace(std::pair(file, cpp),
               cpp ? FunctionsByLine(code.cpp->functions) : FunctionsByLine(code.python->functions))
      .first->second;
}

std::optional<FunctionNode> FunctionPlaces::at(const CodePlace& place) const {
  // A function of C++ in a literal is further in than the Python function around the literal.
  for (const bool cpp : {true, false}) {
    if (const std::optional<uint32_t> function = in(place.file, cpp).at(place.line))
      return FunctionNode{cpp, place.file, *function};
  }
  return std::nullopt;
}

std::string FunctionPlaces::name_at(const CodePlace& place) const {
  const FileCode& code = files_[place.file];
  if (const auto function = in(place.file, false).at(place.line))
    return qualified_name(code.python->functions[*function]);
  const auto function = in(place.file, true).at(place.line);
  return function ? qualified_name(code.cpp->functions[*function]) : std::string();
}

}  // namespace fathom
