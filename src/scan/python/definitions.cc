#include <algorithm>
#include <set>
#include <tuple>

#include "scan/python/extract.h"

namespace fathom::python {
namespace {

// Longer expressions are data, and nothing is concluded from their end.
constexpr size_t kLongestExpression = 2000;
constexpr size_t kLongestArgument = 500;
constexpr size_t kLongestCallee = 200;

std::vector<std::string> decorators_of(const Tree& tree, NodeId definition) {
  std::vector<std::string> out;
  const NodeId list = tree.child_of_kind(definition, NodeKind::kDecorators);
  for (const NodeId decorator : tree.children(list)) {
    out.push_back(tree.source(decorator, kLongestExpression));
  }
  return out;
}

uint32_t name_line(const Tree& tree, NodeId definition) {
  return tree.tokens.tokens[tree[definition].extra].line;
}

void read_parameters(const Tree& tree, NodeId list, Function& into) {
  for (const NodeId parameter : tree.children(list)) {
    const uint8_t flags = tree[parameter].flags;
    const bool star = (flags & kIsStar) != 0 && (flags & kIsMark) == 0;
    const std::string stars((flags & kIsDoubleStar) != 0 ? "**" : (star ? "*" : ""));
    Argument out{stars + std::string(tree.extra(parameter)), ""};
    NodeId part = tree[parameter].child;
    std::string annotation;
    if ((flags & kHasAnnotation) != 0) {
      annotation = tree.source(part, kLongestExpression);
      part = tree[part].next;
    }
    if ((flags & kHasDefault) != 0) out.text = tree.source(part, kLongestExpression);
    into.parameters.push_back(std::move(out));
    into.annotations.push_back(std::move(annotation));
  }
}

bool holds_string(const Tree& tree, NodeId node) {
  constexpr uint32_t kMaxTokens = 4000;  // brackets inside brackets are looked at again and again
  const uint32_t last = std::min(tree[node].last, tree[node].first + kMaxTokens);
  for (uint32_t i = tree[node].first; i <= last; ++i) {
    const TokenKind kind = tree.tokens.tokens[i].kind;
    if (kind == TokenKind::kString || kind == TokenKind::kFStringBegin) return true;
  }
  return false;
}

// The callee's end says what is called: `.launch` of a chain over many lines.
std::string callee_text(const Tree& tree, NodeId call) {
  const NodeId callee = tree.child(call);
  // With the brackets that may stand around it: `(a or b)(x)`.
  const uint32_t first = tree[call].first;
  const Node& node = tree[callee];
  uint32_t last = node.last;
  if (node.first != first) {
    while (tree.tokens.tokens[last + 1].kind == TokenKind::kCloseParen) ++last;
  }
  const uint32_t bytes = tree.tokens.tokens[last].end - tree.tokens.tokens[first].begin;
  if (bytes <= kLongestCallee) return tree.tokens.source(first, last);
  std::string end;
  for (uint32_t at = last + 1; at > first && end.size() < 150;) {
    end.insert(0, utf8_end(tree.token(--at), kLongestCallee));
  }
  return "…" + end;
}

// "make(…).run" of a chain over many lines: what its calls are given is left out.
std::string callee_path(const Tree& tree, NodeId callee) {
  const uint32_t first = tree[callee].first, last = tree[callee].last;
  constexpr uint32_t kMaxTokens = 4000;
  std::string out;
  int depth = 0;
  for (uint32_t at = first; at <= last; ++at) {
    const TokenKind kind = tree.tokens.tokens[at].kind;
    const bool opens = kind == TokenKind::kOpenParen || kind == TokenKind::kOpenBracket ||
                       kind == TokenKind::kOpenBrace;
    const bool closes = kind == TokenKind::kCloseParen || kind == TokenKind::kCloseBracket ||
                        kind == TokenKind::kCloseBrace;
    if (closes && --depth == 0) out += "…";
    if (depth == 0) out += tree.token(at);
    depth += opens;
    if (out.size() > kLongestCallee || at - first > kMaxTokens) return "";
  }
  return out;
}

Call read_call(const Tree& tree, NodeId call) {
  Call out;
  out.callee = callee_text(tree, call);
  if (out.callee.starts_with("…") && tree[tree.child(call)].first == tree[call].first)
    out.path = callee_path(tree, tree.child(call));
  out.line_first = tree.line_first(call);
  out.line_last = tree.line_last(call);
  const NodeId first = tree[tree.child(call)].next;
  bool strings = false;
  for (NodeId at = first; at != 0 && !strings; at = tree[at].next) {
    const NodeId value = tree.kind(at) == NodeKind::kKeyword ? tree.child(at) : at;
    const bool leaf = tree.kind(value) == NodeKind::kName || tree.kind(value) == NodeKind::kNumber;
    // An inner call keeps its own.
    strings = !leaf && tree.kind(value) != NodeKind::kCall && holds_string(tree, value);
  }
  for (NodeId at = strings ? first : 0; at != 0; at = tree[at].next) {
    Argument argument;
    NodeId value = at;
    if (tree.kind(at) == NodeKind::kKeyword) argument.name = tree.extra(at);
    if (tree.kind(at) == NodeKind::kStarred) argument.name = "*";
    if (tree.kind(at) == NodeKind::kDoubleStarred) argument.name = "**";
    if (!argument.name.empty()) value = tree.child(at);
    argument.text = tree.source(value, kLongestArgument);
    out.arguments.push_back(std::move(argument));
  }
  return out;
}

bool is_literal(const Tree& tree, NodeId node, int depth = 0) {
  switch (tree.kind(node)) {
    case NodeKind::kNumber:
      return true;
    case NodeKind::kString:
      return tree[node].child == 0;
    case NodeKind::kName: {
      const std::string_view name = tree.name(node);
      return name == "None" || name == "True" || name == "False";
    }
    case NodeKind::kUnary:
    case NodeKind::kBinary:
    case NodeKind::kTuple:
    case NodeKind::kList:
    case NodeKind::kSet:
    case NodeKind::kDict:
    case NodeKind::kPair: {
      if (depth > 8) return false;
      for (const NodeId child : tree.children(node)) {
        if (!is_literal(tree, child, depth + 1)) return false;
      }
      return true;
    }
    default:
      return false;
  }
}

// What functions and classes have in common.
template <typename Found>
void read_definition(const Tree& tree, const Definition& definition, Found& found) {
  found.name = definition.name;
  found.scope = definition.scope;
  found.decorators = decorators_of(tree, definition.node);
  const NodeId block = tree.child_of_kind(definition.node, NodeKind::kBlock);
  found.doc = docstring(tree, block);
  found.doc_has_example = docstring_has_example(tree, block);
  found.line_first = tree.line_first(definition.node);
  found.line_name = name_line(tree, definition.node);
  found.line_last = tree.line_last(definition.node);
}

}  // namespace

std::vector<Import> find_imports(const Outline& outline) {
  const Tree& tree = outline.tree;
  std::vector<Import> out;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (const Site& site : outline.imports) {
    const bool from = tree.kind(site.node) == NodeKind::kImportFrom;
    std::string module;
    for (uint32_t i = tree[site.node].first + 1; from && i < tree[site.node].extra; ++i) {
      module += tree.token(i);
    }
    for (const NodeId name : tree.children(site.node)) {
      const uint32_t alias = tree[name].extra;
      std::string path;
      for (uint32_t i = tree[name].first; i <= tree[name].last && (alias == 0 || i + 1 < alias);
           ++i) {
        path += tree.token(i);
      }
      Import found{from ? module : path, from ? path : "", "", tree.line_first(name)};
      found.bound_to = alias != 0 ? std::string(tree.token(alias))
                                  : (from ? path : path.substr(0, path.find('.')));
      // Cells and functions import the same over and over.
      if (seen.emplace(found.module, found.name, found.bound_to).second)
        out.push_back(std::move(found));
    }
  }
  return out;
}

std::vector<Function> find_functions(const Outline& outline) {
  const Tree& tree = outline.tree;
  std::vector<Function> out;
  for (const Definition& definition : outline.functions) {
    Function found;
    read_definition(tree, definition, found);
    read_parameters(tree, tree.child_of_kind(definition.node, NodeKind::kParameters), found);
    const NodeId returns = tree.child_of_kind(definition.node, NodeKind::kReturns);
    found.gives_back = definition.gives_back;
    if (returns != 0) found.returns = tree.source(tree.child(returns), kLongestExpression);
    out.push_back(std::move(found));
  }
  return out;
}

std::vector<Class> find_classes(const Outline& outline) {
  const Tree& tree = outline.tree;
  std::vector<Class> out;
  for (const Definition& definition : outline.classes) {
    Class found;
    read_definition(tree, definition, found);
    const NodeId bases = tree.child_of_kind(definition.node, NodeKind::kArguments);
    for (const NodeId base : tree.children(bases)) {
      // metaclass= and **more are no bases.
      const NodeKind kind = tree.kind(base);
      if (kind == NodeKind::kKeyword || kind == NodeKind::kDoubleStarred) continue;
      found.bases.push_back(tree.source(base, kLongestExpression));
    }
    found.fields = find_fields(outline, tree.child_of_kind(definition.node, NodeKind::kBlock));
    out.push_back(std::move(found));
  }
  return out;
}

std::vector<std::vector<Call>> find_calls(const Outline& outline) {
  std::vector<std::vector<Call>> out(outline.functions.size() + 1);
  for (const Site& site : outline.calls) {
    std::vector<Call>& list = site.function == kNowhere ? out.back() : out[site.function];
    list.push_back(read_call(outline.tree, site.node));
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> find_constants(const Outline& outline) {
  constexpr size_t kLongest = 300;
  const Tree& tree = outline.tree;
  std::vector<std::pair<std::string, std::string>> out;
  for (const Site& site : outline.assignments) {
    if (site.function != kNowhere || site.in_class != kNowhere) continue;
    const NodeId target = tree.child(site.node);
    const NodeId value = tree.assigned_value(site.node);
    if (tree.kind(target) != NodeKind::kName || value == 0 || !is_literal(tree, value)) continue;
    std::string text = tree.source(value, kLongest + 1);
    if (text.size() > kLongest) continue;
    out.emplace_back(tree.name(target), std::move(text));
  }
  return out;
}

}  // namespace fathom::python
