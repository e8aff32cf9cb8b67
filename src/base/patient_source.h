#pragma once

#include <chrono>

#include "base/byte_source.h"

namespace fathom {

// open_source, which waits this long for somebody to write to a FIFO.
Result<std::unique_ptr<ByteSource>> open_patiently(const std::string& path, ReadingStamp* stamp,
                                                   std::chrono::milliseconds patience);

}  // namespace fathom
