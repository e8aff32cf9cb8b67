#pragma once

#include <filesystem>

#include "report/diff_report.h"
#include "session/trace.h"

namespace fathom {

// What differs between two traces; the scope is that of both.
Result<DiffReport> compare(const Trace& a, const Trace& b, const Scope& scope);

// Writes diff.md, diff.json and diff_csvs/, whole or not at all, and notes where in the report.
Status write_diff(DiffReport& report, const std::filesystem::path& directory);

}  // namespace fathom
