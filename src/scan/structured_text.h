#pragma once

#include <cstdint>
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

// The values of a document, in order. Reads over what it does not understand: enough of the two
// languages for what declares dependencies, and no judge of either.
std::vector<TextValue> read_toml(std::string_view text);
std::vector<TextValue> read_json_values(std::string_view text);

// Whether a path has this form: "*" stands for any one name.
bool path_is(const TextValue& value, const std::vector<std::string_view>& form);

}  // namespace fathom
