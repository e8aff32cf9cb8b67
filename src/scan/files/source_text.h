#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "scan/files/repository.h"

namespace fathom {

// A regular file's content, as it is. A link, a FIFO or a device is refused, and so is more than
// the limit.
Result<std::string> read_regular_file(const std::filesystem::path& path,
                                      uint64_t limit = kMaxSourceBytes);
// The same; of a notebook its code.
Result<std::string> read_source_text(const std::filesystem::path& path,
                                     uint64_t limit = kMaxSourceBytes);

}  // namespace fathom
