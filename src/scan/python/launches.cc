#include <map>
#include <optional>
#include <set>

#include "base/text_parts.h"
#include "scan/python/extract.h"

namespace fathom::python {
namespace {

constexpr size_t kLongestLaunch = 500;
constexpr size_t kLooksOfNode = 4;  // entries of dictionaries that are looked at, for each node

class LaunchFinder {
 public:
  explicit LaunchFinder(const Outline& outline) : outline_(outline), tree_(outline.tree) {}

  std::vector<Launch> run() {
    has_raw_kernels_ = outline_.names.contains("RawKernel") ||
                       outline_.names.contains("get_function") ||
                       outline_.names.contains("_compile_kernel");
    has_kernel_calls_ = names_kernel_calls(outline_);
    has_opencl_ = outline_.names.contains("pyopencl");
    for (const Site& site : outline_.calls) read(site);
    return std::move(found_);
  }

 private:
  void read(const Site& site) {
    const NodeId callee = tree_.child(site.node);
    if (tree_.kind(callee) == NodeKind::kSubscript) return subscript(site, callee);
    if (const NodeId bound = bound_subscript(site, callee)) return subscript(site, bound);
    const CallArguments arguments = outline_.arguments(site.node);
    const KernelCall call = has_kernel_calls_ ? kernel_call(outline_, site.node) : KernelCall();
    if (call.rule != nullptr) {
      if (call.rule->does == KernelCallKind::kNamed) return;
      return api(site, *call.rule, arguments);
    }
    if (outline_.last_name(callee) == "run" && tree_.kind(callee) == NodeKind::kAttribute &&
        arguments.keyword("grid") != 0) {
      return run(site, tree_.child(callee), arguments);
    }
    if (outline_.last_name(callee) == "launch" && tree_.kind(callee) == NodeKind::kAttribute) {
      if (tree_.kind(tree_.child(callee)) == NodeKind::kCall) {
        cute(site, tree_.child(callee), arguments);
      } else if (arguments.keyword("grid") != 0) {
        cute_variable(site, tree_.child(callee), arguments);
      }
    } else if (arguments.keyword("grid") != 0 && arguments.keyword("block") != 0) {
      raw(site, callee, arguments);
    } else if (is_raw_kernel(site, callee) &&
               (arguments.positional.size() >= 2 || arguments.keyword("block") != 0)) {
      raw(site, callee, arguments);
    } else if (outline_.last_name(callee) == "prepared_call" &&
               is_raw_kernel(site, tree_.child(callee))) {
      raw(site, tree_.child(callee), arguments);
    } else if (has_opencl_ && arguments.positional.size() >= 3) {
      opencl(site, callee, arguments);
    }
  }

  Launch start(const Site& site, LaunchKind kind, NodeId kernel) {
    Launch launch;
    launch.kind = kind;
    launch.kernel = tree_.source(kernel, kLongestLaunch);
    launch.function = outline_.function_name(site.function);
    launch.line_first = tree_.line_first(site.node);
    launch.line_last = tree_.line_last(site.node);
    meanings(site, kernel, launch.kernels, 0);
    return launch;
  }

  void subscript(const Site& site, NodeId callee) {
    const NodeId kernel = tree_.child(callee), grid = tree_.child(callee, 1);
    if (outline_.last_name(kernel).empty() && tree_.kind(kernel) != NodeKind::kCall &&
        tree_.kind(kernel) != NodeKind::kSubscript) {
      return;
    }
    Launch launch = start(site, LaunchKind::kSubscript, kernel);
    if (tree_.kind(kernel) == NodeKind::kCall)
      launch.wrapped = tree_.name(outline_.arguments(kernel).at(0));
    set_grid(site, grid, launch);
    launch.arguments = arguments_of(site.node);
    found_.push_back(std::move(launch));
  }

