#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::agreement {

// What a difference may stand in when no single cell differs. A `*` in the column field covers
// cells only: leaving out or adding rows and columns has to be said outright.
inline constexpr std::string_view kSheetMark = "(sheet)";    // the file is absent or damaged
inline constexpr std::string_view kModelMark = "(model)";    // only ours has a cost
inline constexpr std::string_view kColumnMark = "(column)";  // missing, extra or out of place
inline constexpr std::string_view kExtraRowMark = "(row)";   // only ours has the row
inline constexpr std::string_view kMissingRowMark = "(missing row)";  // only theirs has the row
inline constexpr std::string_view kOrderMark = "(order)";             // a row stands elsewhere

// docs/differences.tsv: where Fathom differs on purpose, and why. It remembers which of its rows
// were needed, so that a row that explains nothing any more can be found and removed.
class Differences {
 public:
  // Columns: sheet, column, key pattern, reason. `#` begins a comment line.
  static Differences parse(std::string_view text);
  static Differences read(const std::filesystem::path& path);

  // Whether any row covers a mismatch there; marks every row that does.
  bool cover(std::string_view sheet, std::string_view column, std::string_view key);

  // The rows that covered nothing so far, as "line N: ...".
  std::vector<std::string> list_stale() const;

  const std::vector<std::string>& errors() const { return errors_; }
  size_t size() const { return rows_.size(); }

 private:
  struct Row {
    size_t line = 0;
    std::string sheet, column, key, reason;
    bool used = false;
  };

  std::vector<Row> rows_;
  std::vector<std::string> errors_;
};

}  // namespace fathom::agreement
