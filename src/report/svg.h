#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

// The parts of small drawings.
namespace fathom {

inline std::string svg_begin(int width, int height) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height, width, height);
}

// Text that somebody else chose: inert, without what XML does not allow, up to `most` bytes.
std::string svg_safe(std::string_view text, size_t most);

}  // namespace fathom
