#pragma once

#include <map>
#include <string>
#include <vector>

#include "scan/link/python_types.h"

namespace fathom {

// A step from one Python function to another.
struct CallStep {
  PythonRef to;
  Reach how;
  uint32_t line = 0;
  bool constructs =
      false;  // it makes an object, which the program mostly does before requests come
  Certainty certainty = Certainty::kCertain;
};

// A call that leads out of what the repository holds or the scanner knows.
struct OpenCall {
  std::string callee, module;  // module: whose code it is; empty: nobody knows
  uint32_t line = 0;
  std::string library_name = {};  // "library::name" of torch.ops.library.name; empty: none
  bool guessed = false;           // a step leads to a method of its name, or to one without a body
};

// A call of what a C++ module exports that a Python function builds.
struct BuiltCall {
  PythonRef builder;
  std::string name;
  uint32_t line = 0;
  Certainty certainty = Certainty::kCertain;
};

struct CallsOut {
  std::vector<CallStep> steps;  // in order of line
  std::vector<OpenCall> open;
  std::vector<BuiltCall> built;
};

// Who calls whom in Python, worked out for the functions that are asked for.
class PythonCalls {
 public:
  PythonCalls(const Readings& readings, const PythonTypes& types);

  const CallsOut& calls_of(const PythonRef& function) const;
  // What a module does when it is run: the calls outside functions, with the file's number.
  CallsOut calls_of_module(uint32_t file) const;
  // Functions with a call of this last name, tests left out.
  const std::vector<PythonRef>& callers_by_name(std::string_view name) const;
  const PythonTypes& types() const { return types_; }

 private:
  void add_call(const python::Call& call, uint32_t file, uint32_t function, CallsOut& out) const;
  void add_target(const PythonValue& value, const python::Call& call, CallsOut& out) const;
  bool add_built(const PythonValues& values, const python::Call& call, const PythonRef& caller,
                 CallsOut& out) const;
  void add_by_name(const python::Call& call, CallsOut& out) const;
  void add_named_in_string(const python::Call& call, CallsOut& out) const;
  void add_handed(const PythonRef& function, CallsOut& out) const;

  const Readings& readings_;
  const PythonTypes& types_;
  std::map<std::string, std::vector<PythonRef>, std::less<>> methods_, callers_;
  mutable std::map<PythonRef, CallsOut> known_;
};

}  // namespace fathom
