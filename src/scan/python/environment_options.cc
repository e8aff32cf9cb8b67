#include <algorithm>
#include <map>
#include <set>

#include "base/ascii.h"
#include "base/text_parts.h"
#include "scan/python/environment.h"
#include "scan/python/extract.h"
#include "scan/python/option_parts.h"

namespace fathom::python {
namespace {

constexpr size_t kLongestVariable = 500;

struct Helper {
  EnvironmentHelper shown;
  bool is_used = false;  // a call in this file gives it a name
};

bool says_environment(std::string_view name) {
  const std::string lower = small_letters(name);
  const bool changes = holds(lower, "set") || holds(lower, "del");
  return holds(lower, "env") && !changes;
}

bool is_upper_case(std::string_view text) {
  if (text.size() < 3 || text[0] < 'A' || text[0] > 'Z') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string type_from_name(std::string_view helper) {
  for (const std::string_view type : {"bool", "int", "float", "list", "str"}) {
    const size_t at = helper.find(type);
    if (at == std::string_view::npos) continue;
    const bool begins = at == 0 || helper[at - 1] == '_';
    const bool ends = at + type.size() == helper.size() || helper[at + type.size()] == '_';
    if (begins && ends) return std::string(type);
  }
  return holds(helper, "flag") ? "bool" : "";
}

class EnvironmentReader {
 public:
  EnvironmentReader(const Outline& outline, PythonFile& into)
      : outline_(outline), tree_(outline.tree), into_(into) {}

  void run() {
    read_accesses();
    // A helper may call another one.
    for (int round = 0; round < 3; ++round) {
      const size_t before = helpers_.size();
      if (before == 0) break;
      for (const Site& site : outline_.calls) find_outer_helper(site);
      if (helpers_.size() == before) break;
    }
    for (const Site& site : outline_.calls) read_helper_call(site);
    for (const Option& option : composed_) {
      const auto helper = std::find_if(helpers_.begin(), helpers_.end(), [&](const Helper& h) {
        return h.is_used && h.shown.name_template == option.names[0];
      });
      if (helper == helpers_.end()) options_.emplace_back(0, option);
    }
    for (Helper& helper : helpers_) into_.environment_helpers.push_back(std::move(helper.shown));
    read_dictionaries();
    for (auto& [node, option] : options_) into_.options.push_back(std::move(option));
  }

 private:
  Option start(const Site& site, std::string via) const {
    Option option;
    option.source = OptionSource::kEnvironment;
    option.line = tree_.line_first(site.node);
    option.function = outline_.function_name(site.function);
    option.via = std::move(via);
    return option;
  }

  void read_accesses() {
    for (const EnvironmentAccess& access : find_environment_accesses(outline_)) {
      Option option = start(access.site, access.via);
      option.written = access.written;
      if (access.default_value != 0) {
        option.default_value = tree_.source(access.default_value, kLongestVariable);
      } else if (!access.written && !access.only_tested) {
        option.default_value = default_after_or(access.site.node);
      }
      option.type = access.written ? "" : type_from_use(outline_, access.site.node);
      if (access.only_tested) option.type = "";  // only whether it is set
      const bool helper =
          !access.written &&
          note_helper(access.site, access.name, access.default_value, option.default_value);
      for (const std::string& name : outline_.texts(access.name)) {
        if (!is_variable_name(name)) continue;
        option.names = {name};
        if (helper) {
          composed_.push_back(option);
        } else {
          options_.emplace_back(access.site.node, option);
        }
      }
    }
  }

  // os.getenv("X") or "y"
  std::optional<std::string> default_after_or(NodeId read) const {
    const NodeId parent = outline_.parent(read);
    if (tree_.kind(parent) != NodeKind::kBoolean) return {};
    if (tree_.token(tree_[parent].extra) != "or" || tree_.child(parent) != read) return {};
    const NodeId last = tree_.child(parent, tree_.child_count(parent) - 1);
    const NodeKind kind = tree_.kind(last);
    if (kind != NodeKind::kString && kind != NodeKind::kNumber && kind != NodeKind::kName)
      return {};
    return tree_.source(last, kLongestVariable);
  }

  // The parameter that the name consists of, alone or with a prefix; its template.
  std::optional<Outline::ParameterPlace> named_parameter(uint32_t function, NodeId name,
                                                         std::string& name_template) const {
    if (tree_.kind(name) == NodeKind::kName) {
      const std::string_view parameter = tree_.name(name);
      name_template = "{" + std::string(parameter) + "}";
      return outline_.parameter(function, parameter);
    }
    const std::optional<StringContent> text = outline_.text(name);
    if (!text || !text->composed) return {};
    name_template = text->text;
    for (const NodeId part : tree_.children(name)) {
      const NodeId value = tree_.kind(part) == NodeKind::kField ? tree_.child(part) : part;
      if (tree_.kind(value) != NodeKind::kName) continue;
      const std::string_view parameter = tree_.name(value);
      if (outline_.constant(parameter) != 0) continue;
      if (const auto place = outline_.parameter(function, parameter)) return place;
    }
    return {};
  }

  // default or str(default)
  bool mentions(NodeId expression, std::string_view name) const {
    for (uint32_t i = tree_[expression].first; i <= tree_[expression].last; ++i) {
      if (tree_.tokens.tokens[i].kind == TokenKind::kName && tree_.token(i) == name) return true;
    }
    return false;
  }

  bool note_helper(const Site& site, NodeId name, NodeId default_node,
                   const std::optional<std::string>& default_value) {
    std::string name_template;
    const auto place = named_parameter(site.function, name, name_template);
    if (!place) return false;
    const Definition& function = outline_.functions[place->function];
    if (helper_functions_.contains(place->function)) return true;
    // What changes a variable for a while reads it too, but not to know what it says.
    const std::string_view verb =
        std::string_view(function.name)
            .substr(std::min(function.name.find_first_not_of('_'), function.name.size()));
    if (verb.starts_with("set") || verb.starts_with("temp") || verb.starts_with("override")) {
      return false;
    }
    const bool constructor = function.method && function.name == "__init__";
    const size_t self = function.method ? 1 : 0;
    if (place->position < self) return false;
    EnvironmentHelper helper;
    helper.function = constructor ? outline_.classes[function.in_class].name : function.name;
    helper.name_template = name_template;
    helper.name_parameter = tree_.extra(place->node);
    helper.name_position = place->position - self;
    helper.line = tree_.line_first(function.node);
    helper.default_value = default_value;
    // What an object holds is not known here.
    if (default_value && default_value->starts_with("self.")) helper.default_value.reset();
    const NodeId parameters = tree_.child_of_kind(function.node, NodeKind::kParameters);
    size_t position = 0;
    for (const NodeId parameter : tree_.children(parameters)) {
      if ((tree_[parameter].flags & kIsMark) != 0) continue;
      if (position < self) {  // `self` in self.default is no default
        ++position;
        continue;
      }
      const std::string_view parameter_name = tree_.extra(parameter);
      const bool is_default = default_node != 0 ? mentions(default_node, parameter_name)
                                                : parameter_name.starts_with("default");
      if (is_default && parameter != place->node && helper.default_parameter.empty()) {
        helper.default_parameter = parameter_name;
        helper.default_position = position - std::min(position, self);
        helper.default_value.reset();
        const bool has_default = (tree_[parameter].flags & kHasDefault) != 0;
        const bool annotated = (tree_[parameter].flags & kHasAnnotation) != 0;
        if (has_default) {
          helper.default_value =
              tree_.source(tree_.child(parameter, annotated ? 1 : 0), kLongestVariable);
        }
      }
      ++position;
    }
    helper_functions_.insert(place->function);
    helper_by_name_.emplace(helper.function, helpers_.size());
    helpers_.push_back({std::move(helper)});
    return true;
  }

  Helper* helper_called(NodeId call) {
    const std::string_view name = outline_.last_name(tree_.child(call));
    const auto found = helper_by_name_.find(name);
    return found == helper_by_name_.end() ? nullptr : &helpers_[found->second];
  }

  void find_outer_helper(const Site& site) {
    const Helper* helper = helper_called(site.node);
    if (helper == nullptr || site.function == kNowhere) return;
    const EnvironmentHelper shown = helper->shown;
    const CallArguments arguments = outline_.arguments(site.node);
    const NodeId name = arguments.find(*shown.name_position, shown.name_parameter);
    const NodeId value = shown.default_parameter.empty()
                             ? 0
                             : arguments.find(*shown.default_position, shown.default_parameter);
    if (name == 0) return;
    std::optional<std::string> text = shown.default_value;
    if (value != 0) text = tree_.source(value, kLongestVariable);
    note_helper(site, name, value, text);
  }

  void read_helper_call(const Site& site) {
    Helper* helper = helper_called(site.node);
    const CallArguments arguments = outline_.arguments(site.node);
    if (helper == nullptr) return read_unknown_helper(site, arguments);
    const EnvironmentHelper& shown = helper->shown;
    const NodeId name = arguments.find(*shown.name_position, shown.name_parameter);
    if (name == 0) return;
    Option option = start(site, shown.function);
    option.default_value = shown.default_value;
    if (!shown.default_parameter.empty()) {
      const NodeId value = arguments.find(*shown.default_position, shown.default_parameter);
      if (value != 0) option.default_value = tree_.source(value, kLongestVariable);
    }
    option.type = type_from_use(outline_, site.node);
    if (option.type.empty()) option.type = type_from_name(shown.function);
    if (const NodeId choices = arguments.keyword("choices"); choices != 0) {
      option.choices = choices_of(outline_, choices);
    }
    const std::string marked = "{" + shown.name_parameter + "}";
    for (const std::string& text : outline_.texts(name)) {
      std::string full = shown.name_template;
      const size_t at = full.find(marked);
      if (at != std::string::npos) full.replace(at, marked.size(), text);
      if (!is_variable_name(full)) continue;
      option.names = {full};
      options_.emplace_back(site.node, option);
      helper->is_used = true;
    }
  }

  // env_bool("NAME", default), defined in some other file.
  void read_unknown_helper(const Site& site, const CallArguments& arguments) {
    const NodeId callee = tree_.child(site.node);
    const std::string_view last = outline_.last_name(callee);
    if (arguments.positional.empty() || !says_environment(last)) return;
    const NodeId name = arguments.positional[0];
    if (tree_.kind(name) != NodeKind::kString) return;
    const std::string path = outline_.path(callee);
    if (path.starts_with("os.")) return;
    const StringContent content = content_of(tree_, name);
    if (!content.composed && !is_upper_case(content.text)) return;
    if (!is_variable_name(content.text)) return;
    Option option = start(site, tree_.source(callee, 100));
    option.names = {content.text};
    option.certain = false;
    if (const NodeId value = arguments.find(1, "default"); value != 0) {
      option.default_value = tree_.source(value, kLongestVariable);
    }
    option.type = type_from_use(outline_, site.node);
    if (option.type.empty()) option.type = type_from_name(last);
    options_.emplace_back(site.node, std::move(option));
  }

  // The pair {"NAME": …} around a reading of NAME; 0: none.
  NodeId pair_around(NodeId node, std::string_view name) const {
    for (int steps = 0; node != 0 && steps < 40; node = outline_.parent(node), ++steps) {
      if (tree_.kind(node) != NodeKind::kPair) continue;
      const auto key = outline_.text(tree_.child(node));
      if (key && key->text == name) return node;
    }
    return 0;
  }

  // {"NAME": lambda: os.getenv("NAME", …), …}: one entry for each name, with its comment; names
  // whose function reads them elsewhere too.
  void read_dictionaries() {
    for (const Site& site : outline_.assignments) {
      if (tree_.kind(site.node) != NodeKind::kAnnotated || site.function != kNowhere) continue;
      const std::string_view name = outline_.last_name(tree_.child(site.node));
      if (!name.empty()) annotated_.emplace(name, site.node);
    }
    std::map<NodeId, std::pair<NodeId, size_t>> entries;  // pair → dictionary, option
    std::map<NodeId, size_t> counts;
    std::vector<std::pair<NodeId, Option>> kept;
    for (auto& [node, option] : options_) {
      const NodeId pair = node == 0 ? 0 : pair_around(node, option.names[0]);
      if (pair != 0) {
        const auto [entry, first] = entries.try_emplace(pair, outline_.parent(pair), kept.size());
        if (!first) {  // read twice in one entry: it is one option
          Option& earlier = kept[entry->second.second].second;
          if (!earlier.default_value) earlier.default_value = option.default_value;
          if (earlier.type.empty()) earlier.type = option.type;
          continue;
        }
        ++counts[outline_.parent(pair)];
        describe_by_key(pair, option);
      }
      kept.emplace_back(node, std::move(option));
    }
    options_ = std::move(kept);
    for (const auto& [dictionary, count] : counts) {
      if (count < 3 || count * 2 < tree_.child_count(dictionary)) continue;
      for (const NodeId pair : tree_.children(dictionary)) {
        if (tree_.kind(pair) != NodeKind::kPair || entries.contains(pair)) continue;
        const auto key = outline_.text(tree_.child(pair));
        if (!key || !is_upper_case(key->text)) continue;
        Option option = start({pair, kNowhere, kNowhere}, tree_.source(tree_.child(pair, 1), 100));
        option.names = {key->text};
        option.certain = false;
        describe_by_key(pair, option);
        options_.emplace_back(pair, std::move(option));
      }
    }
  }

  // A module may annotate the names as variables of its own: NAME: int = 5.
  void describe_by_key(NodeId pair, Option& option) const {
    option.line = tree_.line_first(pair);
    option.help = outline_.comment_at(option.line, option.line, true);
    const auto found = annotated_.find(option.names[0]);
    if (found == annotated_.end()) return;
    option.type = tree_.source(tree_.child(found->second, 1), kLongestVariable);
    const NodeId value = tree_.child(found->second, 2);
    if (!option.default_value && value != 0)
      option.default_value = tree_.source(value, kLongestVariable);
  }

  const Outline& outline_;
  const Tree& tree_;
  PythonFile& into_;
  std::vector<std::pair<NodeId, Option>> options_;  // with the node that reads it
  std::vector<Option> composed_;  // names that a helper fills in; options where nothing calls it
  std::vector<Helper> helpers_;
  std::map<std::string, size_t, std::less<>> helper_by_name_;
  std::set<uint32_t> helper_functions_;
  std::map<std::string_view, NodeId> annotated_;  // NAME: type at module level
};

}  // namespace

void find_environment(const Outline& outline, PythonFile& into) {
  EnvironmentReader(outline, into).run();
}

}  // namespace fathom::python
