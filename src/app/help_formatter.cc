#include "app/help_formatter.h"

#include <algorithm>

#include "base/screen_text.h"

namespace fathom {

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  const size_t column = get_column_width(), room = std::max(width_, column + 20) - column;
  const std::string margin(column, ' ');
  std::string out = "  " + make_option_name(option, is_positional) + make_option_opts(option);
  out = screen_width(out) < column ? fit_left(out, column) : out + "\n" + margin;
  size_t used = 0;
  for (const std::string& word : CLI::detail::split(make_option_desc(option), ' ')) {
    const size_t length = screen_width(word);
    if (used > 0 && used + 1 + length > room) {
      out += "\n" + margin;
      used = 0;
    }
    if (used > 0) out += ' ';
    out += word;
    used += length + (used > 0 ? 1 : 0);
  }
  return out + "\n";
}

}  // namespace fathom