  // `launch = kernel[grid]`, `launch = partial(kernel[grid], x)`: the subscript; 0: neither.
  NodeId bound_subscript(const Site& site, NodeId callee) {
    if (tree_.kind(callee) != NodeKind::kName || !has_subscripts()) return 0;
    const std::vector<NodeId>* values = assigned(site, tree_.name(callee));
    if (values == nullptr) return 0;
    NodeId value = values->back();
    if (tree_.kind(value) == NodeKind::kCall &&
        outline_.last_name(tree_.child(value)) == "partial") {
      value = outline_.arguments(value).at(0);
    }
    return tree_.kind(value) == NodeKind::kSubscript ? value : 0;
  }

  // Whether a name is set to a subscript at all: most files need no look at what names are set to.
  bool has_subscripts() {
    if (has_subscripts_) return *has_subscripts_;
    has_subscripts_ = false;
    for (const Site& site : outline_.assignments) {
      const NodeId value = tree_.assigned_value(site.node);
      const NodeKind kind = value == 0 ? NodeKind::kNone : tree_.kind(value);
      const bool partial =
          kind == NodeKind::kCall && outline_.last_name(tree_.child(value)) == "partial";
      if (kind == NodeKind::kSubscript || partial) has_subscripts_ = true;
    }
    return *has_subscripts_;
  }

  // kernel.run(…, grid=grid, warmup=False): what kernel[grid](…) calls.
  void run(const Site& site, NodeId kernel, const CallArguments& arguments) {
    Launch launch = start(site, LaunchKind::kSubscript, kernel);
    set_grid(site, arguments.keyword("grid"), launch);
    launch.arguments = arguments_of(site.node);
    std::erase_if(launch.arguments,
                  [](const Argument& one) { return one.name == "grid" || one.name == "warmup"; });
    found_.push_back(std::move(launch));
  }

  void cute(const Site& site, NodeId inner, const CallArguments& arguments) {
    Launch launch = start(site, LaunchKind::kCute, tree_.child(inner));
    launch.arguments = arguments_of(inner);
    read_configuration(site, arguments, launch);
    found_.push_back(std::move(launch));
  }

  // bound = kernel(…); bound.launch(grid=…)
  void cute_variable(const Site& site, NodeId bound, const CallArguments& arguments) {
    Launch launch = start(site, LaunchKind::kCute, bound);
    read_configuration(site, arguments, launch);
    found_.push_back(std::move(launch));
  }

  static NodeId argument(const CallArguments& arguments, const ArgumentPlace& place) {
    if (place.keyword.empty()) return 0;
    const NodeId named = arguments.keyword(place.keyword);
    return named != 0 || !place.position ? named : arguments.at(*place.position);
  }

  // ct.launch(stream, grid, kernel, (…)), pl.pallas_call(kernel, grid=…)
  void api(const Site& site, const KernelCallRule& rule, const CallArguments& arguments) {
    const NodeId kernel = argument(arguments, rule.kernel);
    if (kernel == 0) return;
    Launch launch = start(site, LaunchKind::kApi, kernel);
    launch.via = tree_.source(tree_.child(site.node), kLongestLaunch);
    launch.makes = rule.kind;
    launch.stream = tree_.source(argument(arguments, rule.stream), kLongestLaunch);
    launch.block = tree_.source(argument(arguments, rule.block), kLongestLaunch);
    set_grid(site, argument(arguments, rule.grid), launch);
    const NodeId passed = argument(arguments, rule.arguments);
    if (tree_.kind(passed) == NodeKind::kTuple || tree_.kind(passed) == NodeKind::kList) {
      for (const NodeId item : tree_.children(passed)) {
        launch.arguments.push_back({"", tree_.source(item, kLongestLaunch)});
      }
    }
    found_.push_back(std::move(launch));
  }

  void raw(const Site& site, NodeId callee, const CallArguments& arguments) {
    const bool bound = tree_.kind(callee) == NodeKind::kName && is_bound(site, tree_.name(callee));
    Launch launch = start(site, LaunchKind::kRaw, bound ? 0 : callee);
    read_configuration(site, arguments, launch);
    name_raw(site, callee, launch);
    if (launch.grid.empty() && launch.block.empty()) {  // CuPy: kernel(grid, block, arguments)
      set_grid(site, arguments.at(0), launch);
      launch.block = tree_.source(arguments.at(1), kLongestLaunch);
    }
    found_.push_back(std::move(launch));
  }

