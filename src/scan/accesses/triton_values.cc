// The expressions of TritonWalker.
#include <algorithm>

#include "scan/accesses/triton_walker.h"
#include "scan/facts/code_names.h"

namespace fathom {
TritonWalker::Value TritonWalker::computed(std::string name,
                                           const std::vector<const Value*>& inputs, bool loaded,
                                           std::optional<Polynomial> end) {
  Value out;
  std::vector<Symbol> symbols;
  for (const Value* input : inputs) {
    if (input->number) {
      for (const Symbol symbol : space_.varying(*input->number)) symbols.push_back(symbol);
    }
    add_tiles(out, *input);
  }
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  out.number =
      Polynomial::symbol(space_.computed(std::move(name), symbols, loaded, std::move(end)));
  return out;
}

void TritonWalker::add_tiles(Value& to, const Value& from) {
  for (const Symbol tile : from.tiles) {
    if (!contains(to.tiles, tile)) to.tiles.push_back(tile);
  }
}

TritonWalker::Value TritonWalker::value(NodeId id) {
  if (id == 0 || ++work_ > kMaxWork || nesting_ >= kMaxNesting) return {};
  const Deepened deepened(nesting_);
  switch (tree_.kind(id)) {
    case NodeKind::kName: {
      const auto known = names_.find(written(id));
      if (known != names_.end()) return known->second;
      Value out;
      out.number = Polynomial::symbol(space_.uniform(written(id)));
      return out;
    }
    case NodeKind::kNumber:
      return number(written(id));
    case NodeKind::kBinary:
    case NodeKind::kBoolean:
      return binary(id);
    case NodeKind::kCompare:
      return comparison(id);
    case NodeKind::kCall:
      return call(id);
    case NodeKind::kSubscript: {
      for (const NodeId part : tree_.children(id)) {
        if (part != tree_.child(id)) value(part);
      }
      return value(tree_.child(id));  // offs[:, None]
    }
    case NodeKind::kUnary: {
      Value inner = value(tree_.child(id));
      if (inner.mask) {
        inner.bounds.clear();
        inner.tested = true;
      }
      if (inner.number && tree_.extra(id) == "-")
        inner.number = *inner.number * Polynomial::constant(-1);
      return inner;
    }
    case NodeKind::kAttribute: {
      Value inner = value(tree_.child(id));
      if (inner.real) return inner;
      Value out;
      out.number = Polynomial::symbol(space_.uniform(written(id)));
      return out;
    }
    default: {
      std::vector<Value> parts;
      for (const NodeId child : tree_.children(id)) parts.push_back(value(child));
      std::vector<const Value*> inputs;
      bool real = false;
      for (const Value& part : parts) {
        inputs.push_back(&part);
        real = real || part.real;
      }
      Value out = computed(written(id), inputs, false);
      out.real = real;
      return out;
    }
  }
}

TritonWalker::Value TritonWalker::number(std::string_view text) {
  Value out;
  const auto whole = number_in<int64_t>(text);
  if (whole) out.number = Polynomial::constant(static_cast<double>(*whole));
  out.real = !whole;
  return out;
}

TritonWalker::Value TritonWalker::binary(NodeId id) {
  std::optional<Value> out;
  NodeId before = 0;
  for (const NodeId child : tree_.children(id)) {
    Value next = value(child);
    const std::string op = before == 0 ? "" : std::string(operator_behind(before));
    out = out ? combined(id, op, *out, next) : std::move(next);
    before = child;
  }
  return out.value_or(Value());
}

TritonWalker::Value TritonWalker::combined(NodeId id, const std::string& op, const Value& left,
                                           const Value& right) {
  Value out;
  add_tiles(out, left);
  add_tiles(out, right);
  if (op == "&" || op == "and") {
    out.bounds = left.bounds;
    out.bounds.insert(out.bounds.end(), right.bounds.begin(), right.bounds.end());
    out.mask = left.mask || right.mask;
    out.tested = left.tested || right.tested || left.mask != right.mask;
    if (out.mask) return out;
  }
  if ((op == "|" || op == "or") && (left.mask || right.mask)) {
    out.mask = out.tested = true;
    return out;
  }
  if (left.real || right.real) {
    out.real = true;
    count(left, right);
    // What was loaded may be an index: then it must stay a number, also as a page and its rest.
    const bool whole = op == "+" || op == "-" || op == "*" || op == "//" || op == "%";
    const bool index = left.number && right.number && whole &&
                       left.number->terms().size() * right.number->terms().size() <= 8;
    const std::string& array = left.array.empty() ? right.array : left.array;
    if (!index && array.empty()) return out;
    if (!index) {
      Value other = computed(written(id), {&left, &right}, true);
      other.array = array;
      return other;
    }
  }
  out.array = left.array.empty() ? right.array : left.array;
  if (!left.number || !right.number) return out;
  const Polynomial &a = *left.number, &b = *right.number;
  constexpr size_t kMaxTerms = 48;
  constexpr int kMaxDegree = 16;
  const bool large =
      a.terms().size() + b.terms().size() > kMaxTerms || a.degree() + b.degree() > kMaxDegree;
  if (large) {
    Value other = computed(written(id), {&left, &right}, false);
    other.array = out.array;
    return other;
  }
  if (op == "+") {
    out.number = a + b;
  } else if (op == "-") {
    out.number = a - b;
  } else if (op == "*" && a.terms().size() * b.terms().size() <= 48) {
    out.number = a * b;
  } else if ((op == "/" || op == "//") && space_.is_uniform(b) && !b.is_zero()) {
    out.number = space_.divided(a, b);
  } else if (op == "%" && space_.is_uniform(b) && !b.is_zero()) {
    out.number = space_.remainder(a, b);
  } else {
    Value other = computed(written(id), {&left, &right}, false);
    other.array = out.array;
    return other;
  }
  return out;
}

TritonWalker::Value TritonWalker::comparison(NodeId id) {
  const NodeId first = tree_.child(id), second = tree_.child(id, 1);
  const Value left = value(first), right = value(second);
  Value out;
  add_tiles(out, left);
  add_tiles(out, right);
  out.mask = true;
  out.tested = true;
  if (tree_.child_count(id) != 2 || !left.number || !right.number) return out;
  const std::string_view op = tree_.extra(id);
  const bool less = op == "<" || op == "<=";
  if (!less && op != ">" && op != ">=") return out;
  const Value& low = less ? left : right;
  const Value& high = less ? right : left;
  // The edge of an index that no memory decides; `offs >= 0` cuts nothing off.
  const bool of_indices = !left.real && !right.real && !space_.depends_on_load(*low.number) &&
                          !space_.depends_on_load(*high.number);
  const bool from_zero = low.number->is_zero();
  out.tested = !of_indices || !(space_.is_uniform(*high.number) || from_zero);
  const auto symbol = low.number->as_symbol();
  const auto end = space_.upper_bound(*high.number);
  if (symbol && end && !space_.is_uniform(*low.number)) {
    out.bounds.push_back({*symbol, *end});
  } else if (end) {
    // pid * BLOCK + arange written out: the variable that has this value.
    const std::vector<Symbol> varying = space_.varying(*low.number);
    if (varying.size() == 1) {
      const Polynomial rest = space_.uniform_part(*low.number);
      out.bounds.push_back({varying[0], *end - rest});
    }
  }
  return out;
}

TritonWalker::Value TritonWalker::call(NodeId id) {
  const std::string callee = written(tree_.child(id));
  const std::string_view name = last_part(callee);
  std::vector<Value> given;
  std::map<std::string, Value, std::less<>> named;
  std::vector<NodeId> nodes;
  for (const NodeId argument : tree_.children(id)) {
    if (argument == tree_.child(id)) continue;
    if (tree_.kind(argument) == NodeKind::kKeyword) {
      named[std::string(tree_.extra(argument))] = value(tree_.child(argument));
    } else {
      given.push_back(value(argument));
      nodes.push_back(argument);
    }
  }
  if (name == "program_id" || name == "num_programs") return coordinate(name, given, named);
  if (name == "arange" && given.size() > 1) return arange(given);
  if (name == "load" && !given.empty()) {
    const Value mask = mask_of(given.size() > 1, given.size() > 1 ? given[1] : Value(), named);
    access(given[0], mask, AccessKind::kRead, nodes[0]);
    Value loaded = computed(written(id), {&given[0]}, true);
    loaded.real = true;
    add_tiles(loaded, given[0]);
    return loaded;
  }
  const bool atomic = name.starts_with("atomic_");
  if ((name == "store" || atomic) && given.size() > 1) {
    const Value mask = mask_of(given.size() > 2, given.size() > 2 ? given[2] : Value(), named);
    access(given[0], mask, atomic ? AccessKind::kAtomic : AccessKind::kWrite, nodes[0]);
    return {};
  }
  return other_call(id, name, given);
}

// One that is not made of comparisons here is a test of its own: loaded, or handed on.
TritonWalker::Value TritonWalker::mask_of(bool by_position, const Value& given,
                                          const std::map<std::string, Value, std::less<>>& named) {
  const auto by_name = named.find("mask");
  if (!by_position && by_name == named.end()) return {};
  Value out = by_position ? given : by_name->second;
  if (!out.mask) out.tested = !(out.number && space_.text(*out.number) == "None");
  return out;
}

TritonWalker::Value TritonWalker::coordinate(
    std::string_view name, const std::vector<Value>& given,
    const std::map<std::string, Value, std::less<>>& named) {
  const auto axis_value = named.find("axis");
  const Value& from = !given.empty()              ? given[0]
                      : axis_value != named.end() ? axis_value->second
                                                  : Value();
  const auto axis = from.number ? from.number->as_constant() : std::nullopt;
  Value out;
  const int index = static_cast<int>(axis.value_or(0));
  if (name == "program_id") {
    out.number = Polynomial::symbol(program(index));
  } else {
    out.number = Polynomial::symbol(
        space_.uniform(std::string("gridDim.") + "xyz"[std::clamp(index, 0, 2)]));
  }
  return out;
}

TritonWalker::Value TritonWalker::arange(const std::vector<Value>& given) {
  Value out;
  if (!given[0].number || !given[1].number) return out;
  const Symbol tile = space_.loop("arange(" + space_.text(*given[1].number) + ")", *given[0].number,
                                  Polynomial::constant(1), *given[1].number);
  out.number = Polynomial::symbol(tile);
  out.tiles = {tile};
  return out;
}

TritonWalker::Value TritonWalker::other_call(NodeId id, std::string_view name,
                                             const std::vector<Value>& given) {
  std::vector<const Value*> inputs;
  bool real = false, uniform = !given.empty();
  std::string text(name);
  for (const Value& one : given) {
    inputs.push_back(&one);
    real = real || one.real;
    uniform = uniform && one.number && space_.is_uniform(*one.number);
    text += (text.size() == name.size() ? "(" : ", ") +
            (one.number ? space_.text(*one.number) : std::string("…"));
  }
  // x.to(tl.int64), tl.cast(x, …), tl.multiple_of(x, 16): the value itself.
  if (name == "to" || name == "broadcast_to" || name == "reshape" || name == "trans") {
    if (tree_.kind(tree_.child(id)) == NodeKind::kAttribute)
      return value(tree_.child(tree_.child(id)));
  }
  if (is_one_of(name, {"cast", "multiple_of", "max_contiguous", "expand_dims", "broadcast_to"}) &&
      !given.empty()) {
    return given[0];
  }
  // A function of the repository that is given an address may read or write there.
  if (tree_.kind(tree_.child(id)) == NodeKind::kName &&
      std::any_of(given.begin(), given.end(),
                  [&](const Value& one) { return holds_pointer(one); })) {
    unresolved(id);
  }
  if (name == "zeros" || name == "full" || name == "zeros_like") {
    Value out;
    out.real = true;
    return out;
  }
  if (real) {
    Value out;
    out.real = true;
    for (const Value& one : given) add_tiles(out, one);
    if (name != "dot") count(out, out);
    if (name == "sum" || name == "max" || name == "min" || name == "argmax") out.tiles.clear();
    return out;
  }
  if (name == "minimum" || name == "min") {
    std::optional<Polynomial> end;
    for (const Value& one : given) {
      if (!end && one.number) end = space_.upper_bound(*one.number);
    }
    if (!uniform) return computed(written(id), inputs, false, end);
  }
  if (uniform && text.size() < 120) {
    Value out;
    out.number = Polynomial::symbol(space_.uniform(text + ")"));
    return out;
  }
  return computed(written(id), inputs, false);
}

}  // namespace fathom
