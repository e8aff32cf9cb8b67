#include <algorithm>
#include <map>

#include "base/text_parts.h"
#include "scan/python/extract.h"

namespace fathom::python {
namespace {

// Longer ways to a value are computed, and nothing is concluded from them.
constexpr size_t kLongestPath = 120;
constexpr int kDeepest = 6;

// What these return is no object of the repository.
bool is_plain(std::string_view head) {
  return is_one_of(head, {"torch", "np",   "numpy", "len",   "int",     "float",  "str",  "list",
                          "dict",  "set",  "tuple", "range", "max",     "min",    "sum",  "sorted",
                          "os",    "math", "time",  "re",    "json",    "triton", "tl",   "cute",
                          "None",  "True", "False", "bool",  "cutlass", "abs",    "repr", "F"});
}

// Calls that run a function they are given, now or later.
bool runs_argument(std::string_view callee) {
  return is_one_of(
      callee, {"Process", "Thread", "Timer", "submit", "run_in_executor", "partial", "to_thread",
               "spawn", "apply_async", "add_task", "start_new_thread", "run_coroutine_threadsafe",
               "call_soon_threadsafe", "register_forward_hook"});
}

class FlowReader {
 public:
  explicit FlowReader(const Outline& outline) : outline_(outline), tree_(outline.tree) {
    for (uint32_t i = 0; i < outline.functions.size(); ++i)
      functions_[outline.functions[i].node] = i;
    has_kernel_calls_ = names_kernel_calls(outline);
    has_cpp_extension_ = outline.names.contains("cpp_extension");
  }

  std::vector<ValueFlow> run() {
    for (NodeId node = 1; node < tree_.nodes.size(); ++node) read(node);
    std::stable_sort(out_.begin(), out_.end(),
                     [](const ValueFlow& a, const ValueFlow& b) { return a.line < b.line; });
    return std::move(out_);
  }

 private:
  void read(NodeId node) {
    switch (tree_.kind(node)) {
      case NodeKind::kAssign:
        return assign(node);
      case NodeKind::kAnnotated:
        return add(FlowKind::kAssign, tree_.child(node), tree_.child(node, 2),
                   tree_.child(node, 1));
      case NodeKind::kNamed:
        return add(FlowKind::kAssign, tree_.child(node), tree_.child(node, 1), 0);
      case NodeKind::kReturn:
        read_members(tree_.child(node));
        return add(FlowKind::kReturn, node, tree_.child(node), 0);
      case NodeKind::kFor:
      case NodeKind::kComprehensionFor:
        return loop(node);
      case NodeKind::kCall:
        return read_call(node);
      default:
        return;
    }
  }

  // return SimpleNamespace(run=run_it): what the object is asked for by name.
  void read_members(NodeId value) {
    if (tree_.kind(value) != NodeKind::kCall ||
        outline_.last_name(tree_.child(value)) != "SimpleNamespace")
      return;
    for (const auto& [name, member] : outline_.arguments(value).keywords)
      emit(FlowKind::kMember, value, std::string(name), member);
  }

  // for i, x in enumerate(y), for x in reversed(y): x is of y.
  void loop(NodeId node) {
    NodeId target = tree_.child(node), value = tree_.child(node, 1);
    if (tree_.kind(value) == NodeKind::kCall) {
      const std::string_view callee = outline_.last_name(tree_.child(value));
      const bool passes =
          callee == "enumerate" || callee == "reversed" || callee == "islice" || callee == "tqdm";
      if (passes) value = outline_.arguments(value).at(0);
      if (callee == "enumerate" && tree_.kind(target) == NodeKind::kTuple)
        target = tree_.child(target, 1);
    }
    if (value == 0) return;
    add(FlowKind::kLoop, target, value, 0);
  }

  void assign(NodeId node) {
    NodeId value = 0;
    for (const NodeId child : tree_.children(node)) value = child;
    for (const NodeId target : tree_.children(node)) {
      if (target != value) add(FlowKind::kAssign, target, value, 0);
    }
  }

