#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scan/index/symbol_index.h"

namespace fathom {

// What names stand for, by `using T = float;` or `constexpr int kTile = 64;`, and which of it is
// meant where a name stands.
class SeenTexts {
 public:
  explicit SeenTexts(const IncludeGraph& includes) : includes_(includes) {}

  struct Text {
    uint32_t file;
    std::string text;
  };

  // In order of file.
  void add(const std::string& name, uint32_t file, std::string text);
  // What the file itself says; else the files that it includes. As far as `farthest` allows, else
  // what stands before it where it is included; else all. None of a name that very many files give
  // a meaning.
  std::vector<const Text*> meant(std::string_view name, uint32_t file,
                                 Sight farthest = Sight::kUnseen) const;

 private:
  const IncludeGraph& includes_;
  std::map<std::string, std::vector<Text>, std::less<>> texts_;
};

}  // namespace fathom
