#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "csv.h"
#include "test_files.h"

namespace fathom::agreement {

using test::TemporaryDirectory;
using Report = std::map<std::string, Csv>;  // by sheet name

Report read_report(const std::filesystem::path& directory);
void write_report(const Report& report, const std::filesystem::path& directory);

// Their report as ours would have written it: JSON in the cells that hold Python literals, "…"
// where names are cut, a header on the sheet without rows.
Report convert_to_our_form(Report report);

}  // namespace fathom::agreement
