#include <map>
#include <optional>
#include <set>

#include "base/text_parts.h"
#include "scan/python/extract.h"
#include "scan/python/name_meanings.h"
#include "scan/python/raw_kernels.h"

namespace fathom::python {
namespace {

constexpr size_t kLongestLaunch = NameMeanings::kLongest;

class LaunchFinder {
 public:
  explicit LaunchFinder(const Outline& outline)
      : outline_(outline), tree_(outline.tree), names_(outline), raw_kernels_(outline, names_) {}

  std::vector<Launch> run() {
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
    } else if (!raw(site, callee, arguments) && has_opencl_ && arguments.positional.size() >= 3) {
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
    launch.kernels = names_.meanings(site, kernel);
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
    const std::vector<NodeId>* values = names_.assigned(site, tree_.name(callee));
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

  // Whether it is the launch of a kernel that a text was compiled to: kernel(grid, block, …),
  // kernel(…, grid=…, block=…), kernel.prepared_call(grid, block, …).
  bool raw(const Site& site, NodeId callee, const CallArguments& arguments) {
    if (outline_.last_name(callee) == "prepared_call" && tree_.child(callee) != 0)
      callee = tree_.child(callee);
    const std::vector<NodeId> makers = raw_kernels_.makers(site, callee);
    const bool by_keywords = arguments.keyword("grid") != 0 && arguments.keyword("block") != 0;
    const bool has_block = arguments.positional.size() >= 2 || arguments.keyword("block") != 0;
    if (!by_keywords && (makers.empty() || !has_block)) return false;
    const bool bound =
        tree_.kind(callee) == NodeKind::kName && names_.is_bound(site, tree_.name(callee));
    Launch launch = start(site, LaunchKind::kRaw, bound ? 0 : callee);
    read_configuration(site, arguments, launch);
    raw_kernels_.name(makers, launch);
    if (launch.grid.empty() && launch.block.empty()) {  // CuPy: kernel(grid, block, arguments)
      set_grid(site, arguments.at(0), launch);
      launch.block = tree_.source(arguments.at(1), kLongestLaunch);
    }
    found_.push_back(std::move(launch));
    return true;
  }

  // PyOpenCL: program.scale(queue, work_items, block or None, …), where a text has such a kernel.
  void opencl(const Site& site, NodeId callee, const CallArguments& arguments) {
    if (tree_.kind(callee) == NodeKind::kName) {
      const std::vector<NodeId>* values = names_.assigned(site, tree_.name(callee));
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
    const std::vector<NodeId>* values = names_.assigned(site, launch.grid);
    if (values != nullptr) launch.grid_value = tree_.source(values->back(), kLongestLaunch);
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
  NameMeanings names_;
  RawKernels raw_kernels_;
  bool has_kernel_calls_ = false, has_opencl_ = false;
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
