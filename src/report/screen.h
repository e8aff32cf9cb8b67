#pragma once

#include <fmt/format.h>

#include <string>

#include "base/screen_text.h"

namespace fathom {

struct TerminalStyle {
  bool color = false;
  bool verbose = false;  // every diagnostic with its first example
  size_t width = 100;
};

// Lines for a terminal, styled where it has colours.
class Screen {
 public:
  explicit Screen(const TerminalStyle& style) : style_(style) {}

  std::string bold(std::string_view text) const { return styled("1", text); }
  std::string dim(std::string_view text) const { return styled("2", text); }
  std::string warn(std::string_view text) const { return styled("33", text); }
  void line(std::string_view text) { (out_ += text) += '\n'; }
  // A line whose first word names it.
  void entry(std::string_view label, std::string_view text) {
    line(bold(fit_left(label, 8)) + std::string(text));
  }
  std::string take() { return std::move(out_); }

 private:
  std::string styled(std::string_view code, std::string_view text) const {
    return style_.color ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
  }

  const TerminalStyle& style_;
  std::string out_;
};

}  // namespace fathom
