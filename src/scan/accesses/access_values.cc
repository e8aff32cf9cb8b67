// The expressions of AccessWalker.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text_parts.h"
#include "scan/accesses/access_walker.h"

namespace fathom {
namespace {

// Larger ones are no index that a reader would follow, and products of them grow without end.
constexpr size_t kMaxTerms = 48;
constexpr int kMaxDegree = 16;

std::optional<double> number_written(std::string_view text) {
  if (holds(text, '.')) return std::nullopt;
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole, base);
  if (error != std::errc()) return std::nullopt;
  const std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
  if (rest.find_first_not_of("uUlLzZ") != std::string_view::npos) return std::nullopt;
  return static_cast<double>(whole);
}

// Constants of <climits> and <cstdint>.
std::optional<double> limit_of_type(std::string_view name) {
  if (name == "INT_MAX" || name == "INT32_MAX") return 2147483647.0;
  if (name == "UINT_MAX" || name == "UINT32_MAX") return 4294967295.0;
  if (name == "SHRT_MAX" || name == "INT16_MAX") return 32767.0;
  if (name == "USHRT_MAX" || name == "UINT16_MAX") return 65535.0;
  return std::nullopt;
}

}  // namespace

std::string plain_type(std::string_view type) {
  std::string out;
  std::string word;
  const auto add = [&] {
    const bool skip = is_one_of(word, {"const", "volatile", "static", "constexpr", "__shared__",
                                       "extern", "typename", "register", "__restrict__",
                                       "__restrict", "restrict", "inline"}) ||
                      word.starts_with("__align__") || word.starts_with("alignas");
    if (!skip && !word.empty()) out += (out.empty() ? "" : " ") + word;
    word.clear();
  };
  int depth = 0;
  for (const char c : type) {
    if (c == '(' || c == '<') ++depth;
    if (c == ')' || c == '>') --depth;
    if (depth == 0 && (c == ' ' || c == '*' || c == '&')) {
      add();
    } else {
      word += c;
    }
  }
  add();
  return out;
}

std::string AccessWalker::resolved_type(std::string_view type) const {
  std::string plain = plain_type(type);
  const auto known = frame_->types.find(plain);
  return known == frame_->types.end() ? plain : known->second;
}

bool AccessWalker::is_parameter(std::string_view name) const {
  for (const Frame* frame = frame_; frame != nullptr; frame = frame->caller) {
    if (frame->of->is_template_parameter(name)) return true;
  }
  return false;
}

bool AccessWalker::is_real_type(std::string_view type) const {
  const std::string plain = frame_ == nullptr ? plain_type(type) : resolved_type(type);
  if (holds(plain, "int") || plain == "bool") return false;
  if (plain == "T" || (plain.starts_with("T") && plain.size() == 2)) return true;
  return holds_any(plain, {"float", "half", "bfloat", "double", "128", "scalar_t", "acc", "DType",
                           "Float", "fp", "Real", "vec_t"});
}

AccessWalker::Value AccessWalker::real_number() const {
  Value out;
  out.real = true;
  return out;
}

// Something that depends on the inputs in a way that is not followed.
AccessWalker::Value AccessWalker::computed(std::string name,
                                           const std::vector<const Value*>& inputs, bool loaded,
                                           std::optional<Polynomial> end) {
  std::vector<Symbol> symbols;
  for (const Value* input : inputs) {
    for (const auto* number : {&input->number}) {
      if (!*number) continue;
      for (const Symbol symbol : space_.varying(**number)) symbols.push_back(symbol);
    }
    if (!input->pointer) continue;
    for (const Symbol symbol : space_.varying(input->pointer->offset)) symbols.push_back(symbol);
    for (const Symbol symbol : space_.varying(input->pointer->more)) symbols.push_back(symbol);
  }
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  Value out;
  out.number =
      Polynomial::symbol(space_.computed(std::move(name), symbols, loaded, std::move(end)));
  return out;
}

