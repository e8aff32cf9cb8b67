#include "scan/python/outline.h"

#include <algorithm>

#include "scan/facts/code_names.h"

namespace fathom::python {
namespace {

// Context beyond this many nodes is not looked for: code is not nested that deep on purpose.
constexpr int kFarthest = 64;

// args, server_args, self.config, EngineConfig, cfg, opts, FLAGS
bool is_settings(std::string_view object) {
  return ends_with_any(object,
                       {"args", "Args", "config", "Config", "cfg", "conf", "opt", "opts", "options",
                        "Options", "settings", "Settings", "params", "flags", "FLAGS", "envs"});
}

}  // namespace

NodeId CallArguments::keyword(std::string_view name) const {
  for (const auto& [key, value] : keywords) {
    if (key == name) return value;
  }
  return 0;
}

NodeId CallArguments::find(size_t position, std::string_view name) const {
  const NodeId named = keyword(name);
  return named != 0 ? named : at(position);
}

Outline::Outline(const Tree& of) : tree(of) { walk(); }

// In order of the text, without recursion: chains of calls are deep trees.
void Outline::walk() {
  parents_.resize(tree.nodes.size());
  std::vector<std::pair<NodeId, Site>> bodies = {{0, {}}};  // blocks of functions and classes
  NodeId at = tree.root;
  while (at != 0) {
    visit(at, bodies.back().second);
    if (tree.kind(at) == NodeKind::kBlock) {
      // The definition that a body belongs to was the last one seen.
      const NodeId owner = parents_[at];
      Site inside = bodies.back().second;
      if (tree.kind(owner) == NodeKind::kFunction) {
        inside.function = static_cast<uint32_t>(functions.size() - 1);
        bodies.emplace_back(at, inside);
      } else if (tree.kind(owner) == NodeKind::kClass) {
        inside.in_class = static_cast<uint32_t>(classes.size() - 1);
        bodies.emplace_back(at, inside);
      }
    }
    if (const NodeId child = tree[at].child; child != 0) {
      parents_[child] = at;
      at = child;
      continue;
    }
    while (at != 0) {  // up to the first one with a sibling
      if (bodies.back().first == at) bodies.pop_back();
      if (const NodeId next = tree[at].next; next != 0) {
        parents_[next] = parents_[at];
        at = next;
        break;
      }
      at = parents_[at];
    }
  }
}

void Outline::visit(NodeId node, const Site& around) {
  const Site site{node, around.function, around.in_class};
  const Node& found = tree[node];
  switch (found.kind) {
    case NodeKind::kFunction:
    case NodeKind::kClass: {
      Definition definition{
          node, std::string(tree.extra(node)), "", around.function, around.in_class, false};
      definition.method = in_class_body(site);
      if (around.function != kNowhere || around.in_class != kNowhere) {
        const Definition& outer =
            definition.method ? classes[around.in_class] : functions[around.function];
        definition.scope = qualified_name(outer);
      }
      (found.kind == NodeKind::kFunction ? functions : classes).push_back(std::move(definition));
      break;
    }
    case NodeKind::kReturn:
      if (tree.child(node) != 0 && around.function != kNowhere)
        functions[around.function].gives_back = true;
      break;
    case NodeKind::kCall:
      calls.push_back(site);
      break;
    case NodeKind::kSubscript:
      subscripts.push_back(site);
      break;
    case NodeKind::kCompare:
      comparisons.push_back(site);
      break;
    case NodeKind::kDict:
      dictionaries.push_back(site);
      break;
    case NodeKind::kString:
      strings.push_back(site);
      break;
    case NodeKind::kAssign:
    case NodeKind::kAnnotated: {
      assignments.push_back(site);
      const NodeId target = tree.child(node);
      const NodeId value = tree.child(node, found.kind == NodeKind::kAssign ? 1 : 2);
      if (around.function == kNowhere && around.in_class == kNowhere && value != 0 &&
          tree.kind(target) == NodeKind::kName) {
        const auto [entry, first] = constants_.emplace(tree.name(target), value);
        if (!first) entry->second = 0;
      }
      break;
    }
    case NodeKind::kImport:
    case NodeKind::kImportFrom:
      imports.push_back(site);
      read_import(node);
      break;
    case NodeKind::kName:
      names.emplace(tree.token(found.first), found.first);
      if (is_settings(tree.token(found.first))) note_passed(node);
      break;
    case NodeKind::kAttribute:
      names.emplace(tree.extra(node), found.extra);
      if (is_settings(tree.extra(node))) note_passed(node);
      if (is_settings(last_name(tree.child(node)))) settings.emplace(tree.extra(node), found.extra);
      break;
    default:
      break;
  }
}

// run(args), Engine(config=self.config): the object as a whole is an argument.
void Outline::note_passed(NodeId object) {
  constexpr size_t kLongestCallee = 200;
  NodeId above = parents_[object];
  const NodeKind kind = tree.kind(above);
  if (kind == NodeKind::kKeyword || kind == NodeKind::kStarred || kind == NodeKind::kDoubleStarred)
    above = parents_[above];
  // Process(target=run, args=(settings,))
  NodeId target = 0;
  if (kind == NodeKind::kTuple && tree.kind(parents_[above]) == NodeKind::kKeyword &&
      tree.extra(parents_[above]) == "args") {
    above = parents_[parents_[above]];
    for (NodeId at = tree[tree[above].child].next; at != 0; at = tree[at].next) {
      if (tree.kind(at) == NodeKind::kKeyword && tree.extra(at) == "target")
        target = tree.child(at);
    }
    if (target == 0) return;
  }
  if (tree.kind(above) != NodeKind::kCall || tree.child(above) == object) return;
  const NodeId callee_node = target != 0 ? target : tree.child(above);
  const NodeKind callee_kind = tree.kind(callee_node);
  if (callee_kind != NodeKind::kName && callee_kind != NodeKind::kAttribute) return;
  settings_passed.insert(tree.source(callee_node, kLongestCallee));
}

void Outline::read_import(NodeId statement) {
  std::string module;
  if (tree.kind(statement) == NodeKind::kImportFrom) {
    for (uint32_t i = tree[statement].first + 1; i < tree[statement].extra; ++i) {
      module += tree.token(i);
    }
    module += '.';
  }
  for (const NodeId name : tree.children(statement)) {
    const uint32_t first = tree[name].first, alias = tree[name].extra;
    std::string what = module;
    for (uint32_t i = first; i <= tree[name].last && (alias == 0 || i + 1 < alias); ++i) {
      what += tree.token(i);
    }
    names.emplace(tree.token(first), first);
    if (alias != 0) {
      imported_[std::string(tree.token(alias))] = what;
    } else if (!module.empty()) {
      imported_[std::string(tree.token(first))] = what;
    }  // `import a.b` binds a, which is a
  }
}

bool Outline::in_class_body(const Site& site) const {
  if (site.in_class == kNowhere) return false;
  if (site.function == kNowhere) return true;
  return tree[classes[site.in_class].node].first > tree[functions[site.function].node].first;
}

CallArguments Outline::arguments(NodeId call) const {
  CallArguments out;
  NodeId at = tree[call].child;
  if (tree.kind(call) == NodeKind::kCall && at != 0) at = tree[at].next;
  for (; at != 0; at = tree[at].next) {
    switch (tree.kind(at)) {
      case NodeKind::kKeyword:
        out.keywords.emplace_back(tree.extra(at), tree.child(at));
        break;
      case NodeKind::kStarred:
        if (out.starred == 0) out.starred = tree.child(at);
        break;
      case NodeKind::kDoubleStarred:
        if (out.double_starred == 0) out.double_starred = tree.child(at);
        break;
      default:
        (out.starred == 0 ? out.positional : out.after_star).push_back(at);
        break;
    }
  }
  return out;
}

std::string Outline::function_name(uint32_t function) const {
  return function == kNowhere ? std::string() : qualified_name(functions[function]);
}

std::string Outline::path(NodeId expression) const {
  std::vector<std::string_view> attributes;
  while (tree.kind(expression) == NodeKind::kAttribute) {
    if (attributes.size() == kFarthest) return "";
    attributes.push_back(tree.extra(expression));
    expression = tree.child(expression);
  }
  if (tree.kind(expression) != NodeKind::kName) return "";
  const std::string_view first = tree.name(expression);
  const auto imported = imported_.find(first);
  std::string out(imported != imported_.end() ? std::string_view(imported->second) : first);
  for (auto name = attributes.rbegin(); name != attributes.rend(); ++name) {
    out += '.';
    out += *name;
  }
  return out;
}

std::string_view Outline::last_name(NodeId expression) const {
  if (tree.kind(expression) == NodeKind::kAttribute) return tree.extra(expression);
  return tree.name(expression);
}

NodeId Outline::constant(std::string_view name) const { return value_or_empty(constants_, name); }

std::optional<StringContent> Outline::text(NodeId expression) const {
  size_t work = 0;
  return text(expression, 0, work);
}

std::optional<StringContent> Outline::text(NodeId expression, int depth, size_t& work) const {
  // A text may be made of another many times over, and that one of a third.
  constexpr size_t kMostWork = 1000, kBytesOfWork = 1024;
  // It is a name, a path or a help text, and one constant may be that of thousands of options.
  constexpr size_t kLongestText = 5000;
  if (depth > 8 || ++work > kMostWork) return {};
  const auto placeholder = [&](NodeId part) {
    return StringContent{"{" + tree.source(part, 100) + "}", true, {tree.line_first(part)}};
  };
  switch (tree.kind(expression)) {
    case NodeKind::kString: {
      StringContent out = content_of(tree, expression, kLongestText);
      // Fields that are constants of this module are filled in.
      for (const NodeId field : tree.children(expression)) {
        if (work > kMostWork) break;
        const std::optional<StringContent> value = text(tree.child(field), depth + 1, work);
        if (!value || value->composed) continue;
        work += value->text.size() / kBytesOfWork;
        const std::string marked = "{" + tree.source(tree.child(field), kLongestText) + "}";
        const size_t at = out.text.find(marked);
        if (at != std::string::npos) out.text.replace(at, marked.size(), value->text);
      }
      if (out.composed) out.composed = holds(out.text, '{');
      return out;
    }
    case NodeKind::kName: {
      const NodeId value = constant(tree.name(expression));
      if (value == 0) return {};
      return text(value, depth + 1, work);
    }
    case NodeKind::kBinary: {
      if (tree.token(tree[expression].extra) != "+") return {};
      StringContent out;
      bool any = false;
      for (const NodeId part : tree.children(expression)) {
        const std::optional<StringContent> value = text(part, depth + 1, work);
        any |= value.has_value();
        const StringContent piece = value ? *value : placeholder(part);
        out.text += piece.text;
        out.composed |= piece.composed;
        if (out.lines.empty()) out.lines = piece.lines;
      }
      if (!any) return {};
      return out;
    }
    default:
      return {};
  }
}

// What the loop around `place` that binds the name runs over; 0: there is none.
NodeId Outline::loop_values(NodeId place, std::string_view name) const {
  int steps = 0;
  for (NodeId at = place; at != 0 && steps < kFarthest; at = parents_[at], ++steps) {
    if (tree.kind(at) == NodeKind::kFor && tree.is_name(tree.child(at), name)) {
      return tree.child(at, 1);
    }
    if (tree.kind(at) != NodeKind::kComprehension) continue;
    for (const NodeId loop : tree.children(at)) {
      if (tree.kind(loop) != NodeKind::kComprehensionFor) continue;
      if (tree.is_name(tree.child(loop), name)) return tree.child(loop, 1);
    }
  }
  return 0;
}

std::vector<std::string> Outline::texts(NodeId expression) const {
  const std::optional<StringContent> whole = text(expression);
  if (whole && !whole->composed) return {whole->text};
  // A name that a loop runs over literals, alone or as the part of an f-string.
  std::string_view name = tree.name(expression);
  for (const NodeId field : tree.children(expression)) {
    if (tree.kind(expression) != NodeKind::kString) break;
    if (!tree.name(tree.child(field)).empty()) name = tree.name(tree.child(field));
  }
  std::vector<std::string> out;
  NodeId values = name.empty() ? 0 : loop_values(expression, name);
  if (tree.kind(values) == NodeKind::kName) values = constant(tree.name(values));
  if (tree.kind(values) == NodeKind::kTuple || tree.kind(values) == NodeKind::kList ||
      tree.kind(values) == NodeKind::kSet) {
    for (const NodeId value : tree.children(values)) {
      const std::optional<StringContent> one = text(value);
      if (!one || one->composed) continue;
      std::string filled = whole ? whole->text : "{" + std::string(name) + "}";
      const std::string marked = "{" + std::string(name) + "}";
      for (size_t at = filled.find(marked); at != std::string::npos;
           at = filled.find(marked, at + one->text.size())) {
        filled.replace(at, marked.size(), one->text);
      }
      out.push_back(std::move(filled));
    }
  }
  if (out.empty() && whole) out.push_back(whole->text);
  return out;
}

std::optional<Outline::ParameterPlace> Outline::parameter(uint32_t function,
                                                          std::string_view name) const {
  for (; function != kNowhere; function = functions[function].function) {
    const NodeId list = tree.child_of_kind(functions[function].node, NodeKind::kParameters);
    size_t position = 0;
    for (const NodeId parameter : tree.children(list)) {
      if ((tree[parameter].flags & kIsMark) != 0) continue;
      if (tree.extra(parameter) == name) return ParameterPlace{function, position, parameter};
      ++position;
    }
  }
  return {};
}

namespace {

// rows: int = 4, width = 8: an assignment that was commented out describes nothing. Prose goes on
// behind the value: "rows = 4 is enough".
bool is_assignment(std::string_view text) {
  const auto blanks = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  };
  const auto name = [&] {
    const size_t end =
        text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    const std::string_view found = text.substr(0, end);
    text.remove_prefix(found.size());
    return !found.empty() && (found[0] < '0' || found[0] > '9');
  };
  if (!name()) return false;
  blanks();
  if (text.starts_with(':')) {
    text.remove_prefix(1);
    blanks();
    if (!name()) return false;
    if (text.starts_with('[')) text.remove_prefix(std::min(text.find(']') + 1, text.size()));
    blanks();
  }
  if (!text.starts_with('=') || text.starts_with("==")) return false;
  text.remove_prefix(1);
  blanks();
  if (text.empty()) return false;
  if (text[0] == '"' || text[0] == '\'') return text.find(text[0], 1) + 1 == text.size();
  return !holds(text, ' ');
}

// "noqa: E501", "type: ignore": said to a tool, not to a reader.
bool is_directive(std::string_view text) {
  return starts_with_any(
      text, {"noqa", "type: ignore", "pylint:", "pyright:", "pyrefly:", "mypy:", "ruff:", "fmt:",
             "isort:", "pragma:", "nosec", "yapf:", "flake8:", "pytype:", "ty:"});
}

}  // namespace

