#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/zip_writer.h"

namespace fathom {

// Text as XML content or attribute. What XML 1.0 forbids and invalid UTF-8 become U+FFFD.
void append_xml(std::string& out, std::string_view text);

// Excel counts a cell's text in UTF-16 units.
inline constexpr size_t kMaxCellUnits = 32767;
bool fits_cell(std::string_view text);
// A cell's text as XML, cut with an ellipsis where it does not fit. Also guards what Excel would
// take for an escape: it reads "_x0041_" as "A".
void append_cell_text(std::string& out, std::string_view text);

// A name that Excel takes for a sheet: at most 31 units, none of []:*?/\ and not used yet in any
// case of letters; "name (2)" where it is.
std::string unique_sheet_name(std::string_view wanted, std::set<std::string>& used);

// A workbook's texts, each once: cells hold their positions. Texts are viewed, not copied.
class StringTable {
 public:
  uint32_t id(std::string_view text);
  Status write(ZipWriter& zip) const;

 private:
  std::unordered_map<std::string_view, uint32_t, TableHash> ids_;
  std::vector<std::string_view> texts_;
  uint64_t uses_ = 0;
};

}  // namespace fathom
