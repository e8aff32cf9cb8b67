#include "scan/accesses/access_walk.h"

#include <algorithm>
#include <cmath>

#include "scan/accesses/access_walker.h"
#include "scan/facts/text_lines.h"

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
  frame.of = &kernel_;
  frame.types = around_.template_arguments;
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
      if (at.children.size() < 2 || !macro_loop(id)) value(at.children[0]);
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
  const bool in_shared_memory = holds(at.text, "__shared__");
  const std::string type = plain_type(at.text);
  for (const uint32_t child : at.children) {
    const CodeNode& declarator = node(child);
    if (declarator.text.empty()) continue;
    Value given;
    Value made;
    made.local = true;
    made.loops = static_cast<int>(loops_.size());
    const bool stars = holds(declarator.extra, '*');
    const bool array = holds(declarator.extra, '[');
    const bool changes = declarator.extra == "&" && !holds(at.text, "const");
    const auto bound =
        changes && !declarator.children.empty() ? bound_to(declarator.children[0]) : std::nullopt;
    if (bound) {
      made.type = bound->pointer->type;
      // A row of an array is used like a pointer to it.
      made.extents = bound->extents;
      (made.extents.empty() ? made.refers : made.pointer) = bound->pointer;
      frame_->names[declarator.text] = std::move(made);
      continue;
    }
    if (!declarator.children.empty()) given = value(declarator.children[0]);
    made.type = type == "auto" ? given.type : type;
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
  // As a whole: "cp.async.cg.shared.global" is no red.global.
  const auto says = [&](std::string_view word) {
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      if (at == 0 || (text[at - 1] != '.' && !is_word_character(text[at - 1]))) return true;
    }
    return false;
  };
  // asm("mov.s32 %0, %laneid;" : "=r"(lane))
  const size_t output = text.find("\"=r\"(");
  if (text.find("%laneid") != std::string::npos && output != std::string::npos) {
    const size_t name = output + 5, close = text.find(')', name);
    const Polynomial thread = Polynomial::symbol(
        space_.base("threadIdx.x", Polynomial::symbol(space_.uniform("blockDim.x"))));
    Value lane;
    lane.number = space_.remainder(thread, Polynomial::constant(32));
    if (close != std::string::npos)
      frame_->names[text.substr(name, close - name)] = std::move(lane);
    return;
  }
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
