#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scan/python/outline.h"

namespace fathom::python {

// What names of one file are set to, as its launches need it: of most files none is asked for.
class NameMeanings {
 public:
  static constexpr size_t kLongest = 500;  // of a name or expression

  explicit NameMeanings(const Outline& outline) : outline_(outline), tree_(outline.tree) {}

  // What a name or attribute is set to in the function, or else in the ones around it; null:
  // nothing.
  const std::vector<NodeId>* assigned(const Site& site, std::string_view name);
  // What a member is set to in the methods of the class.
  const std::vector<NodeId>* assigned_in_class(const Site& site, const std::string& name);
  // A parameter, or the variable of a loop around: no kernel of the file.
  bool is_bound(const Site& site, std::string_view name) const;
  // The names of the functions that an expression may stand for, through assignments, tables,
  // conditions and wrappers.
  std::vector<std::string> meanings(const Site& site, NodeId expression);
  // The text of a string literal without its quotes; empty: it is none.
  std::string literal_at(NodeId node) const;

 private:
  void read_assignments();
  void assign(const Site& site, NodeId target, NodeId value);
  void assign_parts(const Site& site, NodeId targets, NodeId value);
  bool is_parameter(uint32_t function, std::string_view name) const;
  void add_meanings(const Site& site, NodeId kernel, std::vector<std::string>& out, int depth);
  void of_name(const Site& site, NodeId name, std::vector<std::string>& out, int depth);
  void of_entries(const Site& site, NodeId table, std::vector<std::string>& out, int depth);
  void of_call(const Site& site, NodeId call, std::vector<std::string>& out, int depth);
  std::string take_key();

  const Outline& outline_;
  const Tree& tree_;
  bool is_read_ = false;
  std::map<std::pair<uint32_t, std::string>, std::vector<NodeId>> assigned_;
  // Of members by class, filled when first asked for.
  std::map<std::pair<uint32_t, std::string>, const std::vector<NodeId>*> members_;
  size_t looks_ = 0;
  size_t tries_ = 0;               // to find what one expression means
  std::vector<std::string> keys_;  // of the subscripts on the way to it, the innermost last
};

}  // namespace fathom::python
