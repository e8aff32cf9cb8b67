#include "scan/accesses/triton_walk.h"

#include <algorithm>

#include "scan/accesses/triton_walker.h"
#include "scan/facts/code_names.h"

namespace fathom {
namespace {

constexpr size_t kMaxSites = 160, kMaxTritonIndexText = 90;

}  // namespace

KernelAccesses TritonWalker::run() {
  if (tree_.kind(function_) != NodeKind::kFunction) return {};
  name_ = tree_.extra(function_);
  for (const NodeId part : tree_.children(function_)) {
    if (tree_.kind(part) == NodeKind::kParameters) parameters(part);
    if (tree_.kind(part) == NodeKind::kBlock) {
      find_numbers(part);
      block(part);
    }
  }
  set_conditions(out_.accesses, sites_);
  out_.cut = work_ > kMaxWork || out_.accesses.size() >= kMaxSites;
  if (!out_.cut) out_.traffic = traffic_totals(out_.accesses, sites_, space_);
  if (arithmetic_ && !out_.cut) out_.arithmetic = space_.text(*arithmetic_);
  return std::move(out_);
}

std::string TritonWalker::written(NodeId id) const {
  constexpr size_t kLongest = 400;
  std::string out = tree_.source(id, kLongest);
  if (out.size() >= kLongest)
    out += " … " + std::to_string(id - function_);  // different ones differ
  return out;
}

uint32_t TritonWalker::line_of(NodeId id) const { return tree_.line_first(id); }

Symbol TritonWalker::program(int axis) {
  const std::string extent = std::string("gridDim.") + "xyz"[std::clamp(axis, 0, 2)];
  return space_.base("program_id(" + std::to_string(axis) + ")",
                     Polynomial::symbol(space_.uniform(extent)));
}

void TritonWalker::parameters(NodeId list) {
  for (const NodeId one : tree_.children(list)) {
    Value value;
    const std::string name(tree_.extra(one));
    value.number = Polynomial::symbol(space_.uniform(name));
    names_[name] = value;
    parameters_.insert(name);
    // x: tl.constexpr is no pointer.
    if ((tree_[one].flags & python::kHasAnnotation) != 0 && holds(written(one), "constexpr"))
      numbers_.insert(name);
  }
}

// It stands between the operands, behind the brackets around the first.
std::string_view TritonWalker::operator_behind(NodeId operand) const {
  uint32_t token = tree_[operand].last + 1;
  while (tree_.token(token) == ")") ++token;
  return tree_.token(token);
}

void TritonWalker::find_numbers(NodeId at) {
  std::vector<NodeId> open = {at};
  while (!open.empty() && work_ <= kMaxWork) {
    const NodeId id = open.back();
    open.pop_back();
    ++work_;
    const NodeKind kind = tree_.kind(id);
    NodeId before = 0;
    for (const NodeId child : tree_.children(id)) {
      open.push_back(child);
      const bool is_name = tree_.kind(child) == NodeKind::kName;
      const std::string_view op =
          before == 0 || kind != NodeKind::kBinary ? std::string_view() : operator_behind(before);
      const bool scales = !op.empty() && op != "+" && op != "-";
      // X is None, X == 0 may be asked of a pointer.
      const bool compares = kind == NodeKind::kCompare &&
                            (tree_.extra(id).starts_with('<') || tree_.extra(id).starts_with('>'));
      if (is_name && (scales || compares)) numbers_.insert(written(child));
      if (scales && tree_.kind(before) == NodeKind::kName) numbers_.insert(written(before));
      before = child;
    }
    if (kind != NodeKind::kCall) continue;
    const std::string callee = written(tree_.child(id));
    const std::string_view called = last_part(callee);
    if (called != "range" && called != "static_range" && called != "arange" && called != "cdiv")
      continue;
    for (const NodeId child : tree_.children(id)) {
      if (tree_.kind(child) == NodeKind::kName) numbers_.insert(written(child));
    }
  }
}

bool TritonWalker::may_be_pointer(std::string_view name) const {
  return parameters_.contains(name) && !numbers_.contains(name);
}

bool TritonWalker::holds_pointer(const Value& value) const {
  if (!value.number) return false;
  for (const auto& [product, factor] : value.number->terms()) {
    if (factor == 1 && product.size() == 1 && product[0].second == 1 &&
        may_be_pointer(space_.text(Polynomial::term(product, factor)))) {
      return true;
    }
  }
  return false;
}

void TritonWalker::unresolved(NodeId at) {
  constexpr size_t kMostUnresolved = 32;
  if (out_.unresolved.size() >= kMostUnresolved) return;
  std::string what = written(at);
  if (what.size() > kMaxTritonIndexText) what = what.substr(0, kMaxTritonIndexText) + "…";
  out_.unresolved.push_back({std::move(what), {0, line_of(at)}});
}

void TritonWalker::block(NodeId id) {
  for (const NodeId child : tree_.children(id)) statement(child);
}

void TritonWalker::statement(NodeId id) {
  if (++work_ > kMaxWork || nesting_ >= kMaxNesting) return;
  const Deepened deepened(nesting_);
  switch (tree_.kind(id)) {
    case NodeKind::kBlock:
      return block(id);
    case NodeKind::kAssign: {
      std::vector<NodeId> parts;
      for (const NodeId child : tree_.children(id)) parts.push_back(child);
      if (parts.size() < 2) return;
      const Value given = value(parts.back());
      for (size_t i = 0; i + 1 < parts.size(); ++i) assign(parts[i], given);
      return;
    }
    case NodeKind::kAnnotated:
      if (tree_.child_count(id) > 2) assign(tree_.child(id), value(tree_.child(id, 2)));
      return;
    case NodeKind::kAugmented:
      return augmented(id);
    case NodeKind::kExpression:
      value(tree_.child(id));
      return;
    case NodeKind::kIf:
      return if_statement(id);
    case NodeKind::kFor:
      return for_statement(id);
    case NodeKind::kWhile: {
      loops_.push_back(space_.loop("while", {}, {}, {}));
      loop_body(id);
      loops_.pop_back();
      return;
    }
    default:
      return;
  }
}

void TritonWalker::assign(NodeId target, Value given) {
  if (tree_.kind(target) == NodeKind::kTuple) {
    for (const NodeId part : tree_.children(target)) {
      Value part_of = given;
      if (given.number) part_of = computed(std::string(written(part)), {&given}, false);
      assign(part, part_of);
    }
    return;
  }
  if (tree_.kind(target) != NodeKind::kName) return;
  const std::string name = written(target);
  if (given.array.empty() && given.number && !given.number->as_symbol() &&
      !space_.is_uniform(*given.number) && given.bounds.empty()) {
    // The base of an address stays beside it: x_base = X + row * stride is X.
    const Polynomial same = space_.uniform_part(*given.number), own = *given.number - same;
    given.number =
        own.as_symbol() ? *given.number : same + Polynomial::symbol(space_.variable(name, own));
  }
  names_[name] = std::move(given);
}

void TritonWalker::augmented(NodeId id) {
  const NodeId target = tree_.child(id);
  const Value added = value(tree_.child(id, 1));
  if (tree_.kind(target) != NodeKind::kName) return;
  Value& known = names_[written(target)];
  if (known.real || added.real) {
    known.real = true;
    count(added, known);
    return;
  }
  if (!known.number || !added.number) return;
  if (moved_.contains(written(target))) {
    known.number = *known.number + *added.number;
    return;
  }
  // What a loop adds in every round depends on the round.
  Value round;
  if (!loops_.empty()) round.number = Polynomial::symbol(loops_.back());
  const Value mixed = computed(written(target), {&added, &round}, false);
  known.number = loops_.empty() ? *known.number + *added.number : *known.number + *mixed.number;
}

void TritonWalker::for_statement(NodeId id) {
  const NodeId target = tree_.child(id), iterated = tree_.child(id, 1);
  const Polynomial one = Polynomial::constant(1);
  std::optional<Polynomial> start = Polynomial(), end, step = one;
  if (tree_.kind(iterated) == NodeKind::kCall) {
    std::vector<Value> given;
    for (const NodeId argument : tree_.children(iterated)) {
      if (argument == tree_.child(iterated)) continue;
      if (tree_.kind(argument) != NodeKind::kKeyword) given.push_back(value(argument));
    }
    const std::string iterated_by = written(tree_.child(iterated));
    const std::string_view callee = last_part(iterated_by);
    if (callee == "range" || callee == "static_range") {
      if (given.size() == 1) end = given[0].number;
      if (given.size() > 1) start = given[0].number;
      if (given.size() > 1) end = given[1].number;
      if (given.size() > 2) step = given[2].number;
    }
  }
  if (end && !space_.is_uniform(*end)) {
    if (const auto bound = space_.upper_bound(*end)) end = bound;
  }
  const std::string name = written(target);
  const bool known = start && end && step;
  const Symbol loop =
      known ? space_.loop(name, *start, *step, *end) : space_.loop(name, {}, {}, {});
  loops_.push_back(loop);
  Value variable;
  variable.number = Polynomial::symbol(loop);
  names_[name] = variable;
  loop_body(id);
  loops_.pop_back();
}

void TritonWalker::loop_body(NodeId id) {
  loop_lines_.push_back(line_of(id));
  const auto before = static_cast<std::ptrdiff_t>(conditions_.size());
  for (const NodeId part : tree_.children(id)) {
    if (tree_.kind(part) != NodeKind::kBlock) continue;
    if (may_break(part)) conditions_.push_back({"", true});
    const std::set<std::string> outer = moved_;
    carry_over(part);
    block(part);
    moved_ = outer;
  }
  conditions_.erase(std::remove_if(conditions_.begin() + before, conditions_.end(),
                                   [](const AccessCondition& one) { return one.of_jump; }),
                    conditions_.end());
  loop_lines_.pop_back();
}

// `a_ptrs += BLOCK_K * stride` at the end of the body: the loads before it follow the rounds too.
void TritonWalker::carry_over(NodeId body) {
  const auto round = space_.round_of(loops_.back());
  if (!round) return;
  std::map<std::string, size_t> changes;
  for (const NodeId one : tree_.children(body)) {
    const bool sets =
        tree_.kind(one) == NodeKind::kAugmented || tree_.kind(one) == NodeKind::kAssign;
    if (sets && tree_.kind(tree_.child(one)) == NodeKind::kName)
      ++changes[written(tree_.child(one))];
  }
  for (const NodeId one : tree_.children(body)) {
    if (tree_.kind(one) != NodeKind::kAugmented) continue;
    const NodeId target = tree_.child(one);
    if (tree_.kind(target) != NodeKind::kName || changes[written(target)] != 1) continue;
    const auto known = names_.find(written(target));
    if (known == names_.end() || known->second.real || !known->second.number) continue;
    if (tree_.token(tree_[target].last + 1) != "+=" || calls(tree_.child(one, 1))) continue;
    const auto by = value(tree_.child(one, 1)).number;
    if (!by || !space_.is_uniform(*by) || by->terms().size() > 4) continue;
    known->second.number = *known->second.number + *round * *by;
    moved_.insert(written(target));
  }
}

bool TritonWalker::calls(NodeId at) {
  if (tree_.kind(at) == NodeKind::kCall) return true;
  for (const NodeId child : tree_.children(at)) {
    if (++work_ > kMaxWork || calls(child)) return true;
  }
  return false;
}

// Whether a loop's body may end the loop before its bound.
bool TritonWalker::may_break(NodeId body) {
  std::vector<NodeId> open = {body};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (++work_ > kMaxWork) return true;
    const NodeKind kind = tree_.kind(id);
    if (kind == NodeKind::kReturn) return true;
    if (kind == NodeKind::kOther && written(id) == "break") return true;
    if (kind == NodeKind::kFor || kind == NodeKind::kWhile) continue;
    for (const NodeId child : tree_.children(id)) open.push_back(child);
  }
  return false;
}

