#pragma once

#include <filesystem>

#include "plan/ablate/measurements.h"
#include "plan/ablate/suite.h"

namespace fathom::ablate {

// `fathom record` around a command.
std::vector<std::string> record_command(const Suite& suite, const std::filesystem::path& program,
                                        const std::filesystem::path& capture,
                                        const std::vector<std::string>& words);

// What a capture tells of a variant's kernel: the one with the most time whose name fits the
// suite's pattern. Where there is none, the reason.
Counted read_counted(const std::filesystem::path& capture, const Suite& suite);

}  // namespace fathom::ablate
