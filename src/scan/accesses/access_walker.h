#pragma once

#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "scan/accesses/access_walk.h"
#include "scan/accesses/index_space.h"
#include "scan/accesses/traffic_totals.h"

namespace fathom {

// The walk of access_walk.h. Statements stand in access_walk.cc, loops in access_loops.cc,
// expressions in access_values.cc, calls in access_calls.cc, what becomes of an access in
// access_sites.cc.
class AccessWalker {
 public:
  AccessWalker(const DeviceFunction& kernel, const WalkSurroundings& around);
  KernelAccesses run();

 private:
  size_t max_work() const { return around_.max_work; }
  // Of statements and expressions inside one another, through calls. One takes up to 2 kB of stack.
  static constexpr int kMaxNesting = 400;

  enum class Space : uint8_t { kGlobal, kShared, kLocal };

  struct Pointer {
    std::string array;
    Space space = Space::kGlobal;
    std::string type;   // what it points to
    Polynomial offset;  // in elements of `unit`
    std::string unit;   // the type that offset counts
    Polynomial more;    // in elements of `type`, behind a cast
    bool sure = true;   // false: taken for a pointer because it is used as one
  };
  struct Lambda;
  // What an expression or a name stands for; nothing filled: not known.
  struct Value {
    std::optional<Polynomial> number;
    std::optional<Polynomial> first;  // the number it was declared with
    std::optional<Pointer> pointer;
    std::optional<Pointer> refers;  // a reference: to what in memory
    std::shared_ptr<Lambda> lambda;
    std::string type;                  // as declared; empty: not known
    std::vector<std::string> extents;  // of a local array: numbers where they are known
    bool real = false;                 // a floating-point number, or a vector of them
    bool object = false;  // a local array or struct: indexing it touches no memory that counts
    bool local = false;   // declared in the code, and no parameter
    int loops = 0;        // how many loops were around its declaration
  };
  using Names = std::map<std::string, Value, std::less<>>;
  struct Lambda {
    const CodeTree* tree = nullptr;
    uint32_t body = 0;
    std::vector<CodeParameter> parameters;
    Names names;
    std::map<std::string, std::string, std::less<>> types;
  };
  // One function being walked.
  struct Frame {
    const CodeTree* tree = nullptr;
    const DeviceFunction* of = nullptr;
    Names names;
    std::map<std::string, std::string, std::less<>> types;  // template parameters
    std::optional<Value> returned;
    const Frame* caller = nullptr;
    uint32_t call = 0;        // the call in the caller's tree
    std::string way;          // the lines of the calls that led here
    bool only_loads = false;  // a few statements around a load or store: the call says more
  };
  // Statements.
  void statement(uint32_t id);
  void block(uint32_t id);
  void statements(uint32_t id, size_t& open_guards);
  void declare(uint32_t id);
  void local_alias(const std::string& text);
  void assembly(uint32_t id);
  void if_statement(uint32_t id, size_t& open_guards);
  void for_statement(uint32_t id);
  void loop_body(uint32_t body, const std::string& name, uint32_t line);
  void carry_over(uint32_t body, const std::string& loop_name);
  // The names that each round of the body moves on by the same amount, and by how much.
  std::map<std::string, Polynomial> moved_names(uint32_t body);
  size_t changes_of(uint32_t body, const std::string& name);
  std::map<std::string, bool> carried_names(uint32_t body);
  void unknown_loop(uint32_t id);
  bool macro_loop(uint32_t id);
  bool declares_reference(const CodeNode& loop) const;
  // `begin` is what the variable is more than the symbol.
  Symbol loop_symbol(uint32_t id, std::string& name, Polynomial& begin);
  // `i = i + 4`: what is added to the variable itself.
  struct OwnOperand {
    std::string op;
    uint32_t other;
  };
  std::optional<OwnOperand> added_to(const CodeNode& next, const std::string& name) const;
  // What a step multiplies the variable by (`i *= 2`, `i = i << 1`: 2; `i /= 4`: 0.25), if it is
  // known to.
  std::optional<double> factor_of(const CodeNode& next, const std::string& name);
  Symbol scaled_loop(const std::string& name, const Polynomial& start, const Polynomial& end,
                     std::string_view op, double factor);
  // What a condition comes to where it is made of numbers alone.
  std::optional<bool> decided(uint32_t condition);
  std::vector<std::string> extents_of(const std::string& declarator);
  // Ends with return, continue or break.
  enum class Leaving : uint8_t { kNo, kReturn, kJump };
  Leaving leaves(uint32_t id) const;
  // Whether a loop's body may end the loop before its bound.
  bool may_break(uint32_t body);
  // The test of an if as what decides the accesses behind it.
  AccessCondition condition_of(uint32_t id, bool holds);
  std::string flag_text(uint32_t id, bool holds);
  bool reads_memory(uint32_t id) const;
  void branch(uint32_t id);
  // The guards that a condition sets where it holds (or where it does not); true: that is all it
  // says.
  bool guard(uint32_t condition, bool holds);
  bool guard_comparison(std::string_view op, const Value& left, const Value& right);
  bool is_edge(std::string_view op, const Polynomial& left, const Polynomial& right) const;
  void drop_guards(size_t count);

