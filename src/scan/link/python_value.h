#pragma once

#include <string>
#include <vector>

#include "scan/index/python_names.h"
#include "scan/link/readings.h"

namespace fathom {

// What an expression can stand for.
struct PythonValue {
  enum class Kind : uint8_t {
    kFunction,
    kClass,     // the class itself
    kInstance,  // an object of it, or of one that inherits from it; a list of them too
    kModule,    // file
    kTable,     // a name of module level that things are registered with: index is in tables
    kScope,    // what a function made that returns no known object: it may hold its inner functions
    kForeign,  // something of a module that the repository does not hold
    kBuilt,    // of a C++ module that the function `ref` builds: the module, or its `member`
    kKernel    // what a call of a library makes of a text: ref.index is the line
  };
  Kind kind;
  PythonRef ref;
  bool exact = false;  // kInstance: made by the class's own constructor
  Certainty certainty = Certainty::kCertain;
  bool element = false;      // kInstance: it lies in the list that was asked for
  std::string module = {};   // kForeign
  std::string through = {};  // the registry or base class that stands between; may be empty
  // kBuilt: what the module is asked for; empty: the module itself. kForeign of torch:
  // "ops.library.name".
  std::string member = {};
};

using PythonValues = std::vector<PythonValue>;

// Adds what is not there yet. Above 24 candidates an expression is ambiguous: further ones are
// dropped.
void add_value(PythonValues& into, const PythonValue& value);
void add_values(PythonValues& into, const PythonValues& values);
// Whether no further candidate would be added.
bool is_ambiguous(const PythonValues& values);
bool has_instance(const PythonValues& values);

}  // namespace fathom
