#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::agreement {

// A CSV sheet as text. A test reads it with its own reader on purpose: the writer under test must
// not be checked by its own twin.
struct Csv {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::string error;  // empty: well formed

  std::optional<size_t> find_column(std::string_view name) const;
  // Empty where there is no such column.
  std::string_view cell(size_t row, std::string_view column) const;
};

// RFC 4180: quotes, doubled quotes, newlines in quotes, LF or CRLF. A blank line holds no record,
// so a file of one newline (what pandas writes for an empty frame) has no header. A row whose
// length is not the header's is an error.
Csv parse_csv(std::string_view text);
Csv read_csv(const std::filesystem::path& path);

std::string format_csv(const Csv& csv);

}  // namespace fathom::agreement
