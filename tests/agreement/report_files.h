#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "csv.h"

namespace fathom::agreement {

// Removed with everything in it when it goes out of scope.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

using Report = std::map<std::string, Csv>;  // by sheet name

Report read_report(const std::filesystem::path& directory);
void write_report(const Report& report, const std::filesystem::path& directory);

// Their report as ours would have written it: JSON in the cells that hold Python literals, "…"
// where names are cut, a header on the sheet without rows.
Report convert_to_our_form(Report report);

}  // namespace fathom::agreement
