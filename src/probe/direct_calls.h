#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// Calls that stay inside an object: `call` with a distance, which no table of the linker holds.
namespace fathom::probe {

struct DefinedFunction {
  std::string name;  // the symbol
  uintptr_t offset;  // from the object's base
};
// The functions of an object's file that are wanted, also those that it does not export. Nothing
// for a file that is damaged or not for this machine.
std::vector<DefinedFunction> defined_functions(const char* path,
                                               const std::function<bool(const char*)>& is_wanted);

struct CodeRange {
  uintptr_t begin, end;
};
struct Redirection {
  uintptr_t from;
  void* to;
};
// Sends the calls in `code` of each `from` to its `to`. Only `call`: a jump to a function may be a
// loop, whose stack would grow. `is_early`: no other thread runs this code yet.
void redirect_calls(const CodeRange& code, const std::vector<Redirection>& redirections,
                    bool is_early);

}  // namespace fathom::probe
