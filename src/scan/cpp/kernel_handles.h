#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/expressions.h"

namespace fathom::cpp {

// Kernels that a file asks a library for by name (data/kernels/lookups.tsv), and what holds them:
// variables, members, entries of tables. The file is read when first asked for.
class KernelHandles {
 public:
  KernelHandles(const Code& file, const Definitions& definitions)
      : code_(file), definitions_(definitions) {}

  // What an expression holds at a token of the file: what its function, which begins at `from`,
  // looked up last; or all that the file ever puts there.
  std::vector<std::string> held_in_function(Range expression, size_t at, size_t from);
  std::vector<std::string> held_in_file(Range expression);
  // Whether a call of this name gives a kernel by its name.
  bool gives_by_name(std::string_view function);

 private:
  struct Lookup {
    size_t at = 0;
    std::vector<std::string> names;  // several: of a list that an index goes through
    bool is_certain = false;         // no branch leads around it
  };
  struct Held {
    std::vector<Lookup> lookups;     // in their order
    std::vector<std::string> names;  // of all of them, each once
  };

  void read();
  void find_lists();
  void find_helpers();
  const Held* of(Range expression);
  void read_call(size_t name, size_t open);
  void read_object(size_t name);
  void hold(Range handle, const Lookup& lookup);
  std::vector<std::string> names_of(size_t open) const;
  bool is_in_branch(size_t at) const;
  std::string text_of(Range handle) const;
  std::optional<Range> assigned_by(size_t callee) const;

  const Code& code_;
  const Definitions& definitions_;
  bool is_read_ = false;
  std::set<std::string, std::less<>> helpers_;  // functions that ask for a parameter's name
  std::map<std::string, std::vector<std::string>, std::less<>> lists_;  // of names, by variable
  std::map<std::string, Held, std::less<>> held_;                       // by handle
};

}  // namespace fathom::cpp
