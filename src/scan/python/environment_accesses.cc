#include <algorithm>
#include <array>

#include "scan/python/environment.h"

namespace fathom::python {
namespace {

class AccessFinder {
 public:
  explicit AccessFinder(const Outline& outline) : outline_(outline), tree_(outline.tree) {}

  std::vector<EnvironmentAccess> run() {
    find_aliases();
    for (const Site& site : outline_.calls) read_call(site);
    for (const Site& site : outline_.subscripts) read_subscript(site);
    for (const Site& site : outline_.comparisons) read_comparison(site);
    std::sort(found_.begin(), found_.end(), [&](const auto& a, const auto& b) {
      return tree_[a.site.node].first < tree_[b.site.node].first;
    });
    return std::move(found_);
  }

 private:
  // Names that are set to os.environ, and nowhere to anything else.
  void find_aliases() {
    std::set<std::string_view> others;
    for (const Site& site : outline_.assignments) {
      const NodeId target = tree_.child(site.node);
      if (tree_.kind(target) != NodeKind::kName) continue;
      const NodeId value = tree_.assigned_value(site.node);
      const bool environ = value != 0 && outline_.path(value) == "os.environ";
      (environ ? aliases_ : others).insert(tree_.name(target));
    }
    for (const std::string_view name : others) aliases_.erase(name);
  }

  bool is_environ(NodeId expression) const {
    if (tree_.kind(expression) == NodeKind::kName && aliases_.contains(tree_.name(expression))) {
      return true;
    }
    return outline_.path(expression) == "os.environ";
  }

  void read_call(const Site& site) {
    const NodeId callee = tree_.child(site.node);
    const std::string_view last = outline_.last_name(callee);
    const bool of_os =
        last == "getenv" || last == "getenvb" || last == "putenv" || last == "unsetenv";
    const bool of_environ = last == "get" || last == "setdefault" || last == "pop";
    if (!of_os && !of_environ && tree_.kind(callee) != NodeKind::kName) return;
    const std::string path = outline_.path(callee);
    const bool function =
        path == "os.getenv" || path == "os.getenvb" || path == "os.putenv" || path == "os.unsetenv";
    const bool method =
        of_environ && tree_.kind(callee) == NodeKind::kAttribute && is_environ(tree_.child(callee));
    if (!function && !method) return;
    const CallArguments arguments = outline_.arguments(site.node);
    EnvironmentAccess access{site, arguments.find(0, "key"), 0, path, false};
    if (method) access.via = "os.environ." + std::string(last);
    access.written = last == "pop" || path == "os.putenv" || path == "os.unsetenv";
    if (!access.written) access.default_value = arguments.find(1, "default");
    if (access.name != 0) found_.push_back(std::move(access));
  }

  void read_subscript(const Site& site) {
    if (!is_environ(tree_.child(site.node))) return;
    const NodeId parent = outline_.parent(site.node);
    const NodeKind around = tree_.kind(parent);
    // The last child of an assignment is the value; of an augmented one the first is both.
    const bool target = around == NodeKind::kAssign && tree_[site.node].next != 0;
    const bool written = target || around == NodeKind::kDelete || around == NodeKind::kAugmented;
    found_.push_back({site, tree_.child(site.node, 1), 0, "os.environ[]", written});
  }

  void read_comparison(const Site& site) {
    const std::string_view op = tree_.token(tree_[site.node].extra);
    if (op != "in" && op != "not") return;
    if (!is_environ(tree_.child(site.node, 1))) return;
    found_.push_back({site, tree_.child(site.node), 0, "in os.environ", false, true});
  }

  const Outline& outline_;
  const Tree& tree_;
  std::set<std::string_view> aliases_;
  std::vector<EnvironmentAccess> found_;
};

}  // namespace

std::vector<EnvironmentAccess> find_environment_accesses(const Outline& outline) {
  // Most files never name it, and need not be looked through.
  constexpr auto names = std::to_array<std::string_view>(
      {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"});
  const auto named = [&](std::string_view name) { return outline.names.contains(name); };
  if (std::none_of(names.begin(), names.end(), named)) return {};
  return AccessFinder(outline).run();
}

std::string type_from_use(const Outline& outline, NodeId value) {
  const Tree& tree = outline.tree;
  std::string type;
  NodeId at = value;
  for (int steps = 0; steps < 12; ++steps) {
    const NodeId parent = outline.parent(at);
    const NodeKind kind = tree.kind(parent);
    // int(…) != -1 asks whether there is one; the variable is a number.
    if (kind == NodeKind::kCompare) return type.empty() ? "bool" : type;
    if (kind == NodeKind::kUnary && tree.token(tree[parent].extra) == "not") return "bool";
    if (kind == NodeKind::kCall && tree.child(parent) != at) {
      const std::string_view callee = outline.last_name(tree.child(parent));
      if (callee != "int" && callee != "float" && callee != "bool" && callee != "Path") break;
      type = callee;
    } else if (kind != NodeKind::kAttribute && kind != NodeKind::kCall &&
               kind != NodeKind::kBoolean && kind != NodeKind::kConditional) {
      break;  // .lower().strip() and `or` keep what it is
    }
    at = parent;
  }
  return type;
}

bool is_variable_name(std::string_view name) {
  bool letter = false;
  int open = 0;
  for (const char c : name) {
    if (c == '{') ++open;
    if (c == '}') --open;
    if (open > 0) continue;
    if (c == ' ' || c == '\n') return false;
    letter |= (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  }
  return letter;
}

}  // namespace fathom::python
