#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// One line's fields (RFC 4180): quotes taken off, doubled ones made single. `unclosed`: the line
// ends inside quotes, where a field with a line break goes on.
struct CsvRecord {
  std::vector<std::string> fields;
  bool unclosed = false;
};
// Fields are put into `into`, whose memory is used again. A carriage return at the end is no part.
void split_csv(std::string_view line, CsvRecord& into);

// A cell's number, whatever locale wrote it.
enum class DecimalMark : char { kPoint, kComma };

// Which mark the texts use, by those that can only be read one way: "1,234.5", "0,25", "1.234.567".
class DecimalVotes {
 public:
  void add(std::string_view text);
  // Where nothing tells, a point, as in the C locale: "1,056" is a thousand and fifty-six.
  DecimalMark mark() const {
    return commas_ > points_ ? DecimalMark::kComma : DecimalMark::kPoint;
  }

 private:
  size_t points_ = 0, commas_ = 0;
};

// The number at the beginning of the text, thousands separators (comma or point, blanks also of the
// typographic kinds, apostrophes) left out; false: there is none, or it is not finite. `rest`: what
// follows it.
bool parse_number(std::string_view text, DecimalMark mark, double& value, std::string_view& rest);
// The whole text is a number.
bool parse_number(std::string_view text, DecimalMark mark, double& value);

}  // namespace fathom
