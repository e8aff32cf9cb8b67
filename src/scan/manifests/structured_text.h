#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// One value of a TOML or JSON document with all names on the way to it; members of a list have
// their number there: {"project", "dependencies", "0"}.
struct TextValue {
  std::vector<std::string> path;
  std::string value;  // a string's content; anything else as written
  uint32_t line = 0;
};

// Visits the values of a document in order; the value is gone after the call, as most are of no use
// and a path may be long. Reads over what it does not understand: enough of the two languages for
// what declares dependencies, and no judge of either.
using ValueVisitor = std::function<void(const TextValue&)>;
void read_toml(std::string_view text, const ValueVisitor& visit);
void read_json_values(std::string_view text, const ValueVisitor& visit);

// Whether a path has this form: "*" stands for any one name.
bool path_is(const TextValue& value, std::initializer_list<std::string_view> form);

}  // namespace fathom
