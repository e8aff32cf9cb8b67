// Variables that are declared as attributes: `PORT = EnvInt(80)` in a class, where the class of the
// attribute reads the environment under the attribute's name.
#include <map>

#include "scan/python/environment.h"
#include "scan/python/extract.h"

namespace fathom::python {
namespace {

constexpr size_t kLongestSetting = 500;

// What makes such an attribute: the class, or a name for it with some arguments filled in.
struct Maker {
  uint32_t variable_class = kNowhere;
  std::string type;
  NodeId default_value = 0;  // that the maker gives
};

class DescriptorReader {
 public:
  DescriptorReader(const Outline& outline, std::vector<Option>& into)
      : outline_(outline), tree_(outline.tree), into_(into) {}

  void run() {
    for (const EnvironmentAccess& access : find_environment_accesses(outline_)) note_class(access);
    if (templates_.empty()) return;
    find_makers();
    for (const Site& site : outline_.assignments) {
      if (outline_.in_class_body(site)) read(site);
    }
    // The composed name that these were made of is none of its own.
    std::erase_if(into_, [&](const Option& option) {
      return option.source == OptionSource::kEnvironment && expanded_.contains(option.names[0]);
    });
  }

 private:
  // A class with a method that reads a name which is not its constructor's argument.
  void note_class(const EnvironmentAccess& access) {
    if (access.written || access.site.in_class == kNowhere || access.site.function == kNowhere) {
      return;
    }
    constexpr size_t kMost = 64;  // each is searched for in the whole file
    if (templates_.contains(access.site.in_class) || templates_.size() == kMost) return;
    const Definition& method = outline_.functions[access.site.function];
    if (!method.method || method.name == "__init__") return;
    if (tree_.kind(access.name) == NodeKind::kName) {
      const auto place =
          outline_.parameter(access.site.function, tree_.token(tree_[access.name].first));
      if (!place || place->position == 0) return;
      templates_[access.site.in_class] = template_of_calls(method, place->position);
    } else if (tree_.kind(access.name) == NodeKind::kAttribute &&
               tree_.is_name(tree_.child(access.name), "self")) {
      note_attribute(access.site.in_class, tree_.extra(access.name));
    }
  }

  // Who calls `x._init(f"PREFIX_{name}")` says how the name is made of the attribute's.
  std::string template_of_calls(const Definition& method, size_t position) const {
    for (const Site& site : outline_.calls) {
      const NodeId callee = tree_.child(site.node);
      if (tree_.kind(callee) != NodeKind::kAttribute || tree_.extra(callee) != method.name)
        continue;
      const NodeId name = outline_.arguments(site.node).at(position - 1);
      const auto text = name == 0 ? std::nullopt : outline_.text(name);
      if (text && text->composed) return text->text;
    }
    return "{name}";
  }

  // self.x as __set_name__ sets it.
  void note_attribute(uint32_t in_class, std::string_view attribute) {
    for (const Site& site : outline_.assignments) {
      if (site.in_class != in_class || site.function == kNowhere) continue;
      const NodeId target = tree_.child(site.node), value = tree_.child(site.node, 1);
      if (tree_.kind(target) != NodeKind::kAttribute || tree_.extra(target) != attribute) continue;
      if (outline_.functions[site.function].name != "__set_name__") continue;
      const auto text = outline_.text(value);
      templates_[in_class] = text && text->composed ? text->text : "{name}";
    }
  }

  std::string_view class_named(NodeId expression, std::string* type) const {
    if (tree_.kind(expression) == NodeKind::kSubscript) {  // EnvVar[int]
      if (type != nullptr) *type = tree_.source(tree_.child(expression, 1), kLongestSetting);
      expression = tree_.child(expression);
    }
    return outline_.last_name(expression);
  }

