#include "scan/facts/expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "scan/facts/code_names.h"
#include "scan/facts/type_bytes.h"

namespace fathom {
namespace {

// Deeper nesting than code has; keeps hostile text from exhausting the stack.
constexpr int kMaxDepth = 64;

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_whole(double value) { return std::floor(value) == value && std::abs(value) < 9e15; }

// What code calls a division that rounds up: capitals and underscores are a matter of style.
bool is_ceil_div(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return is_one_of(plain, {"cdiv", "ceildiv", "divceil", "divup", "idivup", "divroundup",
                           "ceildivide", "divideup", "updiv", "ceilingdiv", "divideroundup"});
}

class Evaluator {
 public:
  Evaluator(std::string_view text, const ValueOf& value_of) : text_(text), value_of_(value_of) {}

  std::optional<double> run() {
    const auto value = conditional();
    skip_space();
    return at_ == text_.size() ? value : std::nullopt;
  }

 private:
  using Value = std::optional<double>;

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  bool take(std::string_view token) {
    skip_space();
    if (!text_.substr(at_).starts_with(token)) return false;
    // "<" must not take the first half of "<<" or "<=".
    const char next = at_ + token.size() < text_.size() ? text_[at_ + token.size()] : '\0';
    if ((token == "<" || token == ">") && (next == token[0] || next == '=')) return false;
    if ((token == "!") && next == '=') return false;
    at_ += token.size();
    return true;
  }

  Value conditional() {
    if (++depth_ > kMaxDepth) return std::nullopt;
    const Value condition = disjunction();
    Value out = condition;
    if (take("?")) {
      const Value yes = conditional();
      if (!take(":")) return std::nullopt;
      const Value no = conditional();
      out = !condition ? std::nullopt : (*condition != 0 ? yes : no);
    }
    --depth_;
    return out;
  }

  Value disjunction() {
    Value left = conjunction();
    while (take("||")) {
      const Value right = conjunction();
      const bool holds = (left && *left != 0) || (right && *right != 0);
      left = holds ? Value(1) : left && right ? Value(0) : std::nullopt;
    }
    return left;
  }

  Value conjunction() {
    Value left = comparison();
    while (take("&&")) {
      const Value right = comparison();
      const bool fails = (left && *left == 0) || (right && *right == 0);
      left = fails ? Value(0) : left && right ? Value(1) : std::nullopt;
    }
    return left;
  }

  Value comparison() {
    Value left = shift();
    while (true) {
      if (take("=="))
        left = both(left, shift(), [](double a, double b) { return a == b; });
      else if (take("!="))
        left = both(left, shift(), [](double a, double b) { return a != b; });
      else if (take("<="))
        left = both(left, shift(), [](double a, double b) { return a <= b; });
      else if (take(">="))
        left = both(left, shift(), [](double a, double b) { return a >= b; });
      else if (take("<"))
        left = both(left, shift(), [](double a, double b) { return a < b; });
      else if (take(">"))
        left = both(left, shift(), [](double a, double b) { return a > b; });
      else
        return left;
    }
  }

  Value shift() {
    Value left = sum();
    while (true) {
      if (take("<<"))
        left = both(left, sum(), [](double a, double b) { return a * std::exp2(b); });
      else if (take(">>"))
        left = both(left, sum(), [](double a, double b) { return std::floor(a / std::exp2(b)); });
      else
        return left;
    }
  }

  Value sum() {
    Value left = product();
    while (true) {
      if (take("+"))
        left = both(left, product(), [](double a, double b) { return a + b; });
      else if (take("-"))
        left = both(left, product(), [](double a, double b) { return a - b; });
      else
        return left;
    }
  }

  Value product() {
    Value left = unary();
    while (true) {
      if (take("*"))
        left = both(left, unary(), [](double a, double b) { return a * b; });
      else if (take("//"))
        left = floor_divided(left, unary());
      else if (take("/"))
        left = divided(left, unary());
      else if (take("%"))
        left = remainder(left, unary());
      else
        return left;
    }
  }

