#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace fathom {

// The program's manual page in roff, made from the definitions that --help prints.
std::string man_page(const CLI::App& app, std::string_view version);

}  // namespace fathom
