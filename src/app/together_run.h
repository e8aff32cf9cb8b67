#pragma once

#include "app/output_options.h"
#include "app/reading_options.h"
#include "app/scope_options.h"

namespace fathom {

// fathom analyze --together: one report of several ranks.
struct TogetherArguments {
  std::vector<std::string> traces;  // or folders of them
  OutputArguments output;
  std::string platform;
  ScopeArguments scope;
  ReadingArguments reading;
  bool verbose = false;
};

}  // namespace fathom