AccessWalker::Value AccessWalker::value(uint32_t id) {
  if (++work_ > max_work() || nesting_ >= kMaxNesting) return {};
  const Deepened deepened(nesting_);
  const CodeNode& at = node(id);
  switch (at.kind) {
    case CodeKind::kName:
      if (const Pointer* reference = referred(id)) return read_through(*reference, id);
      return name_value(at);
    case CodeKind::kNumber: {
      Value out;
      if (const auto number = number_written(at.text)) {
        out.number = Polynomial::constant(*number);
      } else {
        out.real = true;
      }
      return out;
    }
    case CodeKind::kMember:
      return member_value(id);
    case CodeKind::kSubscript:
      return subscript_value(id, false);
    case CodeKind::kUnary:
    case CodeKind::kPostfix:
      return unary_value(id);
    case CodeKind::kBinary:
      return binary_value(id);
    case CodeKind::kAssign:
      return assign_value(id);
    case CodeKind::kConditional:
      return conditional_value(id);
    case CodeKind::kCast:
      return cast_value(id);
    case CodeKind::kCall:
      return call_value(id);
    case CodeKind::kLambda:
      return lambda_value(id);
    case CodeKind::kList: {
      std::vector<Value> items;
      for (const uint32_t child : at.children) items.push_back(value(child));
      std::vector<const Value*> inputs;
      for (const Value& item : items) inputs.push_back(&item);
      Value out = computed("{…}", inputs, false);
      out.object = true;
      return out;
    }
    default:
      return {};
  }
}

AccessWalker::Value AccessWalker::name_value(const CodeNode& at) {
  if (const auto known = frame_->names.find(at.text); known != frame_->names.end())
    return known->second;
  Value out;
  if (at.text == "warpSize") {
    out.number = Polynomial::constant(32);
  } else if (const auto limit = limit_of_type(at.text)) {
    out.number = Polynomial::constant(*limit);
  } else {
    std::string name = at.text;
    // Width::size of a template's parameter is the size of what that stands for here.
    const size_t colons = name.find("::");
    if (colons != std::string::npos) {
      const auto type = frame_->types.find(name.substr(0, colons));
      if (type != frame_->types.end()) name = type->second + name.substr(colons);
      if (const auto text = around_.member(name)) return member_constant(name, *text);
    } else if (const auto type = frame_->types.find(name); type != frame_->types.end()) {
      if (const auto number = number_written(type->second)) {
        out.number = Polynomial::constant(*number);
        return out;
      }
      name = type->second;
    }
    // Which constant is given for a template's parameter is not known from its name.
    const bool parameter = frame_->of->is_template_parameter(name);
    if (!parameter && !frame_->of->owner.empty()) {
      const std::string own = frame_->of->owner + "::" + name;
      if (const auto text = around_.member(own)) return member_constant(own, *text);
    }
    const auto constant = parameter ? std::nullopt : around_.constant(name);
    out.number =
        constant ? Polynomial::constant(*constant) : Polynomial::symbol(space_.uniform(name));
  }
  return out;
}

// The constant of a class, whose value may name constants of further classes. One that is defined
// by itself, whatever lies between, is unknown.
AccessWalker::Value AccessWalker::member_constant(const std::string& name,
                                                  const std::string& text) {
  constexpr size_t kMaxResolving = 8, kLongestText = 2000;
  const bool again = contains(resolving_, name);
  if (again || resolving_.size() >= kMaxResolving || text.size() > kLongestText) {
    Value out;
    out.number = Polynomial::symbol(space_.uniform(name.substr(0, kLongestText)));
    return out;
  }
  resolving_.push_back(name);
  Value out = value_of_text(text);
  resolving_.pop_back();
  return out;
}

// Of an expression that stands elsewhere: a class's constant.
AccessWalker::Value AccessWalker::value_of_text(const std::string& text) {
  work_ += text.size() / 4;
  if (work_ > max_work()) return {};
  const CodeTree tree = read_code("{ " + text + "; }", 1);
  const std::vector<uint32_t>& statements = tree[tree.root].children;
  if (statements.empty() || tree[statements[0]].kind != CodeKind::kStatement) return {};
  Frame* const outer = frame_;
  Frame frame;
  frame.tree = &tree;
  frame.of = outer->of;
  frame.types.swap(outer->types);  // lent: it may be large
  frame_ = &frame;
  flush_operations();
  ++quiet_;
  const Value out = value(tree[statements[0]].children[0]);
  flush_operations();
  --quiet_;
  frame_ = outer;
  frame.types.swap(outer->types);
  return out;
}