  // PyOpenCL: program.scale(queue, work_items, block or None, …), where a text has such a kernel.
  void opencl(const Site& site, NodeId callee, const CallArguments& arguments) {
    if (tree_.kind(callee) == NodeKind::kName) {
      const std::vector<NodeId>* values = assigned(site, tree_.name(callee));
      if (values == nullptr) return;
      callee = values->back();
    }
    if (tree_.kind(callee) != NodeKind::kAttribute) return;
    Launch launch = start(site, LaunchKind::kRaw, callee);
    launch.named = {std::string(outline_.last_name(callee))};
    launch.block = tree_.source(arguments.at(2), kLongestLaunch);
    if (launch.block == "None") launch.block.clear();
    found_.push_back(std::move(launch));
  }

  // The calls of cupy.RawKernel(…) or module.get_function(…) that a name or a member of self was
  // set to, or the one that is launched where it stands.
  std::vector<NodeId> makers_of_raw(const Site& site, NodeId callee) {
    constexpr size_t kMost = 8;
    if (!has_raw_kernels_) return {};
    std::vector<NodeId> made = {callee};
    const NodeKind kind = tree_.kind(callee);
    if (kind == NodeKind::kName || kind == NodeKind::kAttribute) {
      const std::string name = tree_.source(callee, kLongestLaunch);
      if (kind == NodeKind::kName && is_bound(site, name)) return {};
      const std::vector<NodeId>* values = assigned(site, name);
      if (values == nullptr && name.starts_with("self.")) values = assigned_in_class(site, name);
      if (values == nullptr || values->size() > kMost) return {};
      made = *values;
    }
    std::erase_if(made, [this](NodeId one) {
      return tree_.kind(one) != NodeKind::kCall ||
             !is_one_of(outline_.last_name(tree_.child(one)),
                        {"RawKernel", "get_function", "_compile_kernel"});
    });
    return made;
  }

  bool is_raw_kernel(const Site& site, NodeId callee) {
    return !makers_of_raw(site, callee).empty();
  }

  // RawKernel(source, "name"), get_function("name"); nothing where it is not written there.
  void name_raw(const Site& site, NodeId callee, Launch& launch) {
    for (const NodeId made : makers_of_raw(site, callee)) {
      const CallArguments arguments = outline_.arguments(made);
      const bool of_module = outline_.last_name(tree_.child(made)) == "get_function";
      launch.named_by_module |= of_module;
      NodeId name = arguments.at(of_module ? 0 : 1);
      for (const std::string_view keyword : {"name", "kernel_name"})
        if (name == 0) name = arguments.keyword(keyword);
      std::string text = literal_at(name);
      text.resize(std::min(text.size(), text.find('<')));
      if (!text.empty() && !contains(launch.named, text)) launch.named.push_back(std::move(text));
    }
  }

  // A parameter, or the variable of a loop around: no kernel of the file.
  bool is_bound(const Site& site, std::string_view name) const {
    for (NodeId at = site.node; at != 0; at = outline_.parent(at)) {
      const NodeKind kind = tree_.kind(at);
      if (kind == NodeKind::kFunction) break;
      if (kind == NodeKind::kFor && tree_.is_name(tree_.child(at), name)) return true;
      if (kind != NodeKind::kComprehension) continue;
      for (const NodeId part : tree_.children(at)) {
        if (tree_.kind(part) == NodeKind::kComprehensionFor &&
            tree_.is_name(tree_.child(part), name))
          return true;
      }
    }
    return is_parameter(site.function, name);
  }

