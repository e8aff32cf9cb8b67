#include "measure/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/check.h"

namespace fathom {

class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  Result<Formula> run() {
    skip_blanks();
    if (at_ == text_.size()) return Formula{};
    TRY(either());
    if (at_ != text_.size()) return fault("unexpected text");
    return std::move(formula_);
  }

 private:
  using Kind = Formula::Kind;
  static constexpr int kDeepest = 64;

  Error fault(std::string_view what) const {
    return Error{fmt::format("{} at position {} of \"{}\"", what, at_, text_)};
  }
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    skip_blanks();
    return true;
  }
  size_t add(Formula::Node node) {
    formula_.nodes_.push_back(node);
    return formula_.nodes_.size() - 1;
  }
  Result<size_t> either() {
    size_t left = TRY(both());
    while (take("|")) left = add({Kind::kOr, 0, {}, left, TRY(both())});
    return left;
  }
  Result<size_t> both() {
    size_t left = TRY(comparison());
    while (take("&")) left = add({Kind::kAnd, 0, {}, left, TRY(comparison())});
    return left;
  }
  Result<size_t> comparison() {
    const size_t left = TRY(sum());
    struct Sign {
      std::string_view text;
      Kind kind;
    };
    for (const Sign& sign :
         {Sign{"<=", Kind::kLessEqual}, Sign{">=", Kind::kGreaterEqual}, Sign{"==", Kind::kEqual},
          Sign{"<", Kind::kLess}, Sign{">", Kind::kGreater}}) {
      if (take(sign.text)) return add({sign.kind, 0, {}, left, TRY(sum())});
    }
    return left;
  }
  Result<size_t> sum() {
    size_t left = TRY(product());
    while (true) {
      if (take("+"))
        left = add({Kind::kAdd, 0, {}, left, TRY(product())});
      else if (take("-"))
        left = add({Kind::kSubtract, 0, {}, left, TRY(product())});
      else
        return left;
    }
  }
  Result<size_t> product() {
    size_t left = TRY(part());
    while (true) {
      if (take("*"))
        left = add({Kind::kMultiply, 0, {}, left, TRY(part())});
      else if (take("/"))
        left = add({Kind::kDivide, 0, {}, left, TRY(part())});
      else
        return left;
    }
  }
  Result<size_t> part() {
    if (++depth_ > kDeepest) return fault("too many parentheses");
    const size_t found = TRY(inner_part());
    --depth_;
    return found;
  }
  Result<size_t> inner_part() {
    if (take("(")) {
      const size_t inside = TRY(either());
      if (!take(")")) return fault("a ) is missing");
      return inside;
    }
    double number = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (error == std::errc() && *begin >= '0' && *begin <= '9') {
      at_ += static_cast<size_t>(end - begin);
      skip_blanks();
      return add({Kind::kNumber, number, {}, 0, 0});
    }
    const size_t from = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    const std::string_view name = text_.substr(from, at_ - from);
    if (name.empty()) return fault("a value is missing");
    skip_blanks();
    if (!take("(")) return add({Kind::kName, 0, name, 0, 0});
    const Kind kind = name == "min"     ? Kind::kMin
                      : name == "max"   ? Kind::kMax
                      : name == "known" ? Kind::kKnown
                                        : Kind::kNumber;
    if (kind == Kind::kNumber) return fault("no such function");
    const size_t left = TRY(either());
    if (!take(",")) return fault("a , is missing");
    const size_t right = TRY(either());
    if (!take(")")) return fault("a ) is missing");
    return add({kind, 0, {}, left, right});
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  Formula formula_;
};

Result<Formula> Formula::parse(std::string_view text) { return FormulaParser(text).run(); }

Formula Formula::built_in(std::string_view text) {
  Result<Formula> formula = parse(text);
  if (!formula.ok()) std::fprintf(stderr, "%s\n", formula.error().message.c_str());
  CHECK(formula.ok());
  return formula.take();
}

std::optional<double> Formula::value(const Lookup& lookup) const {
  if (nodes_.empty()) return {};
  return value_of(nodes_.size() - 1, lookup);
}

