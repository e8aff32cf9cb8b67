#pragma once

#include <filesystem>

#include "report/diff_report.h"
#include "session/trace.h"

namespace fathom {

// What differs between two traces, each in its scope.
Result<DiffReport> compare(const Trace& a, const Trace& b, const Scope& scope_a,
                           const Scope& scope_b);

// Writes diff.md, diff.json and diff_csvs/, whole or not at all, and notes where in the report.
Status write_diff(DiffReport& report, const std::filesystem::path& directory);

}  // namespace fathom