  bool is_parameter(uint32_t function, std::string_view name) const {
    if (function == kNowhere) return false;
    const NodeId list =
        tree_.child_of_kind(outline_.functions[function].node, NodeKind::kParameters);
    for (const NodeId one : tree_.children(list))
      if (tree_.name(one) == name || tree_.extra(one) == name) return true;
    return false;
  }

  void read_configuration(const Site& site, const CallArguments& arguments, Launch& launch) {
    for (const auto& [keyword, value] : arguments.keywords) {
      const std::string text = tree_.source(value, kLongestLaunch);
      if (keyword == "grid") {
        set_grid(site, value, launch);
      } else if (keyword == "block") {
        launch.block = text;
      } else if (keyword == "cluster") {
        launch.cluster = text;
      } else if (keyword == "smem" || keyword == "shared" || keyword == "shared_mem") {
        launch.shared_memory = text;
      } else if (keyword == "stream") {
        launch.stream = text;
      } else {
        launch.attributes.push_back({std::string(keyword), text});
      }
    }
  }

  void set_grid(const Site& site, NodeId grid, Launch& launch) {
    if (grid == 0) return;
    launch.grid = tree_.source(grid, kLongestLaunch);
    const std::vector<NodeId>* values = assigned(site, launch.grid);
    if (values != nullptr) launch.grid_value = tree_.source(values->back(), kLongestLaunch);
  }

  // Most files launch nothing, and need none of this.
  void read_assignments() {
    if (assignments_read_) return;
    assignments_read_ = true;
    for (const Site& site : outline_.assignments) {
      const NodeId target = tree_.child(site.node), value = tree_.assigned_value(site.node);
      if (value == 0) continue;
      if (tree_.kind(target) == NodeKind::kTuple) {
        assign_parts(site, target, value);
      } else {
        assign(site, target, value);
      }
    }
  }

  void assign(const Site& site, NodeId target, NodeId value) {
    const NodeKind kind = tree_.kind(target);
    if (value == 0 || (kind != NodeKind::kName && kind != NodeKind::kAttribute)) return;
    assigned_[{site.function, tree_.source(target, kLongestLaunch)}].push_back(value);
  }

  // What `a, b = value` gives to its names: of a tuple the part in the same place, of a call the
  // call.
  void assign_parts(const Site& site, NodeId targets, NodeId value) {
    const bool tuple = tree_.kind(value) == NodeKind::kTuple;
    if (!tuple && tree_.kind(value) != NodeKind::kCall) return;
    NodeId part = tuple ? tree_.child(value) : value;
    for (const NodeId target : tree_.children(targets)) {
      assign(site, target, part);
      if (tuple && part != 0) part = tree_[part].next;
    }
  }

  // What a name or attribute is set to in the function, or else in the ones around it.
  const std::vector<NodeId>* assigned(const Site& site, std::string_view name) {
    read_assignments();
    uint32_t function = site.function;
    while (true) {
      const auto found = assigned_.find({function, std::string(name)});
      if (found != assigned_.end()) return &found->second;
      if (function == kNowhere) return nullptr;
      function = outline_.functions[function].function;
    }
  }

  // What a member is set to in the methods of the class.
  const std::vector<NodeId>* assigned_in_class(const Site& site, const std::string& name) {
    if (site.function == kNowhere) return nullptr;
    if (members_.empty()) {
      for (const auto& [place, values] : assigned_) {
        if (place.first != kNowhere && place.second.starts_with("self."))
          members_.try_emplace({outline_.functions[place.first].in_class, place.second}, &values);
      }
    }
    const auto found = members_.find({outline_.functions[site.function].in_class, name});
    return found == members_.end() ? nullptr : found->second;
  }

  // The text of a string literal without its quotes; empty: it is none.
  std::string literal_at(NodeId node) const {
    if (node == 0 || tree_.kind(node) != NodeKind::kString) return {};
    const std::string text = tree_.source(node, kLongestLaunch);
    const bool quoted = text.size() > 2 && (text[0] == '"' || text[0] == '\'');
    return quoted ? text.substr(1, text.size() - 2) : std::string();
  }