  // Expressions.
  Value value(uint32_t id);
  Value name_value(const CodeNode& node);
  Value member_constant(const std::string& name, const std::string& text);
  Value value_of_text(const std::string& text);
  Value member_value(uint32_t id);
  Value subscript_value(uint32_t id, bool for_address);
  bool is_of_shared(uint32_t id) const;
  Polynomial row_length(const std::vector<std::string>& extents);
  Value binary_value(uint32_t id);
  Value arithmetic_value(const CodeNode& node, const Value& left, const Value& right);
  Value unary_value(uint32_t id);
  Value cast_value(uint32_t id);
  Value assign_value(uint32_t id);
  Value conditional_value(uint32_t id);
  Value lambda_value(uint32_t id);
  // What an expression names, without reading it: where a store goes.
  Value place(uint32_t id);
  void store(uint32_t target, const Value& stored, bool reads_too);
  // References to memory: what `T& x = …` is bound to, what a name or a part of it refers to, and
  // what reading it gives.
  std::optional<Value> bound_to(uint32_t id);
  const Pointer* referred(uint32_t id) const;
  Value read_through(const Pointer& pointer, uint32_t id);
  void rename(const std::string& name, Value stored, bool compound);
  Value computed(std::string name, const std::vector<const Value*>& inputs, bool loaded,
                 std::optional<Polynomial> end = std::nullopt);
  Value real_number() const;
  Value pointer_from(uint32_t id, const Value& base, const std::string& type);
  static Pointer moved(Pointer pointer, const Polynomial& by);
  bool is_real_type(std::string_view type) const;

  // Calls.
  Value call_value(uint32_t id);
  bool copy_call(uint32_t id, std::string_view name);
  std::optional<Value> memory_call(uint32_t id, std::string_view name);
  std::optional<Value> group_call(uint32_t id);
  std::string called_name(const std::string& written) const;
  Value math_call(uint32_t id, std::string_view name, const std::vector<Value>& arguments);
  Value inlined(const DeviceFunction& function, uint32_t call, std::vector<Value> given);
  Value called(const Lambda& lambda, std::vector<Value> given);
  Value unknown_call(uint32_t id, std::string_view name, const std::vector<Value>& arguments);

  // Accesses.
  void access(const Pointer& pointer, AccessKind kind, uint32_t id);
  void made_again(size_t site);
  // Notes an access of global memory that the totals cannot count.
  void unresolved(uint32_t id);
  void unresolved(uint32_t id, const Pointer& pointer);
  void fill_extent(const Pointer& pointer, ArrayAccess& out, AccessSite& site);
  std::optional<Polynomial> width_of(const Pointer& pointer);
  void fill_place(uint32_t id, ArrayAccess& out) const;
  AccessPattern pattern_of(const Pointer& pointer, const Polynomial& where) const;
  // Whether a loop around it leaves the index as it is.
  bool repeats(const Polynomial& where) const;
  void count_operations(int count) { operations_ += count; }
  void flush_operations();

  const CodeNode& node(uint32_t id) const { return (*frame_->tree)[id]; }
  std::string source(uint32_t id) const { return frame_->tree->source(id); }
  std::string resolved_type(std::string_view type) const;
  // Whether a type is a template's parameter, of the function at hand or of one that calls it.
  bool is_parameter(std::string_view name) const;
  std::optional<uint32_t> bytes_of(std::string_view type) const {
    return is_parameter(type) ? std::nullopt : around_.bytes_of(type);
  }

  const WalkSurroundings& around_;
  const DeviceFunction& kernel_;
  IndexSpace space_;
  Frame* frame_ = nullptr;
  std::vector<Symbol> loops_;
  std::vector<uint32_t> loop_lines_;
  std::vector<IndexSpace::Saved> guards_;
  std::vector<AccessCondition> conditions_;  // tests around that are no bounds
  int quiet_ = 0;                            // above 0: expressions are looked at, not run
  int alternatives_ = 0;                     // inside the else of an `if constexpr`
  std::vector<std::string> inside_;          // the functions being walked
  int operations_ = 0;
  std::optional<Polynomial> arithmetic_ = Polynomial();
  size_t work_ = 0;
  int nesting_ = 0;
  std::set<std::string> moved_;         // names whose value follows the loop's rounds already
  std::vector<std::string> resolving_;  // the constants being worked out
  std::vector<AccessSite> sites_;
  // The accesses that are listed, with their sites.
  std::map<std::tuple<std::string, uint32_t, uint32_t, std::string, AccessKind, std::string>,
           size_t>
      seen_;
  // Ifs whose else is being walked: the sites of the other branch, and the depth of the test.
  struct Branches {
    size_t first, middle, depth;
  };
  std::vector<Branches> branches_;
  KernelAccesses out_;
};

// The element types of a name: "const float *" → "float".
std::string plain_type(std::string_view type);

}  // namespace fathom
