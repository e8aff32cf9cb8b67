// Which functions of a file are kernels, and which calls make or launch them: the rows of
// data/kernels, looked up by what the file imports.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "scan/python/extract.h"

namespace fathom::python {
namespace {

constexpr size_t kLongestMark = 300;

const std::unordered_set<std::string_view>& last_names_of_decorators() {
  static const std::unordered_set<std::string_view> names = [] {
    std::unordered_set<std::string_view> out;
    for (const DecoratorRule& rule : decorator_rules())
      out.insert(rule.path.substr(rule.path.rfind('.') + 1));
    return out;
  }();
  return names;
}

class MarkFinder {
 public:
  explicit MarkFinder(const Outline& outline) : outline_(outline), tree_(outline.tree) {}

  void run(std::vector<Function>& functions) {
    for (uint32_t i = 0; i < outline_.functions.size(); ++i) {
      const NodeId list = tree_.child_of_kind(outline_.functions[i].node, NodeKind::kDecorators);
      for (const NodeId decorator : tree_.children(list)) {
        if (std::optional<KernelMark> mark = mark_of(decorator, i)) {
          functions[i].kernel = std::move(mark);
          break;
        }
      }
    }
    for (const Site& site : outline_.calls) mark_handed(site, functions);
  }

 private:
  // scale_gpu = cuda.jit(scale): the decorator is called like a function.
  void mark_handed(const Site& site, std::vector<Function>& functions) {
    const NodeId callee = tree_.child(site.node);
    if (!last_names_of_decorators().contains(outline_.last_name(callee)) ||
        tree_.kind(outline_.parent(site.node)) == NodeKind::kDecorators)
      return;
    const NodeId handed = outline_.arguments(site.node).at(0);
    if (handed == 0 || tree_.kind(handed) != NodeKind::kName) return;
    read_bodies();
    const std::string_view name = outline_.last_name(handed);
    auto found = by_name_.find({outline_.function_name(site.function), name});
    if (found == by_name_.end()) found = by_name_.find({"", name});
    if (found == by_name_.end() || functions[found->second].kernel) return;
    std::optional<KernelMark> mark = mark_of(site.node, found->second);
    // A function that the compiler of another language takes is called there, not launched.
    const bool launched = mark && (mark->rule->launch == LaunchForm::kSubscript ||
                                   mark->rule->launch == LaunchForm::kChain);
    if (launched) functions[found->second].kernel = std::move(mark);
  }

  std::optional<KernelMark> mark_of(NodeId decorator, uint32_t function) {
    const bool called = tree_.kind(decorator) == NodeKind::kCall;
    const NodeId name = called ? tree_.child(decorator) : decorator;
    const std::string path = outline_.path(name);
    if (path.empty()) return std::nullopt;
    const std::string written = tree_.source(name, kLongestMark);
    std::optional<KernelMark> best;
    for (const DecoratorRule& rule : decorator_rules()) {
      const RuleFit fit = fit_of(rule.path, rule.spelled, path, written);
      if (fit == RuleFit::kNone || (best && best->fit <= fit)) continue;
      if (called && has_argument(decorator, rule.not_with)) continue;
      const NodeId needed = rule.needs.empty() ? 0 : call_in(function, rule.needs);
      if (!rule.needs.empty() && needed == 0) continue;
      best = KernelMark{&rule, fit, written, tree_.source(needed, kLongestMark)};
    }
    return best;
  }

  // "device=True"
  bool has_argument(NodeId call, std::string_view wanted) const {
    if (wanted.empty()) return false;
    const size_t equals = wanted.find('=');
    const NodeId value = outline_.arguments(call).keyword(wanted.substr(0, equals));
    return value != 0 && tree_.source(value, kLongestMark) == wanted.substr(equals + 1);
  }

  // The first call in a function's own body of one of these, or in one of the functions that it
  // calls and that stand beside it; 0: none.
  NodeId call_in(uint32_t function, const std::vector<std::string_view>& wanted) {
    if (const NodeId call = call_in_body(function, wanted)) return call;
    const Definition& caller = outline_.functions[function];
    for (const NodeId call : calls_[function]) {
      const NodeId callee = tree_.child(call);
      if (tree_.kind(callee) != NodeKind::kName) continue;
      const auto found = by_name_.find({caller.scope, outline_.last_name(callee)});
      if (found == by_name_.end() || found->second == function) continue;
      if (const NodeId inside = call_in_body(found->second, wanted)) return inside;
    }
    return 0;
  }

  void read_bodies() {
    if (!by_name_.empty()) return;
    for (const Site& site : outline_.calls) {
      if (site.function != kNowhere) calls_[site.function].push_back(site.node);
    }
    for (uint32_t i = 0; i < outline_.functions.size(); ++i)
      by_name_[{outline_.functions[i].scope, outline_.functions[i].name}] = i;
  }