std::string Outline::comment_at(uint32_t line_first, uint32_t line_last, bool above) const {
  const std::vector<Comment>& comments = tree.tokens.comments;
  const auto stripped = [&](const Comment& comment) {
    std::string_view text = tree.tokens.text.substr(comment.begin, comment.end - comment.begin);
    const size_t begin = text.find_first_not_of("#: \t");
    text = begin == std::string_view::npos ? "" : text.substr(begin);
    const size_t end = text.find_last_not_of(" \t\r");
    text = end == std::string_view::npos ? "" : text.substr(0, end + 1);
    return std::string(is_assignment(text) || is_directive(text) ? "" : text);
  };
  const auto after =
      std::lower_bound(comments.begin(), comments.end(), line_first,
                       [](const Comment& comment, uint32_t line) { return comment.line < line; });
  for (auto beside = after; beside != comments.end() && beside->line <= line_last; ++beside) {
    if (!beside->alone) return stripped(*beside);
  }
  if (!above) return "";
  auto first = after;
  uint32_t line = line_first;
  while (first != comments.begin() && std::prev(first)->alone &&
         std::prev(first)->line + 1 == line) {
    --first;
    line = first->line;
  }
  std::string out;
  for (; first != after; ++first) {
    const std::string piece = stripped(*first);
    if (!out.empty() && !piece.empty()) out += ' ';
    out += piece;
  }
  return out;
}

std::string first_paragraph(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text = text.substr(std::min(end + 1, text.size()));
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) {
      if (!out.empty()) break;
      continue;
    }
    line = line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
    if (!out.empty()) out += ' ';
    out += line;
  }
  return out;
}

namespace {

// 0: the block has none.
NodeId docstring_node(const Tree& tree, NodeId block) {
  const NodeId statement = tree.child(block);
  if (tree.kind(statement) != NodeKind::kExpression) return 0;
  const NodeId value = tree.child(statement);
  return tree.kind(value) == NodeKind::kString ? value : 0;
}

}  // namespace

std::string docstring(const Tree& tree, NodeId block) {
  const NodeId node = docstring_node(tree, block);
  return node == 0 ? "" : first_paragraph(content_of(tree, node).text);
}

bool docstring_has_example(const Tree& tree, NodeId block) {
  const NodeId node = docstring_node(tree, block);
  if (node == 0) return false;
  const uint32_t begin = tree.tokens.tokens[tree[node].first].begin;
  const uint32_t end = tree.tokens.tokens[tree[node].last].end;
  return tree.tokens.text.substr(begin, end - begin).find(">>> ") != std::string_view::npos;
}

}  // namespace fathom::python
