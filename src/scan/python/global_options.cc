// Scripts whose variables are set from the command line: `globals()[key] = value` for each
// --key=value of sys.argv, by the script itself or by a file that it executes.
#include "scan/python/extract.h"

namespace fathom::python {
namespace {

constexpr size_t kLongestGlobal = 300;

bool is_setting(const Tree& tree, NodeId value, int depth = 0) {
  switch (tree.kind(value)) {
    case NodeKind::kNumber:
    case NodeKind::kString:
      return true;
    case NodeKind::kName:
      return tree.is_name(value, "True") || tree.is_name(value, "False") ||
             tree.is_name(value, "None");
    case NodeKind::kUnary:
    case NodeKind::kBinary:  // 5 * 8
      for (const NodeId part : tree.children(value)) {
        if (depth > 3 || !is_setting(tree, part, depth + 1)) return false;
      }
      return true;
    default:
      return false;
  }
}

bool is_globals(const Outline& outline, NodeId node) {
  const Tree& tree = outline.tree;
  return tree.kind(node) == NodeKind::kCall && tree.is_name(outline.callee(node), "globals");
}

// "configurator.py" of exec(open("configurator.py").read()), with the line.
std::optional<std::pair<std::string, uint32_t>> executed_file(const Outline& outline) {
  const Tree& tree = outline.tree;
  for (const Site& site : outline.calls) {
    if (site.function != kNowhere || !tree.is_name(outline.callee(site.node), "exec")) continue;
    const NodeId text = outline.arguments(site.node).at(0);
    if (tree.kind(text) != NodeKind::kCall || outline.last_name(outline.callee(text)) != "read")
      continue;
    const NodeId opened = tree.child(outline.callee(text));
    if (tree.kind(opened) != NodeKind::kCall || !tree.is_name(outline.callee(opened), "open"))
      continue;
    const auto path = outline.text(outline.arguments(opened).at(0));
    if (path) return std::pair(path->text, tree.line_first(site.node));
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint32_t> find_globals_set(const Outline& outline) {
  if (!outline.names.contains("argv") || !outline.names.contains("globals")) return std::nullopt;
  const Tree& tree = outline.tree;
  for (const Site& site : outline.assignments) {
    const NodeId target = tree.child(site.node);
    if (tree.kind(target) == NodeKind::kSubscript && is_globals(outline, tree.child(target)))
      return tree.line_first(site.node);
  }
  for (const Site& site : outline.calls) {
    const NodeId callee = outline.callee(site.node);
    if (tree.kind(callee) == NodeKind::kAttribute && outline.last_name(callee) == "update" &&
        is_globals(outline, tree.child(callee)))
      return tree.line_first(site.node);
  }
  return std::nullopt;
}

void find_global_options(const Outline& outline, std::optional<uint32_t> set_at,
                         std::vector<Option>& into) {
  std::string by;
  if (!set_at && outline.names.contains("exec")) {
    if (const auto executed = executed_file(outline)) {
      by = executed->first;
      set_at = executed->second;
    }
  }
  if (!set_at) return;
  const Tree& tree = outline.tree;
  for (const Site& site : outline.assignments) {
    if (site.function != kNowhere || site.in_class != kNowhere) continue;
    const NodeId target = tree.child(site.node);
    const NodeId value = tree.assigned_value(site.node);
    const uint32_t line = tree.line_first(site.node);
    if (line >= *set_at || tree.kind(outline.parent(site.node)) != NodeKind::kModule) continue;
    if (tree.kind(target) != NodeKind::kName || value == 0 || !is_setting(tree, value)) continue;
    Option option;
    option.source = OptionSource::kGlobals;
    option.dest = tree.name(target);
    option.names = {"--" + option.dest};
    option.default_value = tree.source(value, kLongestGlobal);
    option.help = outline.comment_at(line, line, false);
    option.via = by;
    option.line = line;
    into.push_back(std::move(option));
  }
}

}  // namespace fathom::python
