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
    if (tree_.kind(part) == NodeKind::kBlock) block(part);
  }
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
    value.number = Polynomial::symbol(space_.uniform(tree_.extra(one)));
    names_[std::string(tree_.extra(one))] = value;
  }
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
    case NodeKind::kIf: {
      for (const NodeId part : tree_.children(id)) {
        if (tree_.kind(part) == NodeKind::kBlock) {
          ++conditions_;
          block(part);
          --conditions_;
        } else {
          value(part);
        }
      }
      return;
    }
    case NodeKind::kFor:
      return for_statement(id);
    case NodeKind::kWhile: {
      loops_.push_back(space_.loop("while", {}, {}, {}));
      for (const NodeId part : tree_.children(id)) {
        if (tree_.kind(part) == NodeKind::kBlock) block(part);
      }
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
    given.number = Polynomial::symbol(space_.variable(name, *given.number));
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
  for (const NodeId part : tree_.children(id)) {
    if (tree_.kind(part) == NodeKind::kBlock) block(part);
  }
  loops_.pop_back();
}

void TritonWalker::access(const Value& pointer, const Value& mask, AccessKind kind, NodeId at) {
  if (!pointer.number || out_.accesses.size() >= kMaxSites) return;
  Polynomial where = *pointer.number;
  std::string array = array_of(where);
  if (array.empty()) return;
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
  out.conditional = conditions_ > 0;
  out.at = {0, line_of(at)};
  out.function = name_;
  out.index = written(at);
  if (out.index.size() > kMaxTritonIndexText)
    out.index = out.index.substr(0, kMaxTritonIndexText) + "…";
  site.access = out_.accesses.size();
  site.where = where;
  site.step = Polynomial::constant(1);
  site.elements = space_.footprint(where);
  std::vector<Symbol> loops = loops_;
  loops.insert(loops.end(), pointer.tiles.begin(), pointer.tiles.end());
  site.times = space_.times(loops, guarded);
  if (site.elements) out.elements = space_.text(*site.elements);
  if (site.times) out.times = space_.text(*site.times);
  out.pattern = space_.depends_on_load(where) ? AccessPattern::kThroughIndex
                : pointer.tiles.empty()       ? AccessPattern::kOnePerProgram
                                              : AccessPattern::kTilePerProgram;
  for (auto one = saved.rbegin(); one != saved.rend(); ++one) space_.restore(std::move(*one));
  sites_.push_back(std::move(site));
  out_.accesses.push_back(std::move(out));
}

std::string TritonWalker::array_of(Polynomial& where) const {
  for (const auto& [product, factor] : where.terms()) {
    if (factor != 1 || product.size() != 1 || product[0].second != 1) continue;
    const Polynomial term = Polynomial::term(product, factor);
    if (!space_.is_uniform(term)) continue;
    const std::string name = space_.text(term);
    if (!names_.contains(name)) continue;
    where = where - term;
    return name;
  }
  return "";
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
