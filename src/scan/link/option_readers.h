#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scan/link/readings.h"

namespace fathom {

// Which parts of a repository use an option's value, by the name of the attribute that holds it.
class OptionReaders {
 public:
  explicit OptionReaders(const Readings& readings);

  // The folder that a file belongs to: "python/minisgl/scheduler".
  std::string component_of(uint32_t file) const;
  // The folders whose code uses the name, apart from the file that declares it; empty where none
  // does, or so many that the name says nothing.
  std::string components_using(std::string_view name, uint32_t declared_in) const;

 private:
  const Readings& readings_;
  std::map<std::string_view, std::vector<uint32_t>> users_;
};

}  // namespace fathom
