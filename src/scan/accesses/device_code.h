#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/local_values.h"

namespace fathom {

// What a file keeps for the walk through its kernels: other files' kernels may call its functions.
struct DeviceCode {
  struct Body {
    std::string text;  // from { to }
    uint32_t line = 0;
  };
  std::map<size_t, Body> bodies;         // of the kernels and device functions, by their number
  std::vector<cpp::LocalValue> aliases;  // using name = type; typedef type name;
  // Classes that are one vector by their alignment and name, and their bytes.
  std::vector<std::pair<std::string, uint32_t>> vectors;
};

// Of others' code only the kernels: what lies in it besides is large and rarely reached.
DeviceCode keep_device_code(const cpp::TokenList& source, const cpp::Definitions& definitions,
                            bool own);

}  // namespace fathom