  void read_call(NodeId call) {
    const std::string_view callee = outline_.last_name(tree_.child(call));
    const CallArguments arguments = outline_.arguments(call);
    if (callee == "isinstance") {
      const NodeId types = arguments.at(1);
      if (tree_.kind(types) != NodeKind::kTuple) return emit(FlowKind::kCheck, call, "", types);
      for (const NodeId type : tree_.children(types)) emit(FlowKind::kCheck, call, "", type);
      return;
    }
    const bool runs = runs_argument(callee) || is_cute_compile(tree_.child(call));
    for (const auto& [name, value] : arguments.keywords) {
      if (name == "target" || (runs && (name == "func" || name == "fn"))) hand(call, callee, value);
    }
    for (const NodeId value : arguments.positional) {
      if (runs || callee.ends_with("Decoder")) hand(call, callee, value);
    }
  }

  // cute.compile(kernel, …) makes what runs the object that it is given.
  bool is_cute_compile(NodeId callee) const {
    return tree_.kind(callee) == NodeKind::kAttribute && tree_.extra(callee) == "compile" &&
           tree_.is_name(tree_.child(callee), "cute");
  }

  // A name or attribute that a call is given.
  void hand(NodeId call, std::string_view callee, NodeId value) {
    if (tree_.kind(value) == NodeKind::kName || tree_.kind(value) == NodeKind::kAttribute) {
      emit(FlowKind::kHand, call, std::string(callee), value);
    }
  }

  void add(FlowKind kind, NodeId target, NodeId value, NodeId annotation) {
    std::string name;
    if (kind != FlowKind::kReturn) {
      name = path(target, 0);
      if (name.empty() || name.back() == ')' || name.back() == ']') return;
    }
    std::string type = annotation == 0 ? "" : tree_.source(annotation, kLongestPath);
    const size_t before = out_.size();
    values(kind, target, name, value, type, 0);
    if (out_.size() == before && !type.empty()) push(kind, target, name, "", type);
    if (tree_.kind(value) == NodeKind::kCall) elements(target, name, value);
  }

  // Each value that an expression can have: both sides of `a if c else b` and of `a or b`; what
  // dictionaries and lists hold.
  void values(FlowKind kind, NodeId place, const std::string& target, NodeId value,
              const std::string& type, int depth) {
    if (depth > kDeepest) return;
    const auto each = [&](NodeId of, uint32_t first, uint32_t step, FlowKind as) {
      uint32_t at = 0;
      for (const NodeId child : tree_.children(of)) {
        if (at >= first && (at - first) % step == 0)
          values(as, place, target, child, type, depth + 1);
        ++at;
      }
    };
    switch (tree_.kind(value)) {
      case NodeKind::kConditional:
        return each(value, 0, 2, kind);
      case NodeKind::kBoolean:
        return each(value, 0, 1, kind);
      case NodeKind::kAwait:
        return values(kind, place, target, tree_.child(value), type, depth + 1);
      case NodeKind::kDict:
      case NodeKind::kList:
      case NodeKind::kTuple:
        return each(value, 0, 1, kind == FlowKind::kReturn ? kind : FlowKind::kEntry);
      case NodeKind::kPair:
        return values(kind, place, target, tree_.child(value, 1), type, depth + 1);
      case NodeKind::kComprehension:
        return values(kind == FlowKind::kReturn ? kind : FlowKind::kEntry, place, target,
                      tree_.child(value), type, depth + 1);
      default: {
        const std::string text = path(value, 0);
        if (!text.empty()) push(kind, place, target, text, type);
      }
    }
  }

  // ModuleList([Layer(c) for …]), make(lambda p: Layer(p)): what is made among the arguments.
  void elements(NodeId place, const std::string& target, NodeId call) {
    const CallArguments arguments = outline_.arguments(call);
    for (const NodeId argument : arguments.positional) {
      const NodeKind kind = tree_.kind(argument);
      if (kind == NodeKind::kList || kind == NodeKind::kComprehension) {
        values(FlowKind::kEntry, place, target, argument, "", 1);
      } else if (kind == NodeKind::kLambda) {
        values(FlowKind::kEntry, place, target, tree_.child(argument, 1), "", 1);
      }
    }
  }

