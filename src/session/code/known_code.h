#pragma once

#include "session/known_code.h"

namespace fathom {

Result<std::unique_ptr<const KnownCode>> read_code(const std::string& repository, size_t threads,
                                                   const ProgressCallback& progress);

}  // namespace fathom
