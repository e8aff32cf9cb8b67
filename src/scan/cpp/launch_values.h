#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/local_values.h"
#include "scan/cpp/tree/body_trees.h"

namespace fathom::cpp {

// The values that the expressions of launches are made of, and those that these are made of, as far
// as the function around a launch and its file give them: the launch's own names first. A function
// that only returns an expression is one too: "blocks(rows)". One object serves all launches of a
// file, and reads each function once.
class LaunchValues {
 public:
  LaunchValues(BodyTrees& trees, const Definitions& definitions,
               const std::vector<LocalValue>& constants);

  // Behind the grid, block and shared memory.
  std::vector<LocalValue> behind(const Launch& launch);
  // Behind the arguments that the launch gives the kernel.
  std::vector<LocalValue> behind_arguments(const Launch& launch);

 private:
  using ByName = std::unordered_map<std::string, std::vector<LocalValue>>;
  struct Around {
    ByName locals, defaults;
    std::set<std::string, std::less<>> counted;     // names that operators change
    std::set<std::string, std::less<>> parameters;  // which hide constants of the file
  };
  class Search;

  const Around& around(const Launch& launch);
  std::optional<LocalValue> find(const std::string& name, const Around& around,
                                 uint32_t line) const;
  std::optional<LocalValue> only_constant(const std::string& name) const;
  std::optional<LocalValue> returned_by(const std::string& name) const;

  BodyTrees& trees_;
  const TokenList& source_;
  const Definitions& definitions_;
  ByName constants_;
  std::unordered_map<std::string_view, std::vector<const Function*>> functions_;
  std::unordered_map<std::string_view, std::vector<const Class*>> classes_;
  std::map<std::optional<size_t>, Around> arounds_;  // by function
};

}  // namespace fathom::cpp
