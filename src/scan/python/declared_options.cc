// Options that decorators and declarations make: click, typer, absl.
#include <algorithm>
#include <map>
#include <set>

#include "scan/python/extract.h"
#include "scan/python/option_parts.h"

namespace fathom::python {
namespace {

constexpr size_t kLongestOption = 500;

std::string dashed(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

// click's names: "--port/--no-port", and one without dashes is the parameter.
void read_click_names(const Outline& outline, std::span<const NodeId> positional, Option& into) {
  for (const NodeId argument : positional) {
    const std::optional<StringContent> text = outline.text(argument);
    if (!text) continue;
    std::string_view rest = text->text;
    if (!rest.starts_with('-')) {
      if (into.dest.empty()) into.dest = rest;
      continue;
    }
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('/'), rest.size());
      into.names.emplace_back(rest.substr(0, end));
      rest = rest.substr(std::min(end + 1, rest.size()));
    }
  }
}

// The typer.Option(…) or typer.Argument(…) in a parameter's default or in Annotated[…]; 0: none.
NodeId typer_declaration(const Outline& outline, NodeId node) {
  const Tree& tree = outline.tree;
  if (tree.kind(node) == NodeKind::kCall) {
    const std::string path = outline.path(tree.child(node));
    return path == "typer.Option" || path == "typer.Argument" ? node : 0;
  }
  if (tree.kind(node) != NodeKind::kSubscript) return 0;
  if (outline.last_name(tree.child(node)) != "Annotated") return 0;
  const NodeId parts = tree.child(node, 1);
  if (tree.kind(parts) != NodeKind::kTuple) return 0;
  for (const NodeId part : tree.children(parts)) {
    if (tree.kind(part) != NodeKind::kCall) continue;
    if (const NodeId found = typer_declaration(outline, part); found != 0) return found;
  }
  return 0;
}

class TyperReader {
 public:
  TyperReader(const Outline& outline, std::vector<Option>& into)
      : outline_(outline), tree_(outline.tree), into_(into) {}

  void run() {
    find_commands();
    for (uint32_t i = 0; i < outline_.functions.size(); ++i) {
      const NodeId node = outline_.functions[i].node;
      const NodeId list = tree_.child_of_kind(node, NodeKind::kParameters);
      for (const NodeId parameter : tree_.children(list)) read(parameter, i);
    }
  }

 private:
  // @app.command() of a typer.Typer(), and what typer.run() is given.
  void find_commands() {
    std::set<std::string> apps;
    for (const Site& site : outline_.assignments) {
      const NodeId value = tree_.child(site.node, 1);
      if (tree_.kind(value) != NodeKind::kCall) continue;
      if (outline_.path(tree_.child(value)) != "typer.Typer") continue;
      apps.insert(tree_.source(tree_.child(site.node)));
    }
    for (const Site& site : outline_.calls) {
      const NodeId callee = tree_.child(site.node);
      if (outline_.last_name(callee) == "run" && outline_.path(callee) == "typer.run") {
        const NodeId main = outline_.arguments(site.node).at(0);
        for (uint32_t i = 0; i < outline_.functions.size(); ++i) {
          if (tree_.is_name(main, outline_.functions[i].name)) commands_.insert(i);
        }
      }
      const std::string_view last = outline_.last_name(callee);
      if (last != "command" && last != "callback") continue;
      if (tree_.kind(callee) != NodeKind::kAttribute) continue;
      if (!apps.contains(tree_.source(tree_.child(callee)))) continue;
      if (const auto function = decorated_function(outline_, site.node))
        commands_.insert(*function);
    }
  }

  void read(NodeId parameter, uint32_t function) {
    const uint8_t flags = tree_[parameter].flags;
    if ((flags & (kIsMark | kIsStar | kIsDoubleStar)) != 0) return;
    NodeId part = tree_[parameter].child;
    NodeId annotation = 0, value = 0;
    if ((flags & kHasAnnotation) != 0) {
      annotation = part;
      part = tree_[part].next;
    }
    if ((flags & kHasDefault) != 0) value = part;
    NodeId declared = typer_declaration(outline_, value);
    const bool in_default = declared != 0;
    if (declared == 0) declared = typer_declaration(outline_, annotation);
    if (declared == 0 && !commands_.contains(function)) return;

    Option option;
    option.source = OptionSource::kTyper;
    option.line = tree_.line_first(parameter);
    option.function = outline_.function_name(function);
    option.dest = tree_.extra(parameter);
    option.type = tree_.source(annotation, kLongestOption);
    const bool annotated = declared != 0 && !in_default;
    if (annotated)
      option.type = tree_.source(tree_.child(tree_.child(annotation, 1)), kLongestOption);
    if (value != 0 && !in_default) option.default_value = tree_.source(value, kLongestOption);
    if (declared != 0) read_declaration(declared, in_default, option);
    name_it(option, declared, value != 0);
    into_.push_back(std::move(option));
  }