std::optional<double> Formula::value_of(size_t at, const Lookup& lookup) const {
  const Node& node = nodes_[at];
  if (node.kind == Kind::kNumber) return node.number;
  if (node.kind == Kind::kName) return lookup(node.name);
  const std::optional<double> a = value_of(node.left, lookup);
  // What the left side decides needs no right side; lookups are what takes the time.
  if (node.kind == Kind::kKnown && a) return a;
  if (node.kind == Kind::kAnd && a && *a == 0) return 0;
  if (node.kind == Kind::kOr && a && *a != 0) return 1;
  if (!a && node.kind != Kind::kKnown && node.kind != Kind::kAnd && node.kind != Kind::kOr)
    return {};
  const std::optional<double> b = value_of(node.right, lookup);
  if (node.kind == Kind::kKnown) return b;
  if (node.kind == Kind::kAnd && ((a && *a == 0) || (b && *b == 0))) return 0;
  if (node.kind == Kind::kOr && ((a && *a != 0) || (b && *b != 0))) return 1;
  if (!a || !b) return {};
  const auto truth = [](bool holds) { return std::optional<double>(holds ? 1 : 0); };
  double result = 0;
  switch (node.kind) {
    case Kind::kAdd:
      result = *a + *b;
      break;
    case Kind::kSubtract:
      result = *a - *b;
      break;
    case Kind::kMultiply:
      result = *a * *b;
      break;
    case Kind::kDivide:
      result = *a / *b;
      break;
    case Kind::kMin:
      result = std::min(*a, *b);
      break;
    case Kind::kMax:
      result = std::max(*a, *b);
      break;
    case Kind::kLess:
      return truth(*a < *b);
    case Kind::kLessEqual:
      return truth(*a <= *b);
    case Kind::kGreater:
      return truth(*a > *b);
    case Kind::kGreaterEqual:
      return truth(*a >= *b);
    case Kind::kEqual:
      return truth(*a == *b);
    case Kind::kAnd:
      return truth(true);
    case Kind::kOr:
      return truth(false);
    case Kind::kNumber:
    case Kind::kName:
    case Kind::kKnown:
      break;
  }
  if (!std::isfinite(result)) return {};
  return result;
}

std::vector<std::string_view> Formula::names() const {
  std::vector<std::string_view> out;
  for (const Node& node : nodes_) {
    if (node.kind == Kind::kName && std::ranges::find(out, node.name) == out.end())
      out.push_back(node.name);
  }
  return out;
}

std::vector<std::string_view> Formula::missing(const Lookup& lookup) const {
  std::vector<std::string_view> out;
  if (!nodes_.empty()) add_missing(nodes_.size() - 1, lookup, out);
  return out;
}

void Formula::add_missing(size_t at, const Lookup& lookup,
                          std::vector<std::string_view>& out) const {
  const Node& node = nodes_[at];
  if (value_of(at, lookup) || node.kind == Kind::kNumber) return;
  if (node.kind == Kind::kName) {
    if (std::ranges::find(out, node.name) == out.end()) out.push_back(node.name);
    return;
  }
  add_missing(node.left, lookup, out);
  add_missing(node.right, lookup, out);
}

std::vector<std::string_view> Formula::deciding(const Lookup& lookup) const {
  std::vector<std::string_view> out;
  if (!nodes_.empty()) add_deciding(nodes_.size() - 1, lookup, out);
  return out;
}

void Formula::add_deciding(size_t at, const Lookup& lookup,
                           std::vector<std::string_view>& out) const {
  const Node& node = nodes_[at];
  if (node.kind == Kind::kNumber) return;
  if (node.kind == Kind::kName) {
    if (lookup(node.name) && std::ranges::find(out, node.name) == out.end())
      out.push_back(node.name);
    return;
  }
  const std::optional<double> left = value_of(node.left, lookup);
  const std::optional<double> right = value_of(node.right, lookup);
  const auto is_false = [](std::optional<double> side) { return side && *side == 0; };
  const auto is_true = [](std::optional<double> side) { return side && *side != 0; };
  bool uses_left = true, uses_right = true;
  if (node.kind == Kind::kAnd && (is_false(left) || is_false(right))) {
    uses_left = is_false(left);
    uses_right = is_false(right);
  } else if (node.kind == Kind::kOr && (is_true(left) || is_true(right))) {
    uses_left = is_true(left);
    uses_right = is_true(right);
  } else if (node.kind == Kind::kKnown) {
    uses_right = !left;
  }
  if (uses_left) add_deciding(node.left, lookup, out);
  if (uses_right) add_deciding(node.right, lookup, out);
}

}  // namespace fathom