  void find_makers() {
    for (const auto& [index, name_template] : templates_) {
      makers_[outline_.classes[index].name] = {index, "", 0};
    }
    for (const auto& one : outline_.classes) {  // subclasses, in order of definition
      const NodeId bases = tree_.child_of_kind(one.node, NodeKind::kArguments);
      for (const NodeId base : tree_.children(bases)) {
        std::string type;
        const auto found = makers_.find(class_named(base, &type));
        if (found == makers_.end()) continue;
        Maker maker = found->second;
        if (!type.empty()) maker.type = type;
        makers_.emplace(one.name, maker);
      }
    }
    for (const Site& site : outline_.assignments) find_alias(site);
  }

  // EnvInt = partial(EnvVar[int], fn=int)
  void find_alias(const Site& site) {
    const NodeId target = tree_.child(site.node), value = tree_.child(site.node, 1);
    if (tree_.kind(site.node) != NodeKind::kAssign || tree_.kind(target) != NodeKind::kName) return;
    NodeId made = value;
    NodeId default_value = 0;
    if (tree_.kind(value) == NodeKind::kCall) {
      if (outline_.last_name(tree_.child(value)) != "partial") return;
      const CallArguments arguments = outline_.arguments(value);
      made = arguments.at(0);
      for (const auto& [keyword, argument] : arguments.keywords) {
        if (keyword.starts_with("default")) default_value = argument;
      }
    }
    std::string type;
    const auto found = makers_.find(class_named(made, &type));
    if (found == makers_.end()) return;
    Maker maker = found->second;
    if (!type.empty()) maker.type = type;
    if (default_value != 0) maker.default_value = default_value;
    makers_.emplace(tree_.name(target), maker);
  }

  void read(const Site& site) {
    const NodeId target = tree_.child(site.node);
    const NodeId value = tree_.assigned_value(site.node);
    if (tree_.kind(target) != NodeKind::kName || tree_.kind(value) != NodeKind::kCall) return;
    std::string type;
    const auto found = makers_.find(class_named(tree_.child(value), &type));
    if (found == makers_.end()) return;
    const Maker& maker = found->second;
    expanded_.insert(templates_.at(maker.variable_class));
    Option option;
    option.source = OptionSource::kEnvironment;
    option.names = {filled(templates_.at(maker.variable_class), tree_.name(target))};
    option.type = type.empty() ? maker.type : type;
    option.via = tree_.source(tree_.child(value), 100);
    option.line = tree_.line_first(site.node);
    option.help = outline_.comment_at(option.line, tree_.line_last(site.node), false);
    option.function = outline_.classes[site.in_class].name;
    const CallArguments arguments = outline_.arguments(value);
    NodeId given = arguments.at(0);
    for (const auto& [keyword, argument] : arguments.keywords) {
      if (keyword.starts_with("default")) given = argument;
    }
    if (given == 0) given = maker.default_value;
    if (given != 0) option.default_value = tree_.source(given, kLongestSetting);
    // The call that reads it may have been seen, too; it knows less.
    std::erase_if(into_, [&](const Option& other) {
      return other.source == OptionSource::kEnvironment && other.names == option.names;
    });
    into_.push_back(std::move(option));
  }

  // The attribute's name stands for the last part that is not known.
  static std::string filled(const std::string& name_template, std::string_view attribute) {
    const size_t open = name_template.rfind('{');
    const size_t close = open == std::string::npos ? open : name_template.find('}', open);
    if (close == std::string::npos) return std::string(attribute);
    return name_template.substr(0, open) + std::string(attribute) + name_template.substr(close + 1);
  }

  const Outline& outline_;
  const Tree& tree_;
  std::vector<Option>& into_;
  std::map<uint32_t, std::string> templates_;  // class → how its variables are named
  std::map<std::string, Maker, std::less<>> makers_;
  std::set<std::string> expanded_;
};

}  // namespace

void find_environment_classes(const Outline& outline, std::vector<Option>& into) {
  DescriptorReader(outline, into).run();
}

}  // namespace fathom::python
