#pragma once

#include <CLI/CLI.hpp>

namespace fathom {

// --help with descriptions broken at the terminal's width.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(size_t width) : width_(width) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override;

 private:
  size_t width_;
};

}  // namespace fathom
