#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scan/python/ast.h"
#include "scan/python/python_file.h"
#include "scan/python/string_content.h"

namespace fathom::python {

constexpr uint32_t kNowhere = UINT32_MAX;

// A function or class with the ones around it, as indexes of Outline's lists.
struct Definition {
  NodeId node = 0;
  std::string name, scope;
  uint32_t function = kNowhere, in_class = kNowhere;  // the nearest of each
  bool method = false;                                // it stands in a class's body
  bool gives_back = false;                            // `return x`, somewhere
};

// A node and the function in whose body it is evaluated: defaults and decorators belong to the
// function around.
struct Site {
  NodeId node = 0;
  uint32_t function = kNowhere, in_class = kNowhere;
};

// The arguments of a call, apart.
struct CallArguments {
  std::vector<NodeId> positional;  // up to the first *
  std::vector<NodeId> after_star;  // the others
  std::vector<std::pair<std::string_view, NodeId>> keywords;
  NodeId starred = 0, double_starred = 0;  // the expressions after * and **

  NodeId keyword(std::string_view name) const;
  NodeId at(size_t position) const {
    return position < positional.size() ? positional[position] : 0;
  }
  // By position or by name.
  NodeId find(size_t position, std::string_view name) const;
};

// One walk over the tree: where the things stand that the extractors look for, in order of the
// text, and who is around them.
class Outline {
 public:
  explicit Outline(const Tree& of);

  const Tree& tree;
  std::vector<Definition> functions, classes;
  std::vector<Site> calls, subscripts, comparisons, strings, assignments, imports, dictionaries;
  // Every name and attribute used, and the first token where it is.
  std::unordered_map<std::string_view, uint32_t> names;
  // The attributes among them of an object that is called like settings: args.x, self.config.x.
  std::unordered_map<std::string_view, uint32_t> settings;
  std::set<std::string> settings_passed;  // callees that are given one whole: run(args)

  NodeId parent(NodeId node) const { return parents_[node]; }
  NodeId callee(NodeId call) const { return tree.child(call); }
  CallArguments arguments(NodeId call) const;
  // Whether it is evaluated with the class around, and not in one of its methods.
  bool in_class_body(const Site& site) const;
  // The function's name with its scope; empty: at module level.
  std::string function_name(uint32_t function) const;
  // "a.b.c" of names and attributes, the first name replaced by what an import bound it to:
  // `getenv` is "os.getenv". Empty: it is something else.
  std::string path(NodeId expression) const;
  // The last name of a path: "add_argument" of parser.x().add_argument.
  std::string_view last_name(NodeId expression) const;
  // A string as far as the file tells: literals, f-strings, +, and constants of the module.
  std::optional<StringContent> text(NodeId expression) const;
  // The same for a name that a loop around `place` runs over literals: each of them.
  std::vector<std::string> texts(NodeId expression) const;
  // What the module or the function around sets a name to; 0: unknown, or different things.
  NodeId constant(std::string_view name) const;
  // The function around `function` (itself included) that has the parameter, and which one it is;
  // marks are not counted.
  struct ParameterPlace {
    uint32_t function = kNowhere;
    size_t position = 0;
    NodeId node = 0;
  };
  std::optional<ParameterPlace> parameter(uint32_t function, std::string_view name) const;
  // The comment that stands beside a line, or the ones directly above it; without their marks.
  std::string comment_at(uint32_t line_first, uint32_t line_last, bool above) const;

 private:
  void walk();
  void visit(NodeId node, const Site& around);
  void read_import(NodeId statement);
  void note_passed(NodeId object);
  NodeId loop_values(NodeId place, std::string_view name) const;
  std::optional<StringContent> text(NodeId expression, int depth, size_t& work) const;

  std::vector<NodeId> parents_;
  std::map<std::string, std::string, std::less<>> imported_;  // bound name → what it is
  std::map<std::string_view, NodeId> constants_;              // set once at module level
};

// A text with its first paragraph only, on one line.
std::string first_paragraph(std::string_view text);
// The docstring of a function's or class's block; empty: none.
std::string docstring(const Tree& tree, NodeId block);
// Whether it shows how it is called: >>> f(x)
bool docstring_has_example(const Tree& tree, NodeId block);

}  // namespace fathom::python