AccessWalker::Value AccessWalker::member_value(uint32_t id) {
  const CodeNode& at = node(id);
  const CodeNode& object = node(at.children[0]);
  Value out;
  if (object.kind == CodeKind::kName && !frame_->names.contains(object.text)) {
    const std::string name = object.text + "." + at.text;
    const bool coordinate = at.text == "x" || at.text == "y" || at.text == "z";
    if (coordinate && (object.text == "threadIdx" || object.text == "blockIdx")) {
      const std::string extent = (object.text == "threadIdx" ? "blockDim." : "gridDim.") + at.text;
      out.number =
          Polynomial::symbol(space_.base(name, Polynomial::symbol(space_.uniform(extent))));
      return out;
    }
    out.number = Polynomial::symbol(space_.uniform(name));
    return out;
  }
  const Value inner = value(at.children[0]);
  if (at.text == "size" && !inner.type.empty()) {  // of a vector type's object: its type's constant
    const std::string name = resolved_type(inner.type) + "::size";
    if (const auto text = around_.member(name)) return member_constant(name, *text);
    out.number = Polynomial::symbol(space_.uniform(name));
    return out;
  }
  if (inner.real) return real_number();
  const bool fixed = !inner.local && inner.number && space_.is_uniform(*inner.number);
  if (fixed || (inner.number && space_.is_uniform(*inner.number))) {
    out.number = Polynomial::symbol(space_.uniform(source(id)));
    return out;
  }
  out = computed(source(id), {&inner}, false);
  return out;
}

AccessWalker::Value AccessWalker::unary_value(uint32_t id) {
  const CodeNode& at = node(id);
  const uint32_t operand = at.children[0];
  if (at.text == "&") return place(operand);
  if (at.text == "*") {
    Value inner = value(operand);
    if (!inner.pointer) return inner.real ? real_number() : computed(source(id), {&inner}, false);
    access(*inner.pointer, AccessKind::kRead, id);
    if (is_real_type(inner.pointer->type)) return real_number();
    Value where;
    where.number = inner.pointer->offset + inner.pointer->more;
    return computed(source(id), {&where}, inner.pointer->space == Space::kGlobal);
  }
  if (at.text == "++" || at.text == "--") {
    Value one;
    one.number = Polynomial::constant(1);
    const Value before = value(operand);
    if (node(operand).kind == CodeKind::kName && moved_.contains(node(operand).text)) {
      Value next = before;
      if (next.pointer) next.pointer = moved(*next.pointer, *one.number);
      if (next.number) next.number = *next.number + *one.number;
      rename(node(operand).text, std::move(next), true);
    } else if (node(operand).kind == CodeKind::kName) {
      rename(node(operand).text, computed(node(operand).text, {&before}, false), true);
    } else {
      store(operand, before, true);
    }
    return before;
  }
  Value inner = value(operand);
  if ((at.text == "-" || at.text == "~") && inner.number && !inner.real)
    inner.number = *inner.number * Polynomial::constant(-1);
  if (at.text == "~" && inner.number && !inner.real)
    inner.number = *inner.number - Polynomial::constant(1);
  return inner;
}

AccessWalker::Value AccessWalker::binary_value(uint32_t id) {
  const CodeNode& at = node(id);
  const Value left = value(at.children[0]);
  Value right = value(at.children[1]);
  if (at.text == ",") return right;
  return arithmetic_value(at, left, right);
}