std::string TritonWalker::flag_text(NodeId test, bool holds) const {
  std::string none;
  const auto name_of = [&](NodeId id) {
    if (tree_.kind(id) == NodeKind::kNumber) return written(id);
    if (tree_.kind(id) != NodeKind::kName) return none;
    const auto known = names_.find(written(id));
    const bool same = known == names_.end() || (known->second.number && !known->second.real &&
                                                space_.is_uniform(*known->second.number));
    return same ? written(id) : none;
  };
  if (tree_.kind(test) == NodeKind::kUnary && tree_.extra(test) == "not")
    return flag_text(tree_.child(test), !holds);
  if (tree_.kind(test) == NodeKind::kBoolean) {
    const bool both = tree_.extra(test) == "and";
    std::string out;
    for (const NodeId part : tree_.children(test)) {
      const std::string one = flag_text(part, holds);
      if (one.empty()) return none;
      out += (out.empty() ? "(" : both == holds ? " && (" : " || (") + one + ")";
    }
    return out;
  }
  if (tree_.kind(test) == NodeKind::kCompare && tree_.child_count(test) == 2) {
    const NodeId left = tree_.child(test), right = tree_.child(test, 1);
    const std::string_view op = tree_.extra(test);
    if (op == "is" && written(right) == "None") {
      // `is not None` begins with the same word.
      const bool given = fathom::holds(written(test), " is not ");
      const std::string name = name_of(left);
      return name.empty() ? none : given == holds ? name : "!(" + name + ")";
    }
    const std::string a = name_of(left), b = name_of(right);
    const bool known =
        op == "==" || op == "!=" || op == "<" || op == ">" || op == "<=" || op == ">=";
    if (a.empty() || b.empty() || !known) return none;
    const std::string text = a + " " + std::string(op) + " " + b;
    return holds ? text : "!(" + text + ")";
  }
  const std::string name = name_of(test);
  return name.empty() ? none : holds ? name : "!(" + name + ")";
}

