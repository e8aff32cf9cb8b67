#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// A key of a YAML file with a plain value: "optim.lr", "3e-4", what its comment says.
struct YamlKey {
  std::string name, value, comment;
  uint32_t line = 0;
};

// Mappings inside mappings, as configurations are written; lists, anchors and texts of several
// lines have no keys. At most 2,000.
std::vector<YamlKey> yaml_keys(std::string_view text);

}  // namespace fathom
