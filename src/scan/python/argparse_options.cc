#include <algorithm>
#include <map>
#include <set>

#include "base/text_parts.h"
#include "scan/python/extract.h"
#include "scan/python/option_parts.h"

namespace fathom::python {
namespace {

// A function that hands a name on to add_argument: its calls declare options too.
struct Wrapper {
  size_t names_from;  // the position of the name in a call
  bool is_star;       // def add(parser, *names, **kwargs)
};

using Wrappers = std::map<std::string, Wrapper, std::less<>>;

class ArgparseReader {
 public:
  ArgparseReader(const Outline& outline, std::vector<Option>& into)
      : outline_(outline), tree_(outline.tree), into_(into) {}

  void run() {
    find_aliases();
    find_class_kwargs();
    for (const Site& site : outline_.calls) {
      if (adds_argument(site.node)) note_wrapper(site);
    }
    for (const Site& site : outline_.calls) {
      if (adds_argument(site.node)) {
        read(site, 0, outline_.arguments(site.node));
      } else if (const Wrapper* wrapper = wrapper_called(site.node); wrapper != nullptr) {
        read(site, wrapper->names_from, outline_.arguments(site.node));
      }
    }
  }

 private:
  bool adds_argument(NodeId call) const {
    const NodeId callee = tree_.child(call);
    if (tree_.kind(callee) == NodeKind::kAttribute) return tree_.extra(callee) == "add_argument";
    return tree_.kind(callee) == NodeKind::kName && aliases_.contains(tree_.name(callee));
  }

  // add = parser.add_argument
  void find_aliases() {
    for (const Site& site : outline_.assignments) {
      const NodeId target = tree_.child(site.node), value = tree_.child(site.node, 1);
      if (tree_.kind(site.node) != NodeKind::kAssign || tree_.kind(target) != NodeKind::kName ||
          tree_.kind(value) != NodeKind::kAttribute || tree_.extra(value) != "add_argument") {
        continue;
      }
      aliases_.insert(tree_.name(target));
    }
  }

  // model_kwargs = get_kwargs(ModelConfig): **model_kwargs["seed"] is the field seed of the class.
  void find_class_kwargs() {
    for (const Site& site : outline_.assignments) {
      const NodeId target = tree_.child(site.node), value = tree_.child(site.node, 1);
      if (tree_.kind(site.node) != NodeKind::kAssign || tree_.kind(target) != NodeKind::kName ||
          tree_.kind(value) != NodeKind::kCall) {
        continue;
      }
      const NodeId made_of = class_argument(value);
      if (made_of == 0) continue;
      std::string name = tree_.source(made_of);
      if (name == "cls" && site.in_class != kNowhere) name = outline_.classes[site.in_class].name;
      class_kwargs_[tree_.name(target)] = std::move(name);
    }
  }

  // The class that a call is given, itself or through another call; 0: none.
  NodeId class_argument(NodeId call) const {
    for (int steps = 0; steps < 3 && tree_.kind(call) == NodeKind::kCall; ++steps) {
      const NodeId first = outline_.arguments(call).at(0);
      const std::string_view name = outline_.last_name(first);
      if (name == "cls" || (!name.empty() && name[0] >= 'A' && name[0] <= 'Z')) return first;
      call = first;
    }
    return 0;
  }

  void note_wrapper(const Site& site) {
    const CallArguments arguments = outline_.arguments(site.node);
    const bool star = arguments.positional.empty();
    const NodeId name = star ? arguments.starred : arguments.positional[0];
    if (site.function == kNowhere || tree_.kind(name) != NodeKind::kName) return;
    const auto place = outline_.parameter(site.function, tree_.name(name));
    if (!place) return;
    const Definition& function = outline_.functions[place->function];
    size_t position = place->position;
    if (function.method && position > 0) --position;  // self
    if (function.name == "add_argument") return;      // its calls are found by this name
    wrappers_[function.name] = {position, (tree_[place->node].flags & kIsStar) != 0};
  }

  const Wrapper* wrapper_called(NodeId call) const {
    const std::string_view name = outline_.last_name(tree_.child(call));
    const auto found = name.empty() ? wrappers_.end() : wrappers_.find(name);
    return found == wrappers_.end() ? nullptr : &found->second;
  }

