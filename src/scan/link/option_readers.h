#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scan/index/python_names.h"
#include "scan/link/readings.h"

namespace fathom {

// Which parts of a repository use an option's value: those that read its attribute of an object
// that holds settings; where none does, those that use a name like it. Only files count that the
// object can get to: those that import the declaring file, and those that one of them hands an
// object of settings to.
class OptionReaders {
 public:
  OptionReaders(const Readings& readings, const PythonNames& names);

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
  using Files = std::set<uint32_t>;
  void note_edges(uint32_t file);
  const Files& reached_from(uint32_t declared_in) const;
  // Where files that the object gets to use the name, in order of place.
  std::vector<CodePlace> reached_places(const Users& users, std::string_view name,
                                        uint32_t declared_in) const;
  std::set<std::string> folders_using(std::string_view name, uint32_t declared_in) const;
  std::set<std::string> folders_of(const Users& users, std::string_view name,
                                   uint32_t declared_in) const;

  const Readings& readings_;
  const PythonNames& names_;
  Users readers_;                        // of an attribute of settings
  Users users_;                          // of the name in any way
  std::map<uint32_t, Files> importers_;  // of a file
  std::map<uint32_t, Files> handed_to_;  // files that a file hands settings to
  mutable std::map<uint32_t, Files> reached_;
};

}  // namespace fathom
