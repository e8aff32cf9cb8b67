#include "scan/python/raw_kernels.h"

#include <algorithm>

#include "base/text_parts.h"

namespace fathom::python {
namespace {

constexpr std::string_view kOfModule = "get_function";

}  // namespace

RawKernels::RawKernels(const Outline& outline, NameMeanings& names)
    : outline_(outline),
      tree_(outline.tree),
      names_(names),
      places_{{"RawKernel", 1}, {kOfModule, 0}, {"_compile_kernel", 1}} {
  has_any_ = std::ranges::any_of(
      places_, [&outline](const auto& maker) { return outline.names.contains(maker.first); });
  if (has_any_) find_helpers();
}

// def kernel(name): return module.get_function(name)
void RawKernels::find_helpers() {
  const std::map<std::string_view, size_t> direct = places_;
  for (const Site& site : outline_.calls) {
    const auto maker = direct.find(outline_.last_name(tree_.child(site.node)));
    if (maker == direct.end() || site.function == kNowhere) continue;
    const Definition& function = outline_.functions[site.function];
    const NodeId asked = outline_.arguments(site.node).find(maker->second, "name");
    if (!function.gives_back || asked == 0 || tree_.kind(asked) != NodeKind::kName) continue;
    size_t place = 0;
    for (const NodeId one :
         tree_.children(tree_.child_of_kind(function.node, NodeKind::kParameters))) {
      const auto is_called = [&](std::string_view name) {
        return tree_.name(one) == name || tree_.extra(one) == name;
      };
      if (is_called(tree_.name(asked))) places_.try_emplace(function.name, place);
      place += function.method && is_called("self") ? 0 : 1;
    }
  }
}

const size_t* RawKernels::name_place(NodeId call) const {
  if (tree_.kind(call) != NodeKind::kCall) return nullptr;
  const auto found = places_.find(outline_.last_name(tree_.child(call)));
  return found == places_.end() ? nullptr : &found->second;
}

std::vector<NodeId> RawKernels::makers(const Site& site, NodeId callee) {
  constexpr size_t kMost = 8;
  if (!has_any_) return {};
  std::vector<NodeId> made = {callee};
  const NodeKind kind = tree_.kind(callee);
  if (kind == NodeKind::kName || kind == NodeKind::kAttribute) {
    const std::string name = tree_.source(callee, NameMeanings::kLongest);
    if (kind == NodeKind::kName && names_.is_bound(site, name)) return {};
    const std::vector<NodeId>* values = names_.assigned(site, name);
    if (values == nullptr && name.starts_with("self."))
      values = names_.assigned_in_class(site, name);
    if (values == nullptr || values->size() > kMost) return {};
    made = *values;
  }
  std::erase_if(made, [this](NodeId one) { return name_place(one) == nullptr; });
  return made;
}

void RawKernels::name(const std::vector<NodeId>& makers, Launch& launch) const {
  for (const NodeId made : makers) {
    const CallArguments arguments = outline_.arguments(made);
    const std::string_view maker = outline_.last_name(tree_.child(made));
    launch.named_by_module |= maker != "RawKernel" && maker != "_compile_kernel";
    NodeId name = arguments.at(*name_place(made));
    for (const std::string_view keyword : {"name", "kernel_name"})
      if (name == 0) name = arguments.keyword(keyword);
    std::string text = names_.literal_at(name);
    text.resize(std::min(text.size(), text.find('<')));
    if (!text.empty() && !contains(launch.named, text)) launch.named.push_back(std::move(text));
  }
}

}  // namespace fathom::python