  // `fields(Args)` or `kwargs_of(Args).items()` of the loop around: the options are the fields of a
  // class.
  std::string looped_class(NodeId call) const {
    int steps = 0;
    for (NodeId at = call; at != 0 && steps < 32; at = outline_.parent(at), ++steps) {
      if (tree_.kind(at) != NodeKind::kFor) continue;
      const NodeId iterated = tree_.child(at, 1);
      if (tree_.kind(iterated) != NodeKind::kCall) continue;
      const NodeId callee = tree_.child(iterated);
      const std::string_view called = outline_.last_name(callee);
      if (called == "fields") return tree_.source(outline_.arguments(iterated).at(0));
      if (called != "items" || tree_.kind(callee) != NodeKind::kAttribute) continue;
      const auto found = class_kwargs_.find(outline_.last_name(tree_.child(callee)));
      if (found != class_kwargs_.end()) return found->second;
    }
    return "";
  }

  void read(const Site& site, size_t names_from, const CallArguments& arguments) {
    std::vector<std::vector<std::string>> spellings;  // of each name, one for each turn of a loop
    const bool star_first = arguments.positional.empty();
    const std::vector<NodeId>& names = star_first ? arguments.after_star : arguments.positional;
    for (size_t i = star_first ? 0 : names_from; i < names.size(); ++i) {
      std::vector<std::string> texts = outline_.texts(names[i]);
      if (texts.empty()) break;
      // A wrapper's further strings are its own business; only options follow options.
      if (!spellings.empty() && !texts[0].starts_with('-')) break;
      spellings.push_back(std::move(texts));
    }
    if (spellings.empty()) return;
    Option option;
    option.source = OptionSource::kArgparse;
    option.line = tree_.line_first(site.node);
    option.function = outline_.function_name(site.function);
    option.via = tree_.source(tree_.child(site.node), 100);
    read_common_keywords(outline_, arguments, option);
    read_unpacked_class(arguments, option);
    imply_default(option);
    const size_t turns = spellings[0].size();
    for (size_t turn = 0; turn < turns; ++turn) {
      Option one = option;
      for (const auto& texts : spellings)
        one.names.push_back(texts[std::min(turn, texts.size() - 1)]);
      name_destination(one);
      if (holds(one.names[0], '{')) {
        one.from_class = looped_class(site.node);
        if (!one.from_class.empty()) one.source = OptionSource::kDataclass;
      }
      into_.push_back(std::move(one));
    }
  }

  void read_unpacked_class(const CallArguments& arguments, Option& into) const {
    const NodeId unpacked = arguments.double_starred;
    if (tree_.kind(unpacked) != NodeKind::kSubscript) return;
    const NodeId kwargs = tree_.child(unpacked);
    if (tree_.kind(kwargs) != NodeKind::kName) return;
    const auto found = class_kwargs_.find(tree_.name(kwargs));
    const auto field = outline_.text(tree_.child(unpacked, 1));
    if (found == class_kwargs_.end() || !field) return;
    into.from_class = found->second;
    if (into.dest.empty()) into.dest = field->text;
  }

  static void imply_default(Option& option) {
    if (option.default_value || option.required) return;
    const bool on = option.action == "store_true", off = option.action == "store_false";
    if (!on && !off) return;
    option.default_value = on ? "False" : "True";
    option.default_implied = true;
  }

  static void name_destination(Option& option) {
    if (option.action.ends_with("BooleanOptionalAction")) {
      for (size_t i = 0, count = option.names.size(); i < count; ++i) {
        if (option.names[i].starts_with("--")) {
          option.names.push_back("--no-" + option.names[i].substr(2));
        }
      }
    }
    const bool composed = holds(option.names[0], '{');
    if (!option.dest.empty() || composed) return;
    for (const std::string& name : option.names) {
      if (!name.starts_with("--")) continue;
      option.dest = destination(name);
      return;
    }
    option.dest = destination(option.names[0]);
  }