  void emit(FlowKind kind, NodeId place, const std::string& target, NodeId value) {
    const std::string text = path(value, 0);
    if (!text.empty()) push(kind, place, target, text, "");
  }

  void push(FlowKind kind, NodeId place, const std::string& target, const std::string& value,
            const std::string& type) {
    out_.push_back({kind, target, value, type, tree_.line_first(place), function_around(place)});
  }

  uint32_t function_around(NodeId node) const {
    for (NodeId at = outline_.parent(node); at != 0; at = outline_.parent(at)) {
      if (const auto found = functions_.find(at); found != functions_.end()) return found->second;
    }
    return kNowhere;
  }

  bool is_torch_ops(NodeId node) const {
    return tree_.kind(node) == NodeKind::kAttribute && tree_.extra(node) == "ops" &&
           tree_.is_name(tree_.child(node), "torch");
  }

  // cupy.ElementwiseKernel(…): the kernel that is made in this line.
  bool makes_kernel(NodeId call) const {
    if (!has_kernel_calls_) return false;
    const KernelCall made = kernel_call(outline_, call);
    return made.rule != nullptr && made.rule->does == KernelCallKind::kNamed;
  }

  // "a.b().c[]" of names, attributes, calls and subscripts, "#12" for the kernel that line 12
  // makes; empty: something else, or of a library that never returns an object of the repository.
  std::string path(NodeId node, int depth) const {
    if (depth > kDeepest) return "";
    switch (tree_.kind(node)) {
      case NodeKind::kName: {
        const std::string_view name = tree_.name(node);
        return depth == 0 || !is_plain(name) ? (is_plain(name) ? "" : std::string(name)) : "";
      }
      case NodeKind::kAttribute:
      case NodeKind::kCall:
      case NodeKind::kSubscript: {
        // torch.ops.library is the repository's own where it defines the library.
        if (is_torch_ops(node)) return "torch.ops";
        // Its functions compile modules of the repository.
        if (has_cpp_extension_ && outline_.path(node) == "torch.utils.cpp_extension")
          return "torch.utils.cpp_extension";
        if (tree_.kind(node) == NodeKind::kCall && makes_kernel(node))
          return "#" + std::to_string(tree_.line_first(node));
        std::string out = path(tree_.child(node), depth + 1);
        if (out.empty()) return "";
        if (tree_.kind(node) == NodeKind::kAttribute)
          out += "." + std::string(tree_.extra(node));
        else
          out += tree_.kind(node) == NodeKind::kCall ? "()" : "[]";
        return out.size() > kLongestPath ? "" : out;
      }
      case NodeKind::kAwait:
        return path(tree_.child(node), depth + 1);
      default:
        return "";
    }
  }

  const Outline& outline_;
  const Tree& tree_;
  std::map<NodeId, uint32_t> functions_;
  bool has_kernel_calls_ = false, has_cpp_extension_ = false;
  std::vector<ValueFlow> out_;
};

}  // namespace

std::vector<ValueFlow> find_value_flows(const Outline& outline) {
  return FlowReader(outline).run();
}

std::vector<std::pair<std::string, uint32_t>> find_exports(const Outline& outline) {
  const Tree& tree = outline.tree;
  std::vector<std::pair<std::string, uint32_t>> out;
  for (const Site& site : outline.assignments) {
    if (site.function != kNowhere || site.in_class != kNowhere) continue;
    if (!tree.is_name(tree.child(site.node), "__all__")) continue;
    for (const NodeId value : tree.children(site.node)) {
      if (tree.kind(value) != NodeKind::kList && tree.kind(value) != NodeKind::kTuple) continue;
      for (const NodeId name : tree.children(value)) {
        if (const auto text = outline.text(name))
          out.emplace_back(text->text, tree.line_first(name));
      }
    }
  }
  return out;
}

}  // namespace fathom::python
