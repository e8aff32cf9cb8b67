#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scan/cpp/expressions.h"

namespace fathom::cpp {

enum class ValueKind : uint8_t { kDeclared, kConstructed, kAssigned, kAlias };

// What a name is given: `T name = value`, `T name(value)`, `name = value`, `using name = value`.
struct Value {
  size_t name = 0;   // token
  size_t begin = 0;  // of the value; of its bracket for kConstructed
  ValueKind kind = ValueKind::kDeclared;
};

// `name.path = value`
struct FieldValue {
  size_t name = 0, begin = 0;
  std::string path;      // ".gridDim", "[0].val.clusterDim.x"
  bool changes = false;  // `name.path *= value`: made of what it was before
};

// The name that an operator at a token changes in place: `blocks++`, `--n`, `n *= 2`. 0: none.
size_t name_changed_at(const TokenList& source, size_t op);

// Everything that a source gives a value to, by name. Built once for a source, in one pass.
class Values {
 public:
  explicit Values(const Code& code);

  // What a name can mean at a token: its last declaration or assignment that every way to the token
  // passes, and what branches may have assigned since. Assignments count from the token `from`,
  // where the function around begins.
  std::vector<Value> meanings(std::string_view name, size_t at, size_t from) const;
  // The fields that were set before a token, in order, since the name was declared.
  std::vector<FieldValue> fields(std::string_view name, size_t at, size_t from) const;
  // Whether what is assigned at a name's token is passed on every way to a later one.
  bool always_reaches(size_t name, size_t at) const;
  Range range(const Value& value) const;
  // Whether an operator changes the name where the value is visible: `blocks++`, `n *= 2`. What it
  // is then depends on how often that ran.
  bool is_counted(const Value& value) const;

 private:
  void find_branches_and_labels();
  void add_assignment(size_t equals);
  void add_function_pointer(size_t equals);
  void add_typedef(size_t token);
  void add_constructed(size_t name);
  void add_declared(size_t semicolon);

  const Code code_;
  // From each token on, the innermost branch of an #if, and the token that ends each branch.
  std::vector<std::pair<uint32_t, uint32_t>> branches_;
  std::vector<uint32_t> branch_ends_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> labels_;  // of switches, by the { around
  std::unordered_map<std::string_view, std::vector<Value>> values_;
  std::unordered_map<std::string_view, std::vector<FieldValue>> fields_;
  std::unordered_map<std::string_view, std::vector<size_t>> counted_;  // the operators' tokens
};

}  // namespace fathom::cpp
