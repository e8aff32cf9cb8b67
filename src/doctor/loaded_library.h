#pragma once

#include <dlfcn.h>

#include <functional>
#include <string>
#include <vector>

#include "doctor/environment.h"
#include "doctor/machine.h"

namespace fathom {

// Null where the library has no such function.
template <typename Function>
Function* function_of(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// Loads the first of the candidates that has the function in a child process, where `ask` may call
// it, and returns what `ask` answered. `fact` gets the library's path and what went wrong.
using AnswerLines = std::vector<std::pair<std::string, std::string>>;
AnswerLines ask_library(const Machine& machine, const std::vector<std::string>& candidates,
                        const char* function,
                        const std::function<void(void* library, const AnswerWriter&)>& ask,
                        LibraryFact& fact);

}  // namespace fathom
