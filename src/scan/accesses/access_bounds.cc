// The bounds that AccessWalker finds: of guards, loops and conditions at compile time.
#include <algorithm>
#include <cmath>
#include <functional>

#include "scan/accesses/access_walker.h"

namespace fathom {
namespace {

// Each access asks all guards around it.
constexpr size_t kMaxGuards = 64;

std::string_view negated(std::string_view op) {
  if (op == "<") return ">=";
  if (op == ">") return "<=";
  if (op == "<=") return ">";
  if (op == ">=") return "<";
  if (op == "==") return "!=";
  return op == "!=" ? "==" : "";
}

std::string_view mirrored(std::string_view op) {
  if (op == "<") return ">";
  if (op == ">") return "<";
  if (op == "<=") return ">=";
  return op == ">=" ? "<=" : op;
}

bool is_true(std::string_view op, double a, double b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == ">") return a > b;
  return op == "<=" ? a <= b : a >= b;
}

}  // namespace

std::optional<bool> AccessWalker::decided(uint32_t id) {
  const CodeNode& at = node(id);
  if (at.kind != CodeKind::kBinary) return std::nullopt;
  if (at.text == "&&" || at.text == "||") {
    const auto left = decided(at.children[0]), right = decided(at.children[1]);
    if (!left || !right) return std::nullopt;
    return at.text == "&&" ? *left && *right : *left || *right;
  }
  flush_operations();
  ++quiet_;
  const Value left = value(at.children[0]), right = value(at.children[1]);
  flush_operations();
  --quiet_;
  const double a = left.number ? left.number->as_constant().value_or(NAN) : NAN;
  const double b = right.number ? right.number->as_constant().value_or(NAN) : NAN;
  if (std::isnan(a) || std::isnan(b)) return std::nullopt;
  if (negated(at.text).empty()) return std::nullopt;
  return is_true(at.text, a, b);
}

bool AccessWalker::guard(uint32_t id, bool holds) {
  const CodeNode at = node(id);
  if (at.kind == CodeKind::kUnary && at.text == "!" && !at.children.empty())
    return guard(at.children[0], !holds);
  if (at.kind != CodeKind::kBinary) return false;
  const bool both = holds ? at.text == "&&" : at.text == "||";
  if (both) {
    const bool left = guard(at.children[0], holds), right = guard(at.children[1], holds);
    return left && right;
  }
  const std::string_view op = holds ? std::string_view(at.text) : negated(at.text);
  if (op.empty() || negated(op).empty()) return false;
  flush_operations();
  ++quiet_;
  const Value left = value(at.children[0]), right = value(at.children[1]);
  flush_operations();
  --quiet_;
  return guard_comparison(op, left, right) || guard_comparison(mirrored(op), right, left);
}

bool AccessWalker::guard_comparison(std::string_view op, const Value& left, const Value& right) {
  if (!left.number || !right.number || left.real) return false;
  const std::vector<Symbol> symbols = space_.varying(*left.number);
  if (is_edge(op, *left.number, *right.number)) return true;
  if (symbols.size() != 1 || space_.kind(symbols[0]) == IndexSpace::Kind::kLoaded) return false;
  const Symbol symbol = symbols[0];
  Polynomial factor, rest;
  for (const auto& [product, number] : left.number->terms()) {
    const Polynomial term = Polynomial::term(product, number);
    if (space_.is_uniform(term)) {
      rest = rest + term;
    } else {
      const auto around = term.divided_by(Polynomial::symbol(symbol));
      if (!around || !space_.is_uniform(*around)) return false;
      factor = factor + *around;
    }
  }
  const bool varies = !space_.is_uniform(*right.number);
  // `row < rows - first`: the edge of a tile, which does not change how much there is.
  const Polynomial of_others = *right.number - space_.uniform_part(*right.number);
  if (varies && op != "==" &&
      std::any_of(of_others.terms().begin(), of_others.terms().end(),
                  [](const auto& term) { return term.second < 0; })) {
    return true;
  }
  const auto end = (*right.number - rest).divided_by(factor);
  if (!end || !factor.is_single_term()) return false;
  for (const Symbol other : space_.varying(*right.number)) {
    if (other == symbol || space_.kind(other) == IndexSpace::Kind::kLoaded) return false;
  }
  if (guards_.size() >= kMaxGuards) return false;
  flush_operations();
  if (op == "==") {
    if (varies) return false;
    guards_.push_back(space_.single(symbol));
    return true;
  }
  if (op != "<" && op != "<=") return false;
  guards_.push_back(space_.limit(symbol, *end));
  return true;
}

