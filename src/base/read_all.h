#pragma once

#include <string>

#include "base/byte_source.h"

namespace fathom {

// A whole input in memory. More than `limit` bytes are not read, which `cut` tells.
struct WholeText {
  std::string text;
  bool cut = false;        // at the limit
  bool truncated = false;  // the input itself broke off
};
Result<WholeText> read_all(ByteSource& source, size_t limit);

}  // namespace fathom