AccessWalker::Value AccessWalker::arithmetic_value(const CodeNode& at, const Value& left,
                                                   const Value& right) {
  const std::string& op = at.text;
  Value out;
  if (left.pointer || right.pointer) {
    if (op != "+" && op != "-") return {};
    const Value& base = left.pointer ? left : right;
    const Value& by = left.pointer ? right : left;
    if (by.pointer) return {};
    Polynomial offset =
        by.number ? *by.number : *computed(frame_->tree->source(at), {&by}, false).number;
    if (op == "-") offset = offset * Polynomial::constant(-1);
    out = base;
    out.pointer = moved(*base.pointer, offset);
    return out;
  }
  const bool is_arithmetic = op == "+" || op == "-" || op == "*" || op == "/";
  if (left.real || right.real) {
    if (is_arithmetic) count_operations(1);
    out.real = is_arithmetic;
    return out;
  }
  if (left.object && right.object && is_arithmetic) return {};
  const std::string text = frame_->tree->source(at);
  if (!left.number || !right.number) return computed(text, {&left, &right}, false);
  const Polynomial &a = *left.number, &b = *right.number;
  const auto constant = b.as_constant();
  if (a.terms().size() * b.terms().size() > kMaxTerms || a.degree() + b.degree() > kMaxDegree)
    return computed(text, {&left, &right}, false);
  if (op == "+") {
    out.number = a + b;
  } else if (op == "-") {
    out.number = a - b;
  } else if (op == "*") {
    out.number = a * b;
  } else if (op == "<<" && constant && *constant < 62) {
    out.number = a * Polynomial::constant(std::exp2(*constant));
  } else if (op == ">>" && constant && *constant < 62) {
    out.number = space_.divided(a, Polynomial::constant(std::exp2(*constant)));
  } else if (op == "/" && space_.is_uniform(b) && !b.is_zero()) {
    out.number = space_.divided(a, b);
  } else if (op == "%" && space_.is_uniform(b) && !b.is_zero()) {
    out.number = space_.remainder(a, b);
  } else if (op == "&" && constant && *constant > 0 &&
             std::exp2(std::floor(std::log2(*constant + 1))) == *constant + 1) {
    out.number = space_.remainder(a, Polynomial::constant(*constant + 1));
  } else if (op == "&" && space_.is_uniform(b) && b.is_single_term() &&
             b.terms().begin()->second < 0) {  // n & ~(size - 1): down to a multiple
    out.number = a - space_.remainder(a, b * Polynomial::constant(-1));
  } else if (op == "&" && space_.is_uniform(b) && (b + Polynomial::constant(1)).is_single_term()) {
    out.number = space_.remainder(a, b + Polynomial::constant(1));
  } else if (space_.is_uniform(a) && space_.is_uniform(b)) {
    out.number =
        Polynomial::symbol(space_.uniform(IndexSpace::joined(space_.text(a), op, space_.text(b))));
  } else {
    return computed(text, {&left, &right}, false);
  }
  return out;
}

AccessWalker::Value AccessWalker::conditional_value(uint32_t id) {
  const CodeNode& at = node(id);
  const Value condition = value(at.children[0]);
  const size_t before = guards_.size(), depth = conditions_.size(), first = sites_.size();
  const bool only_bounds = guard(at.children[0], true);
  if (!only_bounds) conditions_.push_back(condition_of(at.children[0], true));
  Value yes = value(at.children[1]);
  drop_guards(guards_.size() - before);
  const size_t middle = sites_.size();
  if (!only_bounds) conditions_.back() = condition_of(at.children[0], false);
  Value no = value(at.children[2]);
  conditions_.resize(depth);
  if (!only_bounds) join_branches(sites_, out_.accesses, first, middle, depth);
  if (yes.pointer) return yes;
  if (no.pointer) return no;
  if (yes.real || no.real) return real_number();
  if (yes.number && no.number && *yes.number == *no.number) return yes;
  std::optional<Polynomial> bound;
  if (yes.number && no.number) {
    const auto a = space_.upper_bound(*yes.number), b = space_.upper_bound(*no.number);
    if (a && b && *a == *b) bound = a;
  }
  return computed(source(id), {&condition, &yes, &no}, false, bound);
}

AccessWalker::Value AccessWalker::lambda_value(uint32_t id) {
  const CodeNode& at = node(id);
  Value out;
  if (at.children.empty()) return out;
  work_ += frame_->names.size() + frame_->types.size();  // which are copied
  if (work_ > max_work()) return out;
  out.lambda = std::make_shared<Lambda>();
  *out.lambda = {frame_->tree, at.children[0], code_parameters(at.text), frame_->names,
                 frame_->types};
  return out;
}

}  // namespace fathom