  NodeId call_in_body(uint32_t function, const std::vector<std::string_view>& wanted) {
    read_bodies();
    for (const NodeId call : calls_[function]) {
      const std::string path = outline_.path(tree_.child(call));
      const bool fits = std::any_of(wanted.begin(), wanted.end(), [&](std::string_view one) {
        return fit_of(one, "", path, path) != RuleFit::kNone;
      });
      if (fits) return call;
    }
    return 0;
  }

  const Outline& outline_;
  const Tree& tree_;
  std::map<uint32_t, std::vector<NodeId>> calls_;                              // by function
  std::map<std::pair<std::string_view, std::string_view>, uint32_t> by_name_;  // scope and name
};

const std::unordered_set<std::string_view>& last_names_of_calls() {
  static const std::unordered_set<std::string_view> names = [] {
    std::unordered_set<std::string_view> out;
    for (const KernelCallRule& rule : kernel_call_rules())
      out.insert(rule.path.substr(rule.path.rfind('.') + 1));
    return out;
  }();
  return names;
}

}  // namespace

void mark_kernels(const Outline& outline, std::vector<Function>& functions) {
  MarkFinder(outline).run(functions);
}

KernelCall kernel_call(const Outline& outline, NodeId call) {
  KernelCall best;
  const NodeId callee = outline.callee(call);
  // An import may give the function another name, so a bare name is looked up, too.
  const bool bare = outline.tree.kind(callee) == NodeKind::kName;
  if (!bare && !last_names_of_calls().contains(outline.last_name(callee))) return best;
  const std::string path = outline.path(callee);
  if (path.empty()) return best;
  const std::string_view last = std::string_view(path).substr(path.rfind('.') + 1);
  if (!last_names_of_calls().contains(last)) return best;
  const std::string written = outline.tree.source(callee, kLongestMark);
  for (const KernelCallRule& rule : kernel_call_rules()) {
    RuleFit fit = fit_of(rule.path, rule.spelled, path, written);
    // What an import binds to something else is something else.
    if (fit == RuleFit::kSpelled && path != written) fit = RuleFit::kNone;
    if (fit == RuleFit::kNone || (best.rule != nullptr && best.fit <= fit)) continue;
    best = {&rule, fit};
  }
  return best;
}

bool names_kernel_calls(const Outline& outline) {
  const auto& names = last_names_of_calls();
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return outline.names.contains(name); });
}

std::vector<NamedKernel> find_named_kernels(const Outline& outline) {
  std::vector<NamedKernel> out;
  if (!names_kernel_calls(outline)) return out;
  std::set<NodeId> called;
  for (const Site& site : outline.calls) called.insert(outline.tree.child(site.node));
  for (const Site& site : outline.calls) {
    const KernelCall call = kernel_call(outline, site.node);
    if (call.rule == nullptr || call.rule->does != KernelCallKind::kNamed) continue;
    const CallArguments arguments = outline.arguments(site.node);
    const ArgumentPlace& place = call.rule->kernel;
    NodeId name = arguments.keyword(place.keyword);
    if (name == 0 && place.position) name = arguments.at(*place.position);
    const std::optional<StringContent> text = outline.text(name);
    NamedKernel& found = out.emplace_back();
    found.kind = *call.rule->kind;
    found.name = text ? text->text.substr(0, kLongestMark) : "kernel";  // what the libraries take
    found.function = outline.function_name(site.function);
    found.called = called.contains(site.node);
    found.line_first = outline.tree.line_first(site.node);
    found.line_last = outline.tree.line_last(site.node);
  }
  return out;
}

std::vector<InlineExport> find_inline_exports(const Outline& outline) {
  std::vector<InlineExport> out;
  if (!outline.names.contains("load_inline")) return out;
  const Tree& tree = outline.tree;
  const auto add = [&](NodeId name) {
    if (const auto text = outline.text(name))
      out.push_back({text->text.substr(0, kLongestMark), tree.line_first(name)});
  };
  for (const Site& site : outline.calls) {
    if (outline.last_name(outline.callee(site.node)) != "load_inline") continue;
    const CallArguments arguments = outline.arguments(site.node);
    NodeId names = arguments.keyword("functions");
    if (names == 0) names = arguments.at(3);  // name, cpp_sources, cuda_sources, functions
    if (tree.kind(names) == NodeKind::kString) add(names);
    for (const NodeId one : tree.children(names)) {
      const bool described = tree.kind(names) == NodeKind::kDict;  // {"relu": "what it does"}
      if (described && tree.kind(one) == NodeKind::kPair) add(tree.child(one));
      if (tree.kind(names) == NodeKind::kList || tree.kind(names) == NodeKind::kTuple) add(one);
    }
  }
  return out;
}

}  // namespace fathom::python