  const Outline& outline_;
  const Tree& tree_;
  std::vector<Option>& into_;
  std::set<std::string_view> aliases_;
  std::map<std::string_view, std::string> class_kwargs_;
  Wrappers wrappers_;
};

}  // namespace

void find_argparse_options(const Outline& outline, std::vector<Option>& into) {
  ArgparseReader(outline, into).run();
}

namespace {

// @draccus.wrap(), @hydra.main(…): the class that the decorated function's first parameter has.
std::optional<ParsedClass> wrapped_class(const Outline& outline, const Site& site,
                                         std::string_view last) {
  if (last != "wrap" && last != "main") return std::nullopt;
  const Tree& tree = outline.tree;
  const std::string path = outline.path(tree.child(site.node));
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string_view module = std::string_view(path).substr(0, dot);
  const std::string_view library = module.substr(module.rfind('.') + 1);
  const bool wraps = last == "wrap" &&
                     (library == "draccus" || library == "pyrallis" || library.ends_with("parser"));
  if (!wraps && path != "hydra.main") return std::nullopt;
  const auto function = decorated_function(outline, site.node);
  if (!function) return std::nullopt;
  const NodeId parameters =
      tree.child_of_kind(outline.functions[*function].node, NodeKind::kParameters);
  const NodeId first = tree.child(parameters);
  const bool typed = first != 0 && (tree[first].flags & kHasAnnotation) != 0;
  const std::string_view type = typed ? outline.last_name(tree.child(first)) : std::string_view();
  if (type.empty() || type == "DictConfig") {
    // The keys are those of a file: folder and name, as the decorator says them.
    const CallArguments arguments = outline.arguments(site.node);
    const auto folder = outline.text(arguments.find(0, "config_path"));
    const auto name = outline.text(arguments.find(1, "config_name"));
    if (path != "hydra.main" || !name) return std::nullopt;
    return ParsedClass{(folder ? folder->text + "/" : std::string()) + name->text, "hydra.main",
                       outline.function_name(*function), tree.line_first(site.node)};
  }
  return ParsedClass{tree.source(tree.child(first)), path, outline.function_name(*function),
                     tree.line_first(site.node)};
}

}  // namespace

std::vector<ParsedClass> find_parsed_classes(const Outline& outline) {
  // Those that are told by their last name alone, and those whose last name is too common for it.
  static const std::set<std::string_view> kByName = {"HfArgumentParser", "TrlParser",
                                                     "add_arguments"};
  static const std::set<std::string_view> kByPath = {
      "tyro.cli",  "simple_parsing.parse", "draccus.parse",  "pyrallis.parse",
      "fire.Fire", "jsonargparse.CLI",     "chz.entrypoint", "chz.nested_entrypoint",
      "typer.run"};
  const Tree& tree = outline.tree;
  std::vector<ParsedClass> out;
  for (const Site& site : outline.calls) {
    const NodeId callee = tree.child(site.node);
    const std::string_view last = outline.last_name(callee);
    if (auto wrapped = wrapped_class(outline, site, last)) {
      out.push_back(std::move(*wrapped));
      continue;
    }
    const bool by_name = kByName.contains(last);
    const bool may_be_path = tree.kind(callee) == NodeKind::kName ||
                             is_one_of(last, {"cli", "parse", "Fire", "CLI", "run"}) ||
                             last.ends_with("entrypoint");
    if (!by_name && !may_be_path) continue;
    const std::string path = outline.path(callee);
    if (!by_name && !kByPath.contains(path)) continue;
    const CallArguments arguments = outline.arguments(site.node);
    const NodeId first = arguments.find(0, "dataclass_types");
    std::vector<NodeId> classes = {first};
    if (tree.kind(first) == NodeKind::kTuple || tree.kind(first) == NodeKind::kList) {
      classes.clear();
      for (const NodeId item : tree.children(first)) classes.push_back(item);
    }
    for (const NodeId item : classes) {
      const std::string_view name = outline.last_name(item);
      if (name.empty()) continue;
      if (last == "add_arguments" && (name[0] < 'A' || name[0] > 'Z')) continue;
      out.push_back({tree.source(item), path.empty() ? std::string(last) : path,
                     outline.function_name(site.function), tree.line_first(site.node)});
    }
  }
  return out;
}

}  // namespace fathom::python
