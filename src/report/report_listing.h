#pragma once

#include <string>
#include <vector>

namespace fathom {

// Where a report was written; empty: nowhere.
struct ReportListing {
  std::string directory;
  std::vector<std::string> files;
};

}  // namespace fathom