  // What the innermost subscript around a table says, where that is a literal.
  std::string take_key() {
    if (keys_.empty()) return {};
    std::string key = std::move(keys_.back());
    keys_.pop_back();
    return key;
  }

  void meanings(const Site& site, NodeId kernel, std::vector<std::string>& out, int depth) {
    constexpr size_t kMost = 16, kMostTries = 400;  // k = k, many times over, means nothing
    if (depth == 0) {
      tries_ = 0;
      keys_.clear();
    }
    if (depth > 8 || out.size() >= kMost || kernel == 0 || ++tries_ > kMostTries) return;
    switch (tree_.kind(kernel)) {
      case NodeKind::kName:
      case NodeKind::kAttribute: {
        std::string name = tree_.source(kernel, kLongestLaunch);
        if (name == "None") return;
        if (name.ends_with("._pyfunc")) name.resize(name.size() - 8);  // what cuTile wrapped
        const std::vector<NodeId>* values = assigned(site, name);
        if (values == nullptr) {
          if (!contains(out, name)) out.push_back(name);
          return;
        }
        const size_t before = out.size();
        for (const NodeId value : *values) {
          if (out.size() >= kMost || tries_ > kMostTries) break;
          meanings(site, value, out, depth + 1);
        }
        if (out.size() == before && depth == 0) out.push_back(name);
        return;
      }
      case NodeKind::kConditional: {
        uint32_t index = 0;
        for (const NodeId part : tree_.children(kernel)) {  // value, test, value …
          if (index++ % 2 == 0) meanings(site, part, out, depth + 1);
        }
        return;
      }
      case NodeKind::kSubscript: {  // {True: a, False: b}[flag], TABLE[name]["update"]
        keys_.push_back(literal_at(tree_.child(kernel, 1)));
        meanings(site, tree_.child(kernel), out, depth + 1);
        keys_.pop_back();
        return;
      }
      case NodeKind::kDict: {
        const bool asked = !keys_.empty();
        const std::string key = take_key();
        for (const NodeId pair : tree_.children(kernel)) {
          // A large table that each launch looks into must not cost its square.
          if (++looks_ > kLooksOfNode * tree_.nodes.size()) break;
          if (tree_.kind(pair) != NodeKind::kPair) continue;
          const std::string of_pair = literal_at(tree_.child(pair));
          if (key.empty() || of_pair.empty() || key == of_pair)
            meanings(site, tree_.child(pair, 1), out, depth + 1);
        }
        if (asked) keys_.push_back(key);
        return;
      }
      case NodeKind::kList:
      case NodeKind::kTuple: {
        const bool asked = !keys_.empty();
        const std::string key = take_key();
        for (const NodeId item : tree_.children(kernel)) meanings(site, item, out, depth + 1);
        if (asked) keys_.push_back(key);
        return;
      }
      case NodeKind::kBoolean:  // tuned or plain
        for (const NodeId part : tree_.children(kernel)) meanings(site, part, out, depth + 1);
        return;
      case NodeKind::kCall: {
        // triton.jit(f), partial(f, …), heuristics(…)(f), kernel.replace_hints(…), and
        // bound = kernel(…).
        const NodeId callee = tree_.child(kernel);
        const std::string_view maker = outline_.last_name(callee);
        const NodeId first = outline_.arguments(kernel).at(0);
        const bool wraps =
            is_one_of(maker, {"jit", "partial", "compile", "wrap_triton", "capture_triton"}) ||
            outline_.path(callee) == "cuda.tile.kernel" || maker.empty();
        if (wraps && first != 0) return meanings(site, first, out, depth + 1);
        // TABLE.get(key) is one of its values, kernel.replace_hints(…) the kernel.
        const bool changes = (maker == "replace_hints" || maker == "get") &&
                             tree_.kind(callee) == NodeKind::kAttribute;
        return meanings(site, changes ? tree_.child(callee) : callee, out, depth + 1);
      }
      default:
        return;
    }
  }