  Value unary() {
    if (++depth_ > kMaxDepth) return std::nullopt;
    Value out;
    if (take("-")) {
      const Value inner = unary();
      out = inner ? Value(-*inner) : std::nullopt;
    } else if (take("!")) {
      const Value inner = unary();
      out = inner ? Value(*inner == 0) : std::nullopt;
    } else {
      out = primary();
    }
    --depth_;
    return out;
  }

  Value primary() {
    skip_space();
    if (take("(")) {
      if (take_cast()) {
        const Value inner = unary();
        return inner ? Value(std::trunc(*inner)) : std::nullopt;
      }
      const Value inner = conditional();
      return take(")") ? inner : std::nullopt;
    }
    if (at_ < text_.size() && is_name_start(text_[at_])) return name_or_call();
    return number();
  }

  // "(size_t)" and "(unsigned long)" before a value, behind the bracket.
  bool take_cast() {
    const size_t close = text_.find(')', at_);
    if (close == std::string_view::npos) return false;
    std::string_view type = text_.substr(at_, close - at_);
    while (type.ends_with(' ')) type.remove_suffix(1);
    while (type.starts_with(' ')) type.remove_prefix(1);
    if (!is_integer_type_name(type)) return false;
    at_ = close + 1;
    return true;
  }

  Value number() {
    const char* begin = text_.data() + at_;
    double value = 0;
    int base = 10;
    if (text_.substr(at_).starts_with("0x")) {
      base = 16;
      uint64_t whole = 0;
      const auto [end, error] =
          std::from_chars(begin + 2, text_.data() + text_.size(), whole, base);
      if (error != std::errc()) return std::nullopt;
      at_ = static_cast<size_t>(end - text_.data());
      value = static_cast<double>(whole);
    } else {
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
      if (error != std::errc()) return std::nullopt;
      at_ = static_cast<size_t>(end - text_.data());
    }
    while (at_ < text_.size() &&
           std::string_view("uUlLfF").find(text_[at_]) != std::string_view::npos)
      ++at_;
    return value;
  }

  Value name_or_call() {
    const size_t begin = at_;
    const std::string_view name = take_name();
    if (name == "sizeof") return size_of_type();
    // dim3(x, y, z), static_cast<T>(x): the caller asks for each part, or for what is cast.
    if (name == "static_cast") skip_template_arguments();
    const size_t name_end = at_;
    if (!take("(")) {
      at_ = name_end;
      if (name == "true" || name == "false") return name == "true";
      return value_of_(atom(begin));
    }
    std::vector<Value> arguments;
    while (!take(")")) {
      if (!arguments.empty() && !take(",")) return std::nullopt;
      arguments.push_back(conditional());
      if (at_ >= text_.size()) return std::nullopt;
    }
    // What follows belongs to the atom only where it is none of ours: cdiv(a, b) is.
    if (const Value value = call(last_part(name), arguments)) return value;
    return value_of_(atom(begin));
  }

  // "triton.cdiv" and "host::div_ceil" are one name; so is "x.shape" until a bracket follows.
  std::string_view take_name() {
    const size_t begin = at_;
    while (at_ < text_.size()) {
      if (is_name_part(text_[at_])) {
        ++at_;
        continue;
      }
      size_t joint = 0;
      for (const std::string_view joined : {"::", "->", "."}) {
        if (joint == 0 && text_.substr(at_).starts_with(joined)) joint = joined.size();
      }
      if (joint == 0 || at_ + joint >= text_.size() || !is_name_start(text_[at_ + joint])) break;
      at_ += joint;
    }
    return text_.substr(begin, at_ - begin);
  }

  static std::string_view last_part(std::string_view name) {
    const size_t joint = name.find_last_of(":.>");
    return joint == std::string_view::npos ? name : name.substr(joint + 1);
  }

