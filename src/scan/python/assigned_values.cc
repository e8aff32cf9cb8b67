#include "scan/python/assigned_values.h"

#include <optional>

namespace fathom::python {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string in_c_spelling(std::string text) {
  replace_all(text, " and ", " && ");
  replace_all(text, " or ", " || ");
  replace_all(text, "//", "/");
  if (text == "True") return "true";
  if (text == "False") return "false";
  return text;
}

class ValueFinder {
 public:
  explicit ValueFinder(const Tree& tree) : tree_(tree) {}

  std::vector<AssignedValue> run() {
    // Every statement is a node; nested ones come after what holds them.
    for (NodeId id = 1; id < tree_.nodes.size(); ++id) {
      if (tree_.kind(id) == NodeKind::kAssign) assignment(id);
      if (tree_.kind(id) == NodeKind::kIf) choice(id);
      if (tree_.kind(id) == NodeKind::kAugmented) augmented(id);
    }
    return std::move(out_);
  }

 private:
  // The name that a statement sets, where it sets one plain name.
  std::optional<std::string> name_set(NodeId statement) const {
    if (tree_.kind(statement) != NodeKind::kAssign || tree_.child_count(statement) != 2)
      return std::nullopt;
    const NodeId target = tree_.child(statement);
    if (tree_.kind(target) != NodeKind::kName) return std::nullopt;
    return tree_.source(target);
  }

  void assignment(NodeId id) {
    const auto name = name_set(id);
    if (!name) return;
    const NodeId value = tree_.child(id, 1);
    add(*name, tree_.source(value, 200), id);
    if (tree_.kind(value) != NodeKind::kCall) return;
    for (const NodeId part : tree_.children(value)) {
      if (tree_.kind(part) != NodeKind::kKeyword) continue;
      add(std::string(tree_.extra(part)), tree_.source(tree_.child(part), 200), part);
    }
  }

  // blocks += 1: from there on it is only known as itself.
  void augmented(NodeId id) {
    const NodeId target = tree_.child(id);
    if (tree_.kind(target) != NodeKind::kName) return;
    const std::string name = tree_.source(target);
    add(name, name, id);
  }

  // if a: x = 1 elif b: x = 2 else: x = 3 → x = a ? 1 : b ? 2 : 3
  void choice(NodeId id) {
    std::string text, name;
    NodeId test = 0;
    bool has_else = false;
    for (const NodeId part : tree_.children(id)) {
      if (tree_.kind(part) != NodeKind::kBlock) {
        test = part;
        continue;
      }
      const auto set = only_assignment(part);
      if (!set || (!name.empty() && set->first != name)) return;
      name = set->first;
      has_else = test == 0;
      text += (test == 0 ? "" : "(" + in_c_spelling(tree_.source(test, 200)) + ") ? ") +
              set->second + (test == 0 ? "" : " : ");
      test = 0;
    }
    // Without an else the name keeps what it had, which is not followed.
    if (has_else && !name.empty()) add(name, text, id);
  }

  std::optional<std::pair<std::string, std::string>> only_assignment(NodeId block) const {
    if (tree_.child_count(block) != 1) return std::nullopt;
    const NodeId statement = tree_.child(block);
    const auto name = name_set(statement);
    if (!name) return std::nullopt;
    return std::pair(*name, in_c_spelling(tree_.source(tree_.child(statement, 1), 200)));
  }

  void add(std::string name, std::string text, NodeId at) {
    out_.push_back({std::move(name), in_c_spelling(std::move(text)), tree_.line_first(at)});
  }

  const Tree& tree_;
  std::vector<AssignedValue> out_;
};

}  // namespace

std::vector<AssignedValue> assigned_values(const Tree& tree) { return ValueFinder(tree).run(); }

}  // namespace fathom::python
