// Loops of AccessWalker: their variables, and what one round leaves to the next.
#include "scan/accesses/access_walker.h"

namespace fathom {

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
  // Of a variable that is halved or doubled the loop counts rounds: its values are others.
  if (factor_of(node(parts[2]), name)) {
    const Value round = variable;
    variable.number = computed(name, {&round}, false).number;
  }
  variable.local = true;
  variable.loops = static_cast<int>(loops_.size());
  if (!name.empty()) frame_->names[name] = std::move(variable);
  loop_body(parts[3], name, node(id).line);
  loops_.pop_back();
  if (before) frame_->names[name] = *before;
}

// CUDA_KERNEL_LOOP(i, n) { … } of Caffe and its heirs, with the type before or behind them: each
// thread begins at its own place and goes on by all threads. Other macros with a block may be any
// loop.
bool AccessWalker::macro_loop(uint32_t id) {
  const std::vector<uint32_t> parts = node(id).children;
  const CodeNode call = node(parts[0]);
  if (call.kind != CodeKind::kCall || call.children.size() < 3) return false;
  const std::string macro = node(call.children[0]).text;
  if (macro.find("LOOP") == std::string::npos) return false;
  const size_t count = call.children.size() - 1;
  const size_t first = count == 3 && !macro.ends_with("_TYPE") ? 2 : 1;
  const CodeNode& variable = node(call.children[first]);
  const bool known = macro.find("KERNEL_LOOP") != std::string::npos && count <= 3 &&
                     variable.kind == CodeKind::kName;
  const std::string name = known ? variable.text : std::string();
  const auto end = known ? value(call.children[first + 1]).number : std::nullopt;
  const auto start = value_of_text("blockIdx.x * blockDim.x + threadIdx.x").number;
  const auto step = value_of_text("blockDim.x * gridDim.x").number;
  flush_operations();
  const bool whole = start && step && end && space_.is_uniform(*end);
  loops_.push_back(whole ? space_.loop(name, *start, *step, *end)
                         : space_.loop("while", {}, {}, {}));
  Value index;
  index.number = Polynomial::symbol(loops_.back());
  index.local = true;
  index.loops = static_cast<int>(loops_.size());
  if (known) frame_->names[name] = index;
  // What another macro is given and nobody has declared, it declares.
  for (size_t i = 1; !known && i < call.children.size(); ++i) {
    const CodeNode& given = node(call.children[i]);
    if (given.kind == CodeKind::kName) frame_->names.try_emplace(given.text, index);
  }
  loop_body(parts.back(), name, call.line);
  loops_.pop_back();
  return true;
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

// for (auto& x : …)
bool AccessWalker::declares_reference(const CodeNode& loop) const {
  const cpp::TokenList& tokens = *frame_->tree->tokens;
  for (size_t i = loop.first; i < loop.last && !tokens.is(i, ":"); ++i) {
    if (tokens.is(i, "&")) return true;
  }
  return false;
}

void AccessWalker::unknown_loop(uint32_t id) {
  const std::vector<uint32_t> parts = node(id).children;
  if (parts.empty()) return;
  const bool elements = node(id).kind == CodeKind::kRangeFor && referred(parts[0]) != nullptr;
  if (!elements) value(parts[0]);
  flush_operations();
  loops_.push_back(space_.loop("while", {}, {}, {}));
  if (node(id).kind == CodeKind::kRangeFor) {
    Value element;
    element.object = true;
    element.local = true;
    const Pointer* reference = referred(parts[0]);
    if (reference != nullptr && declares_reference(node(id))) element.refers = *reference;
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

}  // namespace fathom