  // What can't be computed here but may be known as a whole: "x.shape[0]", "L.unwrap()".
  std::string_view atom(size_t begin) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '[' || c == '(') {
        const size_t close = closing(at_);
        if (close == std::string_view::npos) break;
        at_ = close + 1;
      } else if ((c == '.' || text_.substr(at_, 2) == "->") && at_ + 2 < text_.size()) {
        at_ += c == '.' ? 1 : 2;
        take_name();
      } else {
        break;
      }
    }
    return text_.substr(begin, at_ - begin);
  }

  size_t closing(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < text_.size(); ++i) {
      if (text_[i] == '(' || text_[i] == '[') ++depth;
      if ((text_[i] == ')' || text_[i] == ']') && --depth == 0) return i;
    }
    return std::string_view::npos;
  }

  void skip_template_arguments() {
    if (!take("<")) return;
    for (int depth = 1; at_ < text_.size() && depth > 0; ++at_) {
      if (text_[at_] == '<') ++depth;
      if (text_[at_] == '>') --depth;
    }
  }

  Value size_of_type() {
    if (!take("(")) return std::nullopt;
    const size_t end = text_.find(')', at_);
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view type = text_.substr(at_, end - at_);
    at_ = end + 1;
    if (const auto known = bytes_of_type_name(type)) return *known;
    return value_of_("sizeof(" + std::string(type) + ")");
  }

  static Value call(std::string_view name, const std::vector<Value>& arguments) {
    for (const Value& argument : arguments) {
      if (!argument) return std::nullopt;
    }
    if (arguments.size() == 1) {
      if (name == "log2") return std::log2(*arguments[0]);
      if (name == "next_power_of_2" && *arguments[0] >= 1)
        return std::exp2(std::ceil(std::log2(*arguments[0])));
      if (name == "ceil") return std::ceil(*arguments[0]);
      if (name == "static_cast" || name == "dim3") return arguments[0];
      if (is_integer_type_name(name)) return std::trunc(*arguments[0]);
    }
    if (arguments.size() != 2) return std::nullopt;
    const double a = *arguments[0], b = *arguments[1];
    if (name == "min") return std::min(a, b);
    if (name == "max") return std::max(a, b);
    if (is_ceil_div(name) && b != 0) return std::ceil(a / b);
    return std::nullopt;
  }

  template <typename Operation>
  static Value both(Value a, Value b, Operation operation) {
    return a && b ? Value(static_cast<double>(operation(*a, *b))) : std::nullopt;
  }

  static Value divided(Value a, Value b) {
    if (!a || !b || *b == 0) return std::nullopt;
    const double quotient = *a / *b;
    return is_whole(*a) && is_whole(*b) ? std::trunc(quotient) : quotient;
  }

  // Python's: to the next whole number below.
  static Value floor_divided(Value a, Value b) {
    if (!a || !b || *b == 0) return std::nullopt;
    return std::floor(*a / *b);
  }

  static Value remainder(Value a, Value b) {
    if (!a || !b || *b == 0) return std::nullopt;
    return std::fmod(*a, *b);
  }

  std::string_view text_;
  const ValueOf& value_of_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<double> evaluate(std::string_view expression, const ValueOf& value_of) {
  constexpr double kMost = 0x1p53;  // beyond it whole numbers are not exact, and sizes of nothing
  const auto value = Evaluator(expression, value_of).run();
  return value && std::abs(*value) <= kMost ? value : std::nullopt;
}

std::vector<std::string> names_in(std::string_view expression) {
  std::vector<std::string> out;
  for (size_t at = 0; at < expression.size();) {
    if (std::isdigit(static_cast<unsigned char>(expression[at]))) {
      while (at < expression.size() && is_name_part(expression[at])) ++at;
      continue;
    }
    if (!is_name_start(expression[at])) {
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < expression.size() &&
           (is_name_part(expression[at]) || expression.substr(at, 2) == "::")) {
      at += expression[at] == ':' ? 2 : 1;
    }
    size_t next = at;
    while (next < expression.size() && expression[next] == ' ') ++next;
    const bool is_call = next < expression.size() && expression[next] == '(';
    const std::string name(expression.substr(begin, at - begin));
    if (!is_call && !contains(out, name)) out.push_back(name);
  }
  return out;
}

}  // namespace fathom
