#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "scan/link/python_types.h"

namespace fathom {

// A Python function that a decorator, or a call that it is handed to, makes code of the GPU.
struct Jitted {
  uint32_t file;
  size_t function;
  KernelKind kind;
  KernelVoice told_as;
  LaunchForm form;
  bool marks_helpers;  // its decorator marks what kernels call, too
  std::vector<KernelLauncher> launchers;
  bool called = false;  // by another device function
};

// All of them, and which of them a name means where it stands.
class JittedFunctions {
 public:
  JittedFunctions(const Readings& readings, const PythonNames& names, const PythonTypes& types);

  size_t size() const { return all_.size(); }
  Jitted& operator[](size_t i) { return all_[i]; }
  const Jitted& operator[](size_t i) const { return all_[i]; }
  const python::Function& function_of(const Jitted& jitted) const {
    return readings_.readings[jitted.file].python.functions[jitted.function];
  }
  // The one that a call makes of a function, added where it is new.
  size_t made_of(const PythonRef& function, KernelKind kind);

  struct Meant {
    size_t kernel;
    Certainty certainty = Certainty::kCertain;
  };
  // What a name written in a file means: by its imports, else a function of the class or functions
  // around, else the only one of this name in the file.
  std::vector<Meant> candidates(std::string_view written, uint32_t file,
                                std::string_view around) const;
  // The same for what is launched, which may be kept anywhere: in an attribute, a table, what a
  // function returns.
  std::vector<Meant> launched(std::string_view written, const python::Launch& launch,
                              uint32_t file) const;
  // kernel = make(…); kernel(x): the calls of what a function makes are launches of the kernels
  // that stand in it.
  void add_calls_of_made();
  bool has_name(std::string_view name) const { return by_name_.contains(name); }

 private:
  void add(Jitted jitted);
  bool is_what_it_seems(const python::KernelMark& mark, uint32_t file) const;
  void add_function(uint32_t file, size_t function, std::vector<Meant>& out) const;
  std::vector<Meant> only_namesake(std::string_view written, uint32_t file) const;
  std::vector<size_t> made_by(std::string_view maker, uint32_t file) const;

  const Readings& readings_;
  const PythonNames& names_;
  const PythonTypes& types_;
  std::vector<Jitted> all_;
  // Kernels that a function defines, by the function's name.
  std::map<std::pair<uint32_t, std::string>, std::vector<size_t>> by_maker_;
  std::map<std::string, std::vector<size_t>, std::less<>> by_name_;
  std::map<std::pair<uint32_t, size_t>, size_t> by_function_;  // file and function → kernel
  std::map<std::pair<uint32_t, std::string_view>, std::vector<size_t>> in_file_;
};

}  // namespace fathom
