#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/screen_text.h"

namespace fathom {

// Where a report was written; empty: nowhere.
struct ReportListing {
  std::string directory;
  std::vector<std::string> files;

  bool has_page() const { return std::ranges::find(files, "report.html") != files.end(); }
};

// "DIR/  (report.html, diff.md, diff.json)" for the screen: what to open first, where it was
// written, then what else there is.
inline std::string report_words(const std::string& directory, bool has_page,
                                const std::string& others) {
  return screen_safe(directory) + "/  (" + (has_page ? "report.html, " : "") + others + ")";
}

}  // namespace fathom