// Each branch is decided by its own test and by those before it, which do not hold.
void TritonWalker::if_statement(NodeId id) {
  const size_t depth = conditions_.size();
  std::vector<AccessCondition> failed;
  NodeId test = 0;
  size_t first = sites_.size(), middle = first, branches = 0;
  AccessCondition behind;
  bool leaves = false;
  for (const NodeId part : tree_.children(id)) {
    if (tree_.kind(part) != NodeKind::kBlock) {
      value(part);
      test = part;
      continue;
    }
    conditions_.insert(conditions_.end(), failed.begin(), failed.end());
    const size_t own = conditions_.size();
    if (test != 0) conditions_.push_back({flag_text(test, true), false});
    ++branches;
    if (branches == 2) middle = sites_.size();
    block(part);
    // What a return inside leaves tested stays so.
    const size_t taken = own - depth + (test != 0 ? 1 : 0);
    conditions_.erase(conditions_.begin() + static_cast<std::ptrdiff_t>(depth),
                      conditions_.begin() + static_cast<std::ptrdiff_t>(depth + taken));
    NodeId last = 0;
    for (const NodeId child : tree_.children(part)) last = child;
    const bool jump = last != 0 && tree_.kind(last) == NodeKind::kOther && written(last) != "pass";
    if (test != 0 && last != 0 && (jump || tree_.kind(last) == NodeKind::kReturn)) {
      behind = {flag_text(test, false), jump};
      leaves = true;
    }
    if (test != 0) failed.push_back({flag_text(test, false), false});
    test = 0;
  }
  if (branches == 2 && failed.size() == 1)
    join_branches(sites_, out_.accesses, first, middle, depth);
  if (leaves) conditions_.push_back(behind);
}

