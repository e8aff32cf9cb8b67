#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scan/accesses/access_walk.h"
#include "scan/accesses/index_space.h"
#include "scan/accesses/traffic_totals.h"
#include "scan/python/ast.h"

namespace fathom {

// The walk of triton_walk.h. Statements and accesses stand in triton_walk.cc, expressions in
// triton_values.cc.
class TritonWalker {
 public:
  TritonWalker(const python::Tree& tree, python::NodeId function)
      : tree_(tree), function_(function) {
    program(0);
  }
  KernelAccesses run();

 private:
  using NodeId = python::NodeId;
  using NodeKind = python::NodeKind;
  struct Bound {
    Symbol symbol = 0;
    Polynomial end;
  };
  struct Value {
    std::optional<Polynomial> number;
    std::string array;          // a pointer into it: number is the offset
    std::vector<Bound> bounds;  // of a mask
    bool mask = false;          // made of comparisons
    bool tested = false;        // a mask with a test that is no bound of an index
    std::vector<Symbol> tiles;  // the tl.arange that it has a dimension for
    bool real = false;
  };

  // As the code writes it, cut where that is long.
  std::string written(NodeId id) const;
  uint32_t line_of(NodeId id) const;
  Symbol program(int axis);
  void parameters(NodeId list);
  void block(NodeId id);
  void statement(NodeId id);
  void if_statement(NodeId id);
  void loop_body(NodeId id);
  void carry_over(NodeId body);
  bool calls(NodeId at);
  bool may_break(NodeId body);
  // The test as an expression of flags; empty: it is not the same for all programs, or no name.
  std::string flag_text(NodeId test, bool holds) const;
  void assign(NodeId target, Value given);
  void augmented(NodeId id);
  void for_statement(NodeId id);
  void access(const Value& pointer, const Value& mask, AccessKind kind, NodeId at);
  // The parameter that an address begins with: the one term that is a parameter and that the code
  // uses as no number. Empty: none, or several that could be.
  std::string array_of(Polynomial& where) const;
  // The parameters that the code multiplies, compares or counts with.
  std::string_view operator_behind(NodeId operand) const;
  void find_numbers(NodeId at);
  bool may_be_pointer(std::string_view name) const;
  bool holds_pointer(const Value& value) const;
  void unresolved(NodeId at);
  void count(const Value& left, const Value& right);

  Value computed(std::string name, const std::vector<const Value*>& inputs, bool loaded,
                 std::optional<Polynomial> end = std::nullopt);
  static void add_tiles(Value& to, const Value& from);
  Value value(NodeId id);
  static Value number(std::string_view text);
  Value binary(NodeId id);
  Value combined(NodeId id, const std::string& op, const Value& left, const Value& right);
  // A mask: offs < n. The symbol on the left has n values then.
  Value comparison(NodeId id);
  Value call(NodeId id);
  Value mask_of(bool by_position, const Value& given,
                const std::map<std::string, Value, std::less<>>& named);
  Value coordinate(std::string_view name, const std::vector<Value>& given,
                   const std::map<std::string, Value, std::less<>>& named);
  Value arange(const std::vector<Value>& given);
  Value other_call(NodeId id, std::string_view name, const std::vector<Value>& given);

  static constexpr size_t kMaxWork = 20000;
  static constexpr int kMaxNesting = 200;
  const python::Tree& tree_;
  const python::NodeId function_;
  std::string name_;
  IndexSpace space_;
  std::map<std::string, Value, std::less<>> names_;
  std::set<std::string, std::less<>> parameters_, numbers_;
  std::vector<Symbol> loops_;
  std::vector<uint32_t> loop_lines_;
  std::vector<AccessCondition> conditions_;
  std::set<std::string> moved_;  // names whose value follows the loop's rounds already
  size_t work_ = 0;
  int nesting_ = 0;
  std::vector<AccessSite> sites_;
  std::optional<Polynomial> arithmetic_ = Polynomial();
  KernelAccesses out_;
};

}  // namespace fathom