// The edge of an index of several parts, `i + j * threads < n`, or the first elements of one, `x >
// 0`: it cuts little off, and no memory decides it.
bool AccessWalker::is_edge(std::string_view op, const Polynomial& left,
                           const Polynomial& right) const {
  if (!space_.is_uniform(right) || space_.depends_on_load(left) || space_.is_uniform(left))
    return false;
  const auto least = right.as_constant();
  constexpr double kFewElements = 8;
  if (op == ">" || op == ">=") return least && *least >= 0 && *least <= kFewElements;
  return (op == "<" || op == "<=") && space_.varying(left).size() > 1;
}

void AccessWalker::drop_guards(size_t count) {
  if (count == 0) return;
  flush_operations();
  for (; count > 0; --count) {
    space_.restore(std::move(guards_.back()));
    guards_.pop_back();
  }
}

Symbol AccessWalker::loop_symbol(uint32_t id, std::string& name, Polynomial& begin) {
  const CodeNode at = node(id);
  const Polynomial one = Polynomial::constant(1);
  const auto unknown = [&] { return space_.loop(name.empty() ? "loop" : name, {}, {}, {}); };
  const CodeNode& init = node(at.children[0]);
  std::optional<Polynomial> start, end, step;
  if (init.kind == CodeKind::kDeclare && !init.children.empty()) {
    name = node(init.children[0]).text;
    if (!node(init.children[0]).children.empty())
      start = value(node(init.children[0]).children[0]).number;
  } else if (init.kind == CodeKind::kStatement &&
             node(init.children[0]).kind == CodeKind::kAssign) {
    const CodeNode& assign = node(init.children[0]);
    name = source(assign.children[0]);
    start = value(assign.children[1]).number;
  } else if (node(at.children[1]).kind == CodeKind::kBinary) {
    // for (; i >= 0; …): what a loop before it left over; together they go from its first value.
    const auto known = frame_->names.find(source(node(at.children[1]).children[0]));
    if (known != frame_->names.end()) {
      name = known->first;
      start = known->second.first ? known->second.first : known->second.number;
    }
  }
  if (name.empty() || !start) return unknown();
  // The condition that bounds the variable, among several joined with &&.
  std::function<const CodeNode*(uint32_t)> bound = [&](uint32_t c) -> const CodeNode* {
    const CodeNode& condition = node(c);
    if (condition.kind != CodeKind::kBinary) return nullptr;
    if (condition.text == "&&") {
      const CodeNode* left = bound(condition.children[0]);
      return left != nullptr ? left : bound(condition.children[1]);
    }
    return source(condition.children[0]) == name && !negated(condition.text).empty() ? &condition
                                                                                     : nullptr;
  };
  const CodeNode* condition = bound(at.children[1]);
  if (condition == nullptr) return unknown();
  end = value(condition->children[1]).number;
  if (end && !space_.is_uniform(*end)) {
    if (const auto same = space_.upper_bound(*end)) end = same;
  }
  const bool inclusive = condition->text == "<=" || condition->text == ">=";
  const CodeNode& next = node(at.children[2]);
  bool down = false;
  if ((next.kind == CodeKind::kPostfix || next.kind == CodeKind::kUnary) &&
      (next.text == "++" || next.text == "--")) {
    step = one;
    down = next.text == "--";
  } else if (next.kind == CodeKind::kAssign && (next.text == "+=" || next.text == "-=")) {
    step = value(next.children[1]).number;
    down = next.text == "-=";
  } else if (const auto sum = added_to(next, name)) {
    step = value(sum->other).number;
    down = sum->op == "-";
  } else if (const auto factor = factor_of(next, name); factor && end) {
    return scaled_loop(name, *start, *end, condition->text, *factor);
  }
  if (!end || !step) return unknown();
  if (!down) {
    if (inclusive) *end = *end + one;
    const Polynomial length = *end - *start;
    // From the thread's own place for a number of rounds that is the same for all.
    if (!space_.is_uniform(*start) && space_.is_uniform(length)) {
      begin = *start;
      return space_.loop(name, {}, *step, length);
    }
    return space_.loop(name, *start, *step, *end);
  }
  const Polynomial highest = space_.uniform_part(*start);
  const Polynomial own = *start - highest;
  if (own.is_zero()) return space_.loop(name, inclusive ? *end : *end + one, *step, *start + one);
  // Down from the thread's own place: the threads fill one step.
  return space_.loop(name, own, *step, highest + *step - *end);
}

