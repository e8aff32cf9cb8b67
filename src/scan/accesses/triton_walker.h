#pragma once

#include <map>
#include <optional>
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
  void assign(NodeId target, Value given);
  void augmented(NodeId id);
  void for_statement(NodeId id);
  void access(const Value& pointer, const Value& mask, AccessKind kind, NodeId at);
  // The parameter that an address begins with: the one term that is a single name ending in ptr, or
  // else the first name of the expression.
  std::string array_of(Polynomial& where) const;
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
  std::vector<Symbol> loops_;
  int conditions_ = 0;
  size_t work_ = 0;
  int nesting_ = 0;
  std::vector<AccessSite> sites_;
  std::optional<Polynomial> arithmetic_ = Polynomial();
  KernelAccesses out_;
};

}  // namespace fathom
