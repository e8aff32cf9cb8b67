#include "scan/accesses/access_walk.h"

#include <algorithm>
#include <cmath>

#include "scan/accesses/access_walker.h"

namespace fathom {
AccessWalker::AccessWalker(const DeviceFunction& kernel, const WalkSurroundings& around)
    : around_(around), kernel_(kernel) {
  // The grid is at least one-dimensional whatever the code names.
  space_.base("blockIdx.x", Polynomial::symbol(space_.uniform("gridDim.x")));
  space_.base("threadIdx.x", Polynomial::symbol(space_.uniform("blockDim.x")));
}

KernelAccesses AccessWalker::run() {
  Frame frame;
  frame.tree = &kernel_.tree;
  frame.function = kernel_.name;
  frame.file = kernel_.file;
  for (const CodeParameter& parameter : kernel_.parameters) {
    Value value;
    value.type = parameter.type;
    if (parameter.pointers > 0) {
      const std::string type = plain_type(parameter.type);
      value.pointer = {parameter.name, Space::kGlobal, type, {}, type, {}, true};
    } else {
      value.real = is_real_type(parameter.type);
      value.number = Polynomial::symbol(space_.uniform(parameter.name));
    }
    frame.names[parameter.name] = std::move(value);
  }
  frame_ = &frame;
  inside_.push_back(kernel_.name);
  block(kernel_.tree.root);
  flush_operations();
  out_.cut = work_ > max_work() || out_.accesses.size() >= around_.max_sites;
  set_conditions(out_.accesses, sites_);
  // Totals of a part would read as totals of the whole.
  if (!out_.cut) out_.traffic = traffic_totals(out_.accesses, sites_, space_);
  if (arithmetic_ && !out_.cut) out_.arithmetic = space_.text(*arithmetic_);
  return std::move(out_);
}

void AccessWalker::block(uint32_t id) {
  const size_t before = guards_.size();
  size_t open = 0;
  statements(id, open);
  drop_guards(guards_.size() - before);
}

// Branches of an #if and the labels of a switch are no blocks: what they check holds behind them.
void AccessWalker::statements(uint32_t id, size_t& open_guards) {
  for (const uint32_t child : node(id).children) {
    switch (node(child).kind) {
      case CodeKind::kIf:
        if_statement(child, open_guards);
        break;
      case CodeKind::kBranches:
      case CodeKind::kBranch:
      case CodeKind::kCase:
        statements(child, open_guards);
        break;
      default:
        statement(child);
    }
  }
}

void AccessWalker::statement(uint32_t id) {
  if (++work_ > max_work() || nesting_ >= kMaxNesting) return;
  const Deepened deepened(nesting_);
  const CodeNode& at = node(id);
  switch (at.kind) {
    case CodeKind::kBlock:
    case CodeKind::kBranches:
    case CodeKind::kBranch:
    case CodeKind::kCase:
    case CodeKind::kTry:
    case CodeKind::kCatch:
      return block(id);
    case CodeKind::kSwitch: {
      if (at.children.size() < 2) return;
      const size_t tests = conditions_.size();
      conditions_.push_back({});  // which case it is, is not followed
      statement(at.children[1]);
      conditions_.resize(tests);
      return;
    }
    case CodeKind::kDeclare:
      return declare(id);
    case CodeKind::kIf: {
      const size_t before = guards_.size();
      size_t open = 0;
      if_statement(id, open);
      return drop_guards(guards_.size() - before);
    }
    case CodeKind::kFor:
      return for_statement(id);
    case CodeKind::kRangeFor:
    case CodeKind::kWhile:
      return unknown_loop(id);
    case CodeKind::kReturn:
      if (!at.children.empty()) {
        Value given = value(at.children[0]);
        if (!frame_->returned) frame_->returned = std::move(given);
      }
      return;
    case CodeKind::kStatement:
      value(at.children[0]);
      return;
    case CodeKind::kOther:
      if (at.text.starts_with("using ")) local_alias(at.text);
      if (at.text.starts_with("asm")) assembly(id);
      return;
    default:
      return;
  }
}

void AccessWalker::declare(uint32_t id) {
  const CodeNode at = node(id);
  const bool in_shared_memory = at.text.find("__shared__") != std::string::npos;
  const std::string type = plain_type(at.text);
  for (const uint32_t child : at.children) {
    const CodeNode& declarator = node(child);
    if (declarator.text.empty()) continue;
    Value given;
    if (!declarator.children.empty()) given = value(declarator.children[0]);
    Value made;
    made.local = true;
    made.loops = static_cast<int>(loops_.size());
    made.type = type == "auto" ? given.type : type;
    const bool stars = declarator.extra.find('*') != std::string::npos;
    const bool array = declarator.extra.find('[') != std::string::npos;
    if (in_shared_memory) {
      made.pointer = {declarator.text, Space::kShared, type, {}, type, {}, true};
      if (array) made.extents = extents_of(declarator.extra);
    } else if (array) {
      made.object = true;
      made.real = is_real_type(type);
      made.extents = extents_of(declarator.extra);
    } else if (stars && !given.pointer) {
      made = pointer_from(child, given, type);
      made.loops = static_cast<int>(loops_.size());
    } else if (given.pointer) {
      made.pointer = given.pointer;
      if (stars && type != "auto") made.pointer->type = plain_type(type);
    } else if (given.lambda) {
      made.lambda = given.lambda;
    } else if (is_real_type(type) || (type == "auto" && given.real)) {
      made.real = true;
    } else if (given.number) {
      const std::vector<Symbol> varying = space_.varying(*given.number);
      const bool plain = given.number->as_symbol().has_value() ||
                         (varying.empty() && given.number->terms().size() <= 4);
      made.number = plain ? *given.number
                    : varying.empty()
                        ? Polynomial::symbol(space_.uniform(declarator.text))
                        : Polynomial::symbol(space_.variable(declarator.text, *given.number));
      made.object = given.object;
      made.first = given.number;
    } else {
      made.object = true;
    }
    frame_->names[declarator.text] = std::move(made);
  }
}

// using Layout = PlainLayout<kHeadDim>;
void AccessWalker::local_alias(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return;
  std::string name = text.substr(6, equals - 6), type = text.substr(equals + 1);
  std::erase(name, ' ');
  while (type.starts_with(' ')) type.erase(0, 1);
  while (type.ends_with(';') || type.ends_with(' ')) type.pop_back();
  if (!name.empty() && !type.empty()) frame_->types[name] = type;
}

// asm volatile("ld.global.v4.u32 …" : … : "l"(from)): the addresses are its operands of kind l.
void AccessWalker::assembly(uint32_t id) {
  const std::string& text = node(id).text;
  const auto says = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  const bool atomic = says("red.global") || says("atom.global");
  const bool reads = says("ld.global") || says("cp.async");
  if (!atomic && !reads && !says("st.global")) return;
  for (size_t at = text.find("\"l\""); at != std::string::npos; at = text.find("\"l\"", at + 1)) {
    const size_t open = text.find('(', at), close = text.find(')', at);
    if (open == std::string::npos || close == std::string::npos) return;
    const auto known = frame_->names.find(text.substr(open + 1, close - open - 1));
    if (known == frame_->names.end() || !known->second.pointer) {
      unresolved(id);
      continue;
    }
    access(*known->second.pointer,
           atomic  ? AccessKind::kAtomic
           : reads ? AccessKind::kRead
                   : AccessKind::kWrite,
           id);
  }
}

AccessWalker::Leaving AccessWalker::leaves(uint32_t id) const {
  const CodeNode& at = node(id);
  if (at.kind == CodeKind::kReturn) return Leaving::kReturn;
  if (at.kind == CodeKind::kJump) return Leaving::kJump;
  return at.kind == CodeKind::kBlock && !at.children.empty() ? leaves(at.children.back())
                                                             : Leaving::kNo;
}

bool AccessWalker::may_break(uint32_t body) {
  std::vector<std::pair<uint32_t, bool>> open = {{body, false}};  // and whether in a switch
  while (!open.empty()) {
    const auto [id, in_switch] = open.back();
    const CodeNode& at = node(id);
    open.pop_back();
    if (++work_ > max_work()) return true;
    if (at.kind == CodeKind::kReturn) return true;
    if (at.kind == CodeKind::kJump && at.text == "break" && !in_switch) return true;
    // A loop inside ends itself.
    const bool loop = at.kind == CodeKind::kFor || at.kind == CodeKind::kWhile ||
                      at.kind == CodeKind::kRangeFor || at.kind == CodeKind::kLambda;
    if (loop) continue;
    const bool inside = in_switch || at.kind == CodeKind::kSwitch;
    for (const uint32_t child : at.children) open.emplace_back(child, inside);
  }
  return false;
}

// Or may, in a call.
bool AccessWalker::reads_memory(uint32_t id) const {
  const CodeNode& at = node(id);
  const bool reads = at.kind == CodeKind::kSubscript || at.kind == CodeKind::kCall ||
                     at.kind == CodeKind::kLambda || at.kind == CodeKind::kUnknown ||
                     (at.kind == CodeKind::kUnary && at.text == "*");
  return reads || std::any_of(at.children.begin(), at.children.end(),
                              [&](uint32_t child) { return reads_memory(child); });
}

// A pointer that is tested stands for whether it is given: `bias != nullptr` is "bias".
std::string AccessWalker::flag_text(uint32_t id, bool holds) {
  const CodeNode at = node(id);
  if (at.kind == CodeKind::kUnary && at.text == "!" && !at.children.empty())
    return flag_text(at.children[0], !holds);
  const auto is_null = [&](uint32_t side) {
    const std::string text = source(side);
    return text == "nullptr" || text == "NULL";
  };
  uint32_t tested = id;
  if (at.kind == CodeKind::kBinary && (at.text == "!=" || at.text == "==") &&
      (is_null(at.children[0]) || is_null(at.children[1]))) {
    tested = at.children[is_null(at.children[0]) ? 1 : 0];
    if (at.text == "==") holds = !holds;
  }
  if (reads_memory(tested)) return "";
  flush_operations();
  ++quiet_;
  const Value given = value(tested);
  flush_operations();
  --quiet_;
  const bool pointer = given.pointer && given.pointer->space == Space::kGlobal &&
                       space_.is_uniform(given.pointer->offset) &&
                       node(tested).kind != CodeKind::kBinary;
  const bool number = given.number && !given.real && !given.object &&
                      space_.is_uniform(*given.number) && !space_.depends_on_load(*given.number);
  if (!pointer && !number) return "";
  constexpr size_t kLongest = 100;
  const std::string text = source(tested);
  if (text.size() > kLongest) return "";
  return holds ? text : "!(" + text + ")";
}

AccessCondition AccessWalker::condition_of(uint32_t id, bool holds) {
  return {flag_text(id, holds), false};
}

void AccessWalker::branch(uint32_t id) {
  flush_operations();
  if (node(id).kind == CodeKind::kIf) {
    size_t inner = 0;
    if_statement(id, inner);
  } else {
    statement(id);
  }
  flush_operations();
}

// `open_guards` counts those that an early return leaves in force for the rest of the block.
void AccessWalker::if_statement(uint32_t id, size_t& open_guards) {
  const CodeNode at = node(id);
  if (at.children.size() < 2) return;
  const bool at_compile_time = at.text == "constexpr";
  if (const auto known = at_compile_time ? decided(at.children[0]) : std::nullopt) {
    if (*known) statement(at.children[1]);
    if (!*known && at.children.size() > 2) statement(at.children[2]);
    return;
  }
  value(at.children[0]);
  const bool has_else = at.children.size() > 2;
  const size_t before = guards_.size(), depth = conditions_.size(), first = sites_.size();
  const bool only_bounds = guard(at.children[0], true);
  const Leaving leaving = leaves(at.children[1]);
  // The part that is told apart by bounds alone is counted by them.
  if (!only_bounds) conditions_.push_back(condition_of(at.children[0], true));
  branch(at.children[1]);
  drop_guards(guards_.size() - before);
  if (!only_bounds) conditions_.erase(conditions_.begin() + static_cast<std::ptrdiff_t>(depth));
  const size_t middle = sites_.size();
  if (has_else) {
    const bool rest_by_bounds = guard(at.children[0], false);
    const bool tested = !only_bounds || !rest_by_bounds;
    if (tested) conditions_.push_back(condition_of(at.children[0], false));
    if (at_compile_time) ++alternatives_;
    if (tested && !only_bounds) branches_.push_back({first, middle, depth});
    branch(at.children[2]);
    if (tested && !only_bounds) branches_.pop_back();
    if (at_compile_time) --alternatives_;
    drop_guards(guards_.size() - before);
    if (tested) conditions_.erase(conditions_.begin() + static_cast<std::ptrdiff_t>(depth));
    if (tested && !only_bounds) join_branches(sites_, out_.accesses, first, middle, depth);
  }
  if (leaving == Leaving::kNo || has_else) return;
  flush_operations();
  if (!guard(at.children[0], false)) {
    conditions_.push_back(condition_of(at.children[0], false));
    conditions_.back().of_jump = leaving == Leaving::kJump;
  }
  open_guards += guards_.size() - before;
}

void AccessWalker::for_statement(uint32_t id) {
  const std::vector<uint32_t> parts = node(id).children;
  if (parts.size() < 4) return;
  std::string name;
  Polynomial begin;
  const Symbol loop = loop_symbol(id, name, begin);
  flush_operations();
  loops_.push_back(loop);
  const auto hidden = frame_->names.find(name);
  const std::optional<Value> before =
      hidden == frame_->names.end() ? std::nullopt : std::optional(hidden->second);
  Value variable;
  variable.number = begin + Polynomial::symbol(loop);
  variable.local = true;
  variable.loops = static_cast<int>(loops_.size());
  if (!name.empty()) frame_->names[name] = std::move(variable);
  loop_body(parts[3], name, node(id).line);
  loops_.pop_back();
  if (before) frame_->names[name] = *before;
}

// What a break may leave out is tested, but for the first round.
void AccessWalker::loop_body(uint32_t body, const std::string& name, uint32_t line) {
  loop_lines_.push_back(line);
  const auto before = static_cast<std::ptrdiff_t>(conditions_.size());
  if (may_break(body)) conditions_.push_back({"", true});
  const std::set<std::string> outer = moved_;
  carry_over(body, name);
  statement(body);
  moved_ = outer;
  flush_operations();
  conditions_.erase(std::remove_if(conditions_.begin() + before, conditions_.end(),
                                   [](const AccessCondition& one) { return one.of_jump; }),
                    conditions_.end());
  loop_lines_.pop_back();
}

void AccessWalker::unknown_loop(uint32_t id) {
  const std::vector<uint32_t> parts = node(id).children;
  if (parts.empty()) return;
  value(parts[0]);
  flush_operations();
  loops_.push_back(space_.loop("while", {}, {}, {}));
  if (node(id).kind == CodeKind::kRangeFor) {
    Value element;
    element.object = true;
    element.local = true;
    frame_->names[node(id).text] = element;
  }
  loop_body(parts.back(), {}, node(id).line);
  loops_.pop_back();
}

// A variable that each round makes of its own last value, `row = next[row]`, differs from round to
// round already where the body begins.
void AccessWalker::carry_over(uint32_t body, const std::string& loop_name) {
  if (quiet_ > 0) return;
  Value round;
  round.number = Polynomial::symbol(loops_.back());
  if (const auto number = space_.round_of(loops_.back())) {
    for (const auto& [name, by] : moved_names(body)) {
      if (name == loop_name) continue;
      Value& variable = frame_->names[name];
      if (variable.pointer) *variable.pointer = moved(*variable.pointer, *number * by);
      if (variable.number) variable.number = *variable.number + *number * by;
      moved_.insert(name);
    }
  }
  for (const auto& [name, loaded] : carried_names(body)) {
    const auto known = frame_->names.find(name);
    if (name == loop_name || known == frame_->names.end()) continue;
    Value& variable = known->second;
    if (variable.real || variable.object || variable.pointer || !variable.number) continue;
    variable.number = computed(name, {&variable, &round}, loaded).number;
  }
}

std::map<std::string, Polynomial> AccessWalker::moved_names(uint32_t body) {
  std::map<std::string, Polynomial> out;
  if (node(body).kind != CodeKind::kBlock) return out;
  for (const uint32_t child : std::vector<uint32_t>(node(body).children)) {
    if (node(child).kind != CodeKind::kStatement) continue;
    const CodeNode at = node(node(child).children[0]);
    if (at.children.empty() || node(at.children[0]).kind != CodeKind::kName) continue;
    const bool by_one = at.kind == CodeKind::kPostfix || at.kind == CodeKind::kUnary;
    const bool adds = by_one ? at.text == "++" : at.kind == CodeKind::kAssign && at.text == "+=";
    const std::string name = node(at.children[0]).text;
    const auto known = frame_->names.find(name);
    if (!adds || known == frame_->names.end() || changes_of(body, name) != 1) continue;
    const Value& variable = known->second;
    const bool follows =
        variable.pointer || (variable.number && !variable.real && !variable.object);
    if (!follows || static_cast<int>(loops_.size()) <= variable.loops) continue;
    std::optional<Polynomial> by = Polynomial::constant(1);
    if (!by_one) {
      flush_operations();
      ++quiet_;
      by = value(at.children[1]).number;
      flush_operations();
      --quiet_;
    }
    if (by && space_.is_uniform(*by) && by->terms().size() <= 4) out[name] = *by;
  }
  return out;
}

// How often the code sets a variable.
size_t AccessWalker::changes_of(uint32_t body, const std::string& name) {
  size_t out = 0;
  std::vector<uint32_t> open = {body};
  while (!open.empty() && ++work_ <= max_work()) {
    const CodeNode& at = node(open.back());
    open.pop_back();
    open.insert(open.end(), at.children.begin(), at.children.end());
    const bool step = (at.kind == CodeKind::kPostfix || at.kind == CodeKind::kUnary) &&
                      (at.text == "++" || at.text == "--" || at.text == "&");
    if ((at.kind == CodeKind::kAssign || step) && !at.children.empty() &&
        node(at.children[0]).kind == CodeKind::kName && node(at.children[0]).text == name) {
      ++out;
    }
  }
  return out;
}

// The names that the code assigns an expression of themselves, and whether memory is read for it.
std::map<std::string, bool> AccessWalker::carried_names(uint32_t body) {
  std::map<std::string, bool> out;
  std::vector<uint32_t> open = {body};
  while (!open.empty() && work_ <= max_work()) {
    const CodeNode& at = node(open.back());
    open.pop_back();
    ++work_;
    open.insert(open.end(), at.children.begin(), at.children.end());
    if (at.kind != CodeKind::kAssign || at.text != "=" || at.children.size() < 2) continue;
    const CodeNode& target = node(at.children[0]);
    if (target.kind != CodeKind::kName) continue;
    bool itself = false, loaded = false;
    std::vector<uint32_t> inside = {at.children[1]};
    while (!inside.empty() && work_ <= max_work()) {
      const CodeNode& part = node(inside.back());
      inside.pop_back();
      ++work_;
      itself = itself || (part.kind == CodeKind::kName && part.text == target.text);
      loaded = loaded || part.kind == CodeKind::kSubscript;
      inside.insert(inside.end(), part.children.begin(), part.children.end());
    }
    if (itself) out[target.text] = out[target.text] || loaded;
  }
  return out;
}

void AccessWalker::flush_operations() {
  if (operations_ == 0) return;
  // A condition that is looked at again for its bounds runs once.
  if (quiet_ > 0) {
    operations_ = 0;
    return;
  }
  std::vector<Symbol> guarded;
  for (const IndexSpace::Saved& saved : guards_) guarded.push_back(saved.symbol);
  const auto times = space_.times(loops_, guarded);
  if (!times || !arithmetic_) {
    arithmetic_.reset();
  } else if (alternatives_ == 0) {
    *arithmetic_ = *arithmetic_ + *times * Polynomial::constant(operations_);
    if (arithmetic_->terms().size() > 40) arithmetic_.reset();
  }
  operations_ = 0;
}

KernelAccesses walk_accesses(const DeviceFunction& kernel, const WalkSurroundings& around) {
  return AccessWalker(kernel, around).run();
}

}  // namespace fathom