  void read_declaration(NodeId call, bool in_default, Option& into) {
    const CallArguments arguments = outline_.arguments(call);
    into.via = tree_.source(tree_.child(call));
    into.help = help_of(outline_, arguments.keyword("help"));
    // typer.Option(default, "--name") as a default, typer.Option("--name") in an annotation.
    const std::span<const NodeId> positional = arguments.positional;
    const bool default_first = in_default && !positional.empty();
    read_click_names(outline_, positional.subspan(default_first ? 1 : 0), into);
    const NodeId value = in_default ? arguments.find(0, "default") : 0;
    if (value == 0) return;
    if (tree_.kind(value) == NodeKind::kEllipsis) {
      into.required = true;
    } else {
      into.default_value = tree_.source(value, kLongestOption);
    }
  }

  void name_it(Option& option, NodeId declared, bool has_default) {
    const bool argument = declared != 0 && option.via.ends_with("Argument");
    const bool bare_argument = declared == 0 && !has_default;
    if (option.names.empty()) {
      const bool positional = argument || bare_argument;
      option.names.push_back(positional ? option.dest : "--" + dashed(option.dest));
    }
    option.required |= !option.default_value;
  }

  const Outline& outline_;
  const Tree& tree_;
  std::vector<Option>& into_;
  std::set<uint32_t> commands_;
};

}  // namespace

void find_click_options(const Outline& outline, std::vector<Option>& into) {
  const Tree& tree = outline.tree;
  for (const Site& site : outline.calls) {
    const NodeId callee = tree.child(site.node);
    const std::string_view last = outline.last_name(callee);
    if (tree.kind(callee) != NodeKind::kName && last != "option" && last != "argument") continue;
    const std::string path = outline.path(callee);
    const bool is_option = path == "click.option" || path == "rich_click.option";
    const bool is_argument = path == "click.argument" || path == "rich_click.argument";
    if (!is_option && !is_argument) continue;
    Option option;
    option.source = OptionSource::kClick;
    option.line = tree.line_first(site.node);
    option.via = path;
    const auto function = decorated_function(outline, site.node);
    option.function = outline.function_name(function ? *function : site.function);
    const CallArguments arguments = outline.arguments(site.node);
    read_common_keywords(outline, arguments, option);
    read_click_names(outline, arguments.positional, option);
    if (option.names.empty()) option.names.push_back(option.dest);
    if (option.names[0].empty()) continue;
    if (option.dest.empty()) {
      const auto longest = std::max_element(option.names.begin(), option.names.end(),
                                            [](const std::string& a, const std::string& b) {
                                              return a.starts_with("--") < b.starts_with("--");
                                            });
      option.dest = destination(*longest);
    }
    if (is_true(tree, arguments.keyword("is_flag"))) {
      option.action = "is_flag";
      if (!option.default_value) {
        option.default_value = "False";
        option.default_implied = true;
      }
    }
    // type=click.Choice(["a", "b"])
    const NodeId type = arguments.keyword("type");
    if (tree.kind(type) == NodeKind::kCall && outline.last_name(tree.child(type)) == "Choice") {
      option.choices = choices_of(outline, outline.arguments(type).at(0));
    }
    into.push_back(std::move(option));
  }
}

void find_typer_options(const Outline& outline, std::vector<Option>& into) {
  TyperReader(outline, into).run();
}

void find_absl_options(const Outline& outline, std::vector<Option>& into) {
  // absl.flags, and etils' DEFINE_path; its own DEFINE_alias and DEFINE_flag name no type.
  static const std::set<std::string_view> kMakers = {
      "bool",          "boolean",     "string",     "integer",          "float",
      "enum",          "enum_class",  "list",       "spaceseplist",     "multi_string",
      "multi_integer", "multi_float", "multi_enum", "multi_enum_class", "multi_flag",
      "int32",         "int64",       "uint32",     "uint64",           "double",
      "path"};
  const Tree& tree = outline.tree;
  for (const Site& site : outline.calls) {
    const NodeId callee = tree.child(site.node);
    const std::string_view maker = outline.last_name(callee);
    if (!maker.starts_with("DEFINE_") || !kMakers.contains(maker.substr(7))) continue;
    const CallArguments arguments = outline.arguments(site.node);
    const auto name = outline.text(arguments.find(0, "name"));
    if (!name || name->text.empty()) continue;
    Option option;
    option.source = OptionSource::kAbsl;
    option.names = {"--" + name->text};
    option.dest = name->text;
    option.type = maker.substr(7);
    option.via = tree.source(callee, 100);
    option.line = tree.line_first(site.node);
    option.function = outline.function_name(site.function);
    if (const NodeId value = arguments.find(1, "default"); value != 0) {
      option.default_value = tree.source(value, kLongestOption);
    }
    const bool has_choices = maker.starts_with("DEFINE_enum") || maker == "DEFINE_multi_enum";
    if (has_choices) option.choices = choices_of(outline, arguments.find(2, "enum_values"));
    option.help = help_of(outline, arguments.find(has_choices ? 3 : 2, "help"));
    option.required = is_true(tree, arguments.keyword("required"));
    into.push_back(std::move(option));
  }
}

}  // namespace fathom::python
