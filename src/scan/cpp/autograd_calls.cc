#include "scan/cpp/autograd_calls.h"

#include <set>
#include <string>

namespace fathom::cpp {

void follow_autograd(const TokenList& source, Usage& usage) {
  std::set<std::string, std::less<>> classes;
  for (size_t i = 1; i + 3 < source.size(); ++i) {
    if (!source.is(i, "Function") || !source.is(i + 1, "<") || !source.is_name(i + 2)) continue;
    const bool based =
        source.is(i - 1, "::") || source.is(i - 1, "public") || source.is(i - 1, ":");
    if (based) classes.emplace(source.at(i + 2));
  }
  if (classes.empty()) return;
  constexpr std::string_view kApply = "::apply";
  for (std::vector<Reference>& references : usage.references) {
    for (Reference& call : references) {
      if (!call.name.ends_with(kApply)) continue;
      const std::string type = call.name.substr(0, call.name.size() - kApply.size());
      const size_t colons = type.rfind("::");
      if (classes.contains(colons == std::string::npos ? type : type.substr(colons + 2)))
        call.name = type + "::forward";
    }
  }
}

}  // namespace fathom::cpp
