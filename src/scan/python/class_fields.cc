#include "base/text_parts.h"
#include "scan/python/extract.h"

namespace fathom::python {
namespace {

constexpr size_t kLongestDefault = 500;

// field(default_factory=list) starts as list(), a lambda as what it returns.
std::string factory_call(const Tree& tree, NodeId factory) {
  if (tree.kind(factory) == NodeKind::kLambda) {
    return tree.source(tree.child(factory, 1), kLongestDefault);
  }
  return tree.source(factory, kLongestDefault) + "()";
}

// field(…) of dataclasses and attrs, Field(…) of pydantic and what is made like them.
void read_field_call(const Outline& outline, NodeId call, Field& into) {
  const Tree& tree = outline.tree;
  const CallArguments arguments = outline.arguments(call);
  into.default_value.reset();
  if (const NodeId value = arguments.find(0, "default"); value != 0) {
    if (tree.kind(value) != NodeKind::kEllipsis) {  // Field(...): required
      into.default_value = tree.source(value, kLongestDefault);
    }
  } else if (const NodeId factory = arguments.keyword("default_factory"); factory != 0) {
    into.default_value = factory_call(tree, factory);
  } else if (const NodeId made = arguments.keyword("factory"); made != 0) {
    into.default_value = factory_call(tree, made);
  }
  NodeId help = arguments.keyword("description");
  if (help == 0) help = arguments.keyword("help");
  const NodeId metadata = arguments.keyword("metadata");
  for (const NodeId pair : tree.children(metadata)) {
    if (tree.kind(metadata) != NodeKind::kDict || tree.kind(pair) != NodeKind::kPair) break;
    const auto key = outline.text(tree.child(pair));
    if (key && key->text == "help") help = tree.child(pair, 1);
  }
  if (help == 0) return;
  if (const auto text = outline.text(help)) into.help = first_paragraph(text->text);
}

// A string alone on the line after a field is its documentation.
std::string doc_after(const Tree& tree, NodeId statement) {
  const NodeId next = tree[statement].next;
  if (tree.kind(next) != NodeKind::kExpression) return "";
  const NodeId value = tree.child(next);
  if (tree.kind(value) != NodeKind::kString) return "";
  return first_paragraph(content_of(tree, value).text);
}

// The help inside Annotated[int, Field(description="…")] and Annotated[int, "…"].
void read_annotation(const Outline& outline, NodeId annotation, Field& into) {
  const Tree& tree = outline.tree;
  if (tree.kind(annotation) != NodeKind::kSubscript) return;
  if (outline.last_name(tree.child(annotation)) != "Annotated") return;
  const NodeId parts = tree.child(annotation, 1);
  if (tree.kind(parts) != NodeKind::kTuple) return;
  for (const NodeId part : tree.children(parts)) {
    if (tree.kind(part) == NodeKind::kString) into.help = content_of(tree, part).text;
    if (tree.kind(part) != NodeKind::kCall) continue;
    const CallArguments arguments = outline.arguments(part);
    NodeId help = arguments.keyword("description");
    if (help == 0) help = arguments.keyword("help");
    const auto text = help == 0 ? std::nullopt : outline.text(help);
    if (text) into.help = first_paragraph(text->text);
  }
}

}  // namespace

std::vector<Field> find_fields(const Outline& outline, NodeId class_block) {
  const Tree& tree = outline.tree;
  std::vector<Field> out;
  for (const NodeId statement : tree.children(class_block)) {
    const bool annotated = tree.kind(statement) == NodeKind::kAnnotated;
    if (!annotated && tree.kind(statement) != NodeKind::kAssign) continue;
    const NodeId target = tree.child(statement);
    if (tree.kind(target) != NodeKind::kName) continue;
    Field field;
    field.name = tree.name(target);
    field.line = tree.line_first(statement);
    NodeId value = tree.child(statement, 1);
    if (annotated) {
      field.type = tree.source(value, kLongestDefault);
      read_annotation(outline, value, field);
      value = tree[value].next;
    }
    if (value != 0) field.default_value = tree.source(value, kLongestDefault);
    if (tree.kind(value) == NodeKind::kCall) {
      const std::string_view maker = outline.last_name(tree.child(value));
      const bool makes_field = is_one_of(maker, {"field", "Field", "ib", "attrib", "HfArg"}) ||
                               maker.ends_with("_field");
      if (makes_field) read_field_call(outline, value, field);
    }
    if (field.help.empty()) field.help = doc_after(tree, statement);
    if (field.help.empty()) {
      field.help = outline.comment_at(field.line, tree.line_last(statement), true);
    }
    out.push_back(std::move(field));
  }
  return out;
}

std::vector<Option> options_of_class(const Class& fields_of) {
  std::vector<Option> out;
  for (const Field& field : fields_of.fields) {
    // Without a type it is a constant of the class, and no parser makes an option of it.
    if (field.type.empty() || field.name.starts_with('_') || field.type.starts_with("ClassVar") ||
        field.type.starts_with("typing.ClassVar")) {
      continue;
    }
    Option option;
    option.source = OptionSource::kDataclass;
    option.names = {"--" + field.name};
    option.type = field.type;
    option.default_value = field.default_value;
    option.required = !field.default_value;
    option.help = field.help;
    option.dest = field.name;
    option.from_class = qualified_name(fields_of);
    option.line = field.line;
    out.push_back(std::move(option));
  }
  return out;
}

}  // namespace fathom::python