void TritonWalker::access(const Value& pointer, const Value& mask, AccessKind kind, NodeId at) {
  if (out_.accesses.size() >= kMaxSites) return;
  Polynomial where = pointer.number.value_or(Polynomial());
  std::string array = array_of(where);
  if (array.empty()) return unresolved(at);
  std::vector<IndexSpace::Saved> saved;
  std::vector<Symbol> guarded;
  for (const Bound& bound : mask.bounds) {
    saved.push_back(space_.limit(bound.symbol, bound.end));
    guarded.push_back(bound.symbol);
  }
  ArrayAccess out;
  AccessSite site;
  out.array = std::move(array);
  out.kind = kind;
  out.at = {0, line_of(at)};
  out.function = name_;
  out.index = written(at);
  if (out.index.size() > kMaxTritonIndexText)
    out.index = out.index.substr(0, kMaxTritonIndexText) + "…";
  site.access = out_.accesses.size();
  site.conditions = conditions_;
  if (mask.tested) site.conditions.push_back({});
  site.where = where;
  site.at_most = space_.is_at_most(where);
  site.step = Polynomial::constant(1);
  site.elements = space_.footprint(where);
  std::vector<Symbol> loops = loops_;
  loops.insert(loops.end(), pointer.tiles.begin(), pointer.tiles.end());
  site.times = space_.times(loops, guarded);
  if (site.elements) out.elements = space_.text(*site.elements);
  if (site.times) out.times = space_.text(*site.times);
  const auto rounds = space_.rounds_of(loops_);
  if (rounds) out.rounds = space_.text(*rounds);
  out.loop = loop_lines_.empty() ? 0 : loop_lines_.back();
  out.pattern = space_.depends_on_load(where) ? AccessPattern::kThroughIndex
                : pointer.tiles.empty()       ? AccessPattern::kOnePerProgram
                                              : AccessPattern::kTilePerProgram;
  for (auto one = saved.rbegin(); one != saved.rend(); ++one) space_.restore(std::move(*one));
  sites_.push_back(std::move(site));
  out_.accesses.push_back(std::move(out));
}

