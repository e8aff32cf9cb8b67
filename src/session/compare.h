#pragma once

#include <filesystem>

#include "base/output_directory.h"
#include "report/trace/diff_report.h"
#include "session/trace.h"

namespace fathom {

// What differs between two traces, each in its scope.
Result<DiffReport> compare(const Trace& a, const Trace& b, const Scope& scope_a,
                           const Scope& scope_b);

// Writes diff.md, diff.json, diff_csvs/ and, where asked for, report.html, whole or not at all, and
// notes where in the report. Returns what to tell the user about files that were in the way.
Result<std::vector<std::string>> write_diff(DiffReport& report, bool page,
                                            const OutputPlace& place);

}  // namespace fathom
