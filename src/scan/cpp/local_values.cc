#include "scan/cpp/local_values.h"

#include <algorithm>

#include "scan/cpp/tree/body_trees.h"

namespace fathom::cpp {
namespace {

// An initialiser longer than this is a table or a lambda, and no launch is made of it.
constexpr size_t kMaxLocalTokens = 120;
// What an object is constructed with, and a type that an alias names.
constexpr size_t kMaxConstructedTokens = 1000, kMaxAliasTokens = 40;

// Behind the template arguments that open at `open`, or `open` itself where it is a comparison.
size_t skip_template_arguments(const TokenList& source, size_t open, size_t last) {
  int depth = 0;
  for (size_t i = open; i < std::min(last, open + kMaxLocalTokens); ++i) {
    const std::string_view token = source.at(i);
    if (token == "<") ++depth;
    if (token == ">" && --depth == 0) return i;
    if (token == ";" || token == "&&" || token == "||" || token == "{") break;
  }
  return open;
}

// Behind the expression that begins at `first`: at the ; , or closing bracket that ends it.
size_t expression_end(const TokenList& source, size_t first, size_t last) {
  int depth = 0;
  for (size_t i = first; i < std::min(last, first + kMaxLocalTokens); ++i) {
    const std::string_view token = source.at(i);
    if (source.tokens[i].kind == TokenKind::kDirective) return i;
    if (token == "(" || token == "[" || token == "{") ++depth;
    if (token == ")" || token == "]" || token == "}") {
      if (--depth < 0) return i;
    }
    if (token == "<") i = skip_template_arguments(source, i, last);
    if (depth == 0 && (token == ";" || token == ",")) return i;
  }
  return last;
}

class ValueFinder {
 public:
  explicit ValueFinder(const CodeTree& tree) : tree_(tree), source_(*tree.tokens) {}

  std::vector<LocalValue> run() {
    for (const uint32_t id : nodes_between(tree_, 0, source_.size())) {
      const CodeNode& node = tree_[id];
      if (node.kind == CodeKind::kDeclare) {
        for (const uint32_t child : node.children) declared(tree_[child]);
      } else if (node.kind == CodeKind::kAssign && node.text == "=" && node.children.size() == 2) {
        const CodeNode& name = tree_[node.children[0]];
        if (is_plain_name(name)) add(tree_.source(name), name, tree_[node.children[1]]);
      } else if (node.kind == CodeKind::kOther && source_.is(node.first, "using") &&
                 source_.is(node.first + 2, "=") && node.last > node.first + 4 &&
                 node.last - node.first < kMaxAliasTokens) {
        add_text(std::string(source_.at(node.first + 1)), node.first + 1,
                 {node.first + 3, node.last - 1});
      }
    }
    return std::move(out_);
  }

 private:
  // a, a.b, a->b.c
  bool is_plain_name(const CodeNode& node) const {
    if (node.kind == CodeKind::kMember) return is_plain_name(tree_[node.children[0]]);
    return node.kind == CodeKind::kName || (node.kind == CodeKind::kLiteral && node.text == "this");
  }

  void declared(const CodeNode& node) {
    if (node.children.empty() || node.text.empty()) return;
    size_t name = node.first;
    while (name < node.last && source_.at(name) != node.text) ++name;
    if (source_.is(name + 1, "(") || source_.is(name + 1, "{")) return constructed(name, node);
    add(node.text, node, tree_[node.children[0]]);
  }

  // `dim3 grid(x, y)` and `int n{4}`.
  void constructed(size_t name, const CodeNode& node) {
    if (name == 0 || !source_.is_name(name - 1)) return;
    const size_t open = name + 1, close = tree_.code().past(open) - 1;
    const CodeNode& value = tree_[node.children[0]];
    // Several arguments: the type's name says what they make, as dim3(x, y).
    const bool several = value.kind == CodeKind::kList && value.first == open;
    if (close <= open + 1 || close - open > kMaxConstructedTokens) return;
    std::string text = source_.source(open + 1, close);
    if (source_.is(name - 1, "dim3") || several)
      text = std::string(source_.at(name - 1)) + "(" + text + ")";
    out_.push_back({node.text, std::move(text), source_.tokens[name].line});
  }

  void add(std::string name, const CodeNode& at, const CodeNode& value) {
    add_text(std::move(name), at.first, {value.first, value.last});
  }

  void add_text(std::string name, size_t at, Range value) {
    if (value.empty() || value.last - value.first > kMaxLocalTokens) return;
    std::string text = source_.source(value.first, value.last);
    if (text.empty() || text.starts_with('[')) return;  // a lambda
    out_.push_back({std::move(name), std::move(text), source_.tokens[at].line});
  }

  const CodeTree& tree_;
  const TokenList& source_;
  std::vector<LocalValue> out_;
};

// #define NAME value, without parameters
void add_macro(std::string_view directive, uint32_t line, std::vector<LocalValue>& out) {
  const TokenList tokens = lex(directive.substr(1));
  if (tokens.size() < 3 || !tokens.is(0, "define") || !tokens.is_name(1)) return;
  if (tokens.is(2, "(") && tokens.tokens[2].begin == tokens.tokens[1].end) return;
  if (tokens.size() > 12) return;
  out.push_back({std::string(tokens.at(1)), tokens.source(2, tokens.size()), line});
}

}  // namespace

std::vector<LocalValue> local_values(const CodeTree& body) { return ValueFinder(body).run(); }

std::vector<LocalValue> file_constants(const TokenList& source) {
  std::vector<LocalValue> out;
  bool constant = false;  // the statement at hand began with const or constexpr
  for (size_t i = 0; i + 2 < source.size(); ++i) {
    if (source.tokens[i].kind == TokenKind::kDirective) {
      add_macro(source.at(i), source.tokens[i].line, out);
      continue;
    }
    const std::string_view token = source.at(i);
    if (token == "constexpr" || token == "const") constant = true;
    if (token == ";" || token == "{" || token == "}" || token == "(") constant = false;
    if (!constant || !source.is_name(i) || !source.is(i + 1, "=")) continue;
    const size_t end = expression_end(source, i + 2, source.size());
    // What a function computes for itself is no constant of the file, but harmless: names that have
    // several values are not used.
    if (end - i <= 24) {
      out.push_back({std::string(token), source.source(i + 2, end), source.tokens[i].line});
    }
    constant = false;
  }
  return out;
}

std::vector<LocalValue> template_defaults(std::string_view template_parameters, uint32_t line) {
  const TokenList tokens = lex(template_parameters);
  std::vector<LocalValue> out;
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens.is_name(i) || !tokens.is(i + 1, "=")) continue;
    const size_t end = expression_end(tokens, i + 2, tokens.size());
    out.push_back({std::string(tokens.at(i)), tokens.source(i + 2, end), line});
  }
  return out;
}

}  // namespace fathom::cpp