std::string TritonWalker::array_of(Polynomial& where) const {
  std::string found;
  Polynomial base;
  size_t candidates = 0, named = 0;
  for (const auto& [product, factor] : where.terms()) {
    if (factor != 1 || product.size() != 1 || product[0].second != 1) continue;
    const Polynomial term = Polynomial::term(product, factor);
    if (!space_.is_uniform(term)) continue;
    const std::string name = space_.text(term);
    if (!may_be_pointer(name)) continue;
    const bool says_so = holds(name, "ptr") || holds(name, "Ptr") || holds(name, "PTR");
    ++candidates;
    named += says_so ? 1 : 0;
    if (!found.empty() && !says_so) continue;
    found = name;
    base = term;
  }
  if (candidates > 1 && named != 1) return "";
  where = where - base;
  return found;
}

void TritonWalker::count(const Value& left, const Value& right) {
  Value both;
  add_tiles(both, left);
  add_tiles(both, right);
  std::vector<Symbol> loops = loops_;
  loops.insert(loops.end(), both.tiles.begin(), both.tiles.end());
  const auto times = space_.times(loops, {});
  if (!times || !arithmetic_) {
    arithmetic_.reset();
  } else {
    *arithmetic_ = *arithmetic_ + *times;
    if (arithmetic_->terms().size() > 40) arithmetic_.reset();
  }
}

KernelAccesses walk_triton(const python::Tree& tree, python::NodeId function) {
  return TritonWalker(tree, function).run();
}

}  // namespace fathom