  std::vector<Argument> arguments_of(NodeId call) const {
    std::vector<Argument> out;
    for (NodeId at = tree_[tree_.child(call)].next; at != 0; at = tree_[at].next) {
      Argument argument;
      if (tree_.kind(at) == NodeKind::kKeyword) argument.name = tree_.extra(at);
      if (tree_.kind(at) == NodeKind::kStarred) argument.name = "*";
      if (tree_.kind(at) == NodeKind::kDoubleStarred) argument.name = "**";
      const NodeId value = argument.name.empty() ? at : tree_.child(at);
      argument.text = tree_.source(value, kLongestLaunch);
      out.push_back(std::move(argument));
    }
    return out;
  }

  const Outline& outline_;
  const Tree& tree_;
  std::map<std::pair<uint32_t, std::string>, std::vector<NodeId>> assigned_;
  // Of members by class, filled when first asked for.
  std::map<std::pair<uint32_t, std::string>, const std::vector<NodeId>*> members_;
  size_t looks_ = 0;
  size_t tries_ = 0;               // to find what one kernel means
  std::vector<std::string> keys_;  // of the subscripts on the way to it, the innermost last
  bool assignments_read_ = false, has_raw_kernels_ = false, has_kernel_calls_ = false,
       has_opencl_ = false;
  std::optional<bool> has_subscripts_;
  std::vector<Launch> found_;
};

}  // namespace

std::vector<Launch> find_launches(const Outline& outline) { return LaunchFinder(outline).run(); }

std::vector<HandedName> find_handed_names(const Outline& outline, const PythonFile& file) {
  constexpr size_t kMost = 2000;  // of a file
  // A kernel is decorated where it is defined; an imported one is known by its name only.
  std::set<std::string_view> decorated, imported, modules;
  for (const Function& function : file.functions) {
    if (function.scope.empty() && !function.decorators.empty()) decorated.insert(function.name);
  }
  for (const Import& import : file.imports) {
    imported.insert(import.bound_to);
    if (import.name.empty() && import.module == import.bound_to) modules.insert(import.bound_to);
  }
  if (decorated.empty() && imported.empty()) return {};
  const Tree& tree = outline.tree;
  std::vector<HandedName> out;
  std::set<std::pair<size_t, std::string>> seen;  // functions of modules: once for each function
  const auto add = [&](const Site& site, NodeId value, size_t position, std::string_view keyword) {
    const NodeKind kind = tree.kind(value);
    if (kind != NodeKind::kName && kind != NodeKind::kAttribute) return;
    const std::string_view last = outline.last_name(value);
    const bool own = kind == NodeKind::kName && decorated.contains(last);
    const bool kernel = own || holds(last, "kernel");
    if (!kernel && (kind != NodeKind::kAttribute || site.function == kNowhere)) return;
    std::string name = tree.source(value, kLongestLaunch);
    const std::string_view head = std::string_view(name).substr(0, name.find('.'));
    if (!own && !(kernel ? imported : modules).contains(head)) return;
    if (!kernel && !seen.emplace(site.function, name).second) return;
    if (out.size() == kMost) return;
    HandedName handed;
    handed.callee = tree.source(tree.child(site.node), kLongestLaunch);
    handed.name = std::move(name);
    handed.position = position;
    handed.keyword = keyword;
    handed.function = outline.function_name(site.function);
    handed.line_first = tree.line_first(site.node);
    handed.line_last = tree.line_last(site.node);
    out.push_back(std::move(handed));
  };
  for (const Site& site : outline.calls) {
    const NodeKind callee = tree.kind(tree.child(site.node));
    if (callee != NodeKind::kName && callee != NodeKind::kAttribute) continue;
    const CallArguments arguments = outline.arguments(site.node);
    for (size_t i = 0; i < arguments.positional.size(); ++i)
      add(site, arguments.positional[i], i, "");
    for (const auto& [keyword, value] : arguments.keywords) add(site, value, SIZE_MAX, keyword);
  }
  return out;
}

}  // namespace fathom::python
