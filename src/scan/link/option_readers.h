#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scan/link/readings.h"

namespace fathom {

// Which parts of a repository use an option's value: those that read its attribute of an object
// that holds settings; where none does, those that use a name like it.
class OptionReaders {
 public:
  explicit OptionReaders(const Readings& readings);

  // The folder that a file belongs to: "python/minisgl/scheduler".
  std::string component_of(uint32_t file) const;
  // The folders whose code uses the name, apart from the file that declares it; empty where none
  // does, or so many that the name says nothing.
  std::string components_using(std::string_view name, uint32_t declared_in) const;
  // The first line of each file that uses it, under the same terms.
  std::vector<CodePlace> places_using(std::string_view name, uint32_t declared_in) const;
  // Whether only names agree.
  bool only_by_name(std::string_view name, uint32_t declared_in) const;

 private:
  using Users = std::unordered_map<std::string_view, std::vector<CodePlace>>;
  std::set<std::string> folders_using(std::string_view name, uint32_t declared_in) const;
  std::set<std::string> folders_of(const Users& users, std::string_view name,
                                   uint32_t declared_in) const;

  const Readings& readings_;
  Users readers_;  // of an attribute of settings
  Users users_;    // of the name in any way
};

}  // namespace fathom
