#include "base/text_parts.h"
#include "scan/python/extract.h"

namespace fathom::python {
namespace {

bool is_main_text(const Outline& outline, NodeId node) {
  const auto text =
      outline.tree.kind(node) == NodeKind::kString ? outline.text(node) : std::nullopt;
  return text && text->text == "__main__";
}

// `__name__ == "__main__"`, either way round, `!=`, and `in` a list with it.
bool compares_with_main(const Outline& outline, NodeId comparison) {
  const Tree& tree = outline.tree;
  bool name = false, main = false;
  for (const NodeId part : tree.children(comparison)) {
    name |= tree.is_name(part, "__name__");
    main |= is_main_text(outline, part);
    if (tree.kind(part) != NodeKind::kTuple && tree.kind(part) != NodeKind::kList &&
        tree.kind(part) != NodeKind::kSet) {
      continue;
    }
    for (const NodeId item : tree.children(part)) main |= is_main_text(outline, item);
  }
  return name && main;
}

// `@call_if_main(__name__)` and `__name__.endswith("__main__")`: a function is asked.
bool asks_whether_main(const Outline& outline, NodeId call) {
  const Tree& tree = outline.tree;
  const NodeId callee = tree.child(call);
  const CallArguments arguments = outline.arguments(call);
  bool name = false, main = false;
  if (tree.kind(callee) == NodeKind::kAttribute) {
    name = tree.is_name(tree.child(callee), "__name__");
    main = is_main_text(outline, tree.child(callee));
  }
  for (const NodeId argument : arguments.positional) {
    name |= tree.is_name(argument, "__name__");
    main |= is_main_text(outline, argument);
  }
  for (const auto& [keyword, argument] : arguments.keywords) {
    name |= tree.is_name(argument, "__name__");
  }
  const std::string_view called = outline.last_name(callee);
  const bool says_main = holds(called, "main");
  const bool decorates = tree.kind(outline.parent(call)) == NodeKind::kDecorators;
  // A decorator of that name needs no argument: its default may be the name itself.
  return (name && (main || says_main)) || (decorates && holds(called, "if_main"));
}

}  // namespace

std::optional<uint32_t> find_main_guard(const Outline& outline) {
  std::optional<uint32_t> line;
  const auto note = [&](NodeId node) {
    for (int steps = 0; steps < 16; ++steps) {  // to the statement that it decides
      const NodeKind around = outline.tree.kind(outline.parent(node));
      if (around == NodeKind::kBlock || around == NodeKind::kModule ||
          around == NodeKind::kDecorators) {
        break;
      }
      node = outline.parent(node);
    }
    const uint32_t found = outline.tree.line_first(node);
    if (!line || found < *line) line = found;
  };
  for (const Site& site : outline.comparisons) {
    if (site.function == kNowhere && compares_with_main(outline, site.node)) note(site.node);
  }
  for (const Site& site : outline.calls) {
    if (site.function == kNowhere && asks_whether_main(outline, site.node)) note(site.node);
  }
  return line;
}

}  // namespace fathom::python