std::optional<AccessWalker::OwnOperand> AccessWalker::added_to(const CodeNode& next,
                                                               const std::string& name) const {
  if (next.kind != CodeKind::kAssign || next.text != "=" || source(next.children[0]) != name)
    return std::nullopt;
  const CodeNode& right = node(next.children[1]);
  if (right.kind != CodeKind::kBinary || (right.text != "+" && right.text != "-"))
    return std::nullopt;
  if (source(right.children[0]) == name) return OwnOperand{right.text, right.children[1]};
  if (right.text == "+" && source(right.children[1]) == name)
    return OwnOperand{right.text, right.children[0]};
  return std::nullopt;
}

std::optional<double> AccessWalker::factor_of(const CodeNode& next, const std::string& name) {
  if (next.kind != CodeKind::kAssign || source(next.children[0]) != name) return std::nullopt;
  std::string op = next.text;
  uint32_t other = next.children[1];
  if (op == "=") {
    const CodeNode& right = node(other);
    if (right.kind != CodeKind::kBinary) return std::nullopt;
    op = right.text + "=";
    const bool own_first = source(right.children[0]) == name;
    if (!own_first && (op != "*=" || source(right.children[1]) != name)) return std::nullopt;
    other = right.children[own_first ? 1 : 0];
  }
  const auto number = value(other).number;
  const auto by = number ? number->as_constant() : std::nullopt;
  if (!by) return std::nullopt;
  const bool shift = op == "<<=" || op == ">>=";
  const double factor = shift ? std::exp2(std::min(*by, 63.0)) : *by;
  if (factor <= 1 || std::floor(*by) != *by) return std::nullopt;
  if (op == "*=" || op == "<<=") return factor;
  if (op == "/=" || op == ">>=") return 1 / factor;
  return std::nullopt;
}

Symbol AccessWalker::scaled_loop(const std::string& name, const Polynomial& start,
                                 const Polynomial& end, std::string_view op, double factor) {
  const Polynomial one = Polynomial::constant(1);
  const auto first = start.as_constant(), last = end.as_constant();
  if (first && last) {
    // Whole numbers multiplied or divided reach any bound, or zero, within 64 rounds.
    constexpr int kMostRounds = 64;
    int rounds = 0;
    for (double i = *first; rounds <= kMostRounds && is_true(op, i, *last); ++rounds)
      i = std::trunc(i * factor);
    if (rounds > kMostRounds) return space_.loop(name, {}, {}, {});
    return space_.loop(name, {}, one, Polynomial::constant(std::max(1, rounds)));
  }
  if (!space_.is_uniform(start) || !space_.is_uniform(end)) return space_.loop(name, {}, {}, {});
  const Polynomial& largest = factor > 1 ? end : start;
  const Polynomial doublings =
      Polynomial::symbol(space_.uniform("log2(" + space_.text(largest) + ")"));
  const double share = 1 / std::abs(std::log2(factor));
  return space_.loop(name, {}, one, one + Polynomial::constant(share) * doublings);
}

std::vector<std::string> AccessWalker::extents_of(const std::string& declarator) {
  std::vector<std::string> out;
  for (size_t at = declarator.find('['); at != std::string::npos;
       at = declarator.find('[', at + 1)) {
    const size_t end = declarator.find(']', at);
    if (end == std::string::npos) break;
    std::string text = declarator.substr(at + 1, end - at - 1);
    const Value value = text.empty() ? Value() : value_of_text(text);
    const auto number = value.number ? value.number->as_constant() : std::nullopt;
    if (number && std::abs(*number) < 1e15) text = std::to_string(static_cast<int64_t>(*number));
    out.push_back(std::move(text));
  }
  return out;
}

}  // namespace fathom
