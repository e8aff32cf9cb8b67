#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/brackets.h"
#include "scan/cpp/cpp_file.h"
#include "scan/cpp/tokens.h"

namespace fathom::cpp {

// Which macro a name means where it stands; null: none that matters. `arguments` is SIZE_MAX where
// no brackets follow.
using FindMacro =
    std::function<const Macro*(std::string_view name, uint32_t line, size_t arguments)>;

// The tokens `first` to before `last` as text, with the macros that `find` knows replaced by what
// they stand for, again and again. Too long an expansion ends early. `left` is how many bytes all
// expansions of a source may still make on their way: macros multiply.
std::string expand(const TokenList& source, const Brackets& brackets, size_t first, size_t last,
                   const FindMacro& find, size_t& left);
// What that is at first for a source of so many bytes.
size_t expansions_of(size_t bytes);

// The last token of a macro's use at `name`: the name itself or the bracket that closes its
// arguments; source.size(): it is a macro with arguments, and none stand here.
size_t use_end(const TokenList& source, const Brackets& brackets, size_t name, const Macro& macro);

// Macros by name. A name can be defined again: the definition before a line counts.
class MacroTable {
 public:
  // Adds macros of one file, in order of line.
  void add(const std::vector<Macro>& macros, const std::function<bool(const Macro&)>& wanted);
  const Macro* find(std::string_view name, uint32_t line) const;
  std::span<const Macro* const> all(std::string_view name) const;
  bool contains(std::string_view name) const { return macros_.contains(name); }
  bool empty() const { return macros_.empty(); }

 private:
  std::map<std::string_view, std::vector<const Macro*>, std::less<>> macros_;
};

// Whether a macro can be used with so many arguments.
bool takes_arguments(const Macro& macro, size_t count);

// Calls `each` with every name in a macro's body, those inside strings too.
void for_each_name(std::string_view body, const std::function<void(std::string_view)>& each);

// The names of those macros that `holds` is true of, whose bodies name something known, or that
// name such a macro.
std::set<std::string, std::less<>> macros_reaching(
    const std::vector<const Macro*>& macros, const std::function<bool(const Macro&)>& holds,
    const std::function<bool(std::string_view)>& is_known);

}  // namespace fathom::cpp
