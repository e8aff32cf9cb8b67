#include "scan/python/option_parts.h"

#include <algorithm>

#include "base/utf8.h"

namespace fathom::python {

constexpr size_t kLongestPart = 500;

std::vector<std::string> choices_of(const Outline& outline, NodeId expression) {
  const Tree& tree = outline.tree;
  if (expression == 0) return {};
  NodeId list = expression;
  if (tree.kind(list) == NodeKind::kName) {
    const NodeId value = outline.constant(tree.name(list));
    if (value != 0) list = value;
  }
  const NodeKind kind = tree.kind(list);
  if (kind != NodeKind::kList && kind != NodeKind::kTuple && kind != NodeKind::kSet) {
    return {tree.source(expression, kLongestPart)};
  }
  // A list of the module may be that of many options.
  constexpr size_t kMostChoices = 200;
  std::vector<std::string> out;
  for (const NodeId item : tree.children(list)) {
    if (out.size() == kMostChoices) {
      out.emplace_back("…");
      break;
    }
    const bool string = tree.kind(item) == NodeKind::kString;
    out.push_back(string ? cut_to_bytes(content_of(tree, item, kLongestPart + 1).text, kLongestPart)
                         : tree.source(item, kLongestPart));
  }
  return out;
}

std::string help_of(const Outline& outline, NodeId expression) {
  if (expression == 0) return "";
  const std::optional<StringContent> text = outline.text(expression);
  // A constant may be the help of many options.
  constexpr size_t kLongestHelp = 4000;
  // f"{HELP['size']} (default: 4)": what it says stands elsewhere.
  if (text && text->composed && text->text.starts_with('{')) return "";
  return text ? cut_to_bytes(text->text, kLongestHelp)
              : outline.tree.source(expression, kLongestPart);
}

std::string destination(std::string_view option_name) {
  std::string out(
      option_name.substr(std::min(option_name.find_first_not_of('-'), option_name.size())));
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

bool is_true(const Tree& tree, NodeId expression) { return tree.is_name(expression, "True"); }

std::optional<uint32_t> decorated_function(const Outline& outline, NodeId call) {
  const NodeId list = outline.parent(call);
  if (outline.tree.kind(list) != NodeKind::kDecorators) return {};
  const NodeId definition = outline.parent(list);
  const auto found = std::lower_bound(
      outline.functions.begin(), outline.functions.end(), outline.tree[definition].first,
      [&](const Definition& d, uint32_t first) { return outline.tree[d.node].first < first; });
  if (found == outline.functions.end() || found->node != definition) return {};
  return static_cast<uint32_t>(found - outline.functions.begin());
}

void read_common_keywords(const Outline& outline, const CallArguments& arguments, Option& into) {
  const Tree& tree = outline.tree;
  const auto source = [&](std::string_view keyword) {
    return tree.source(arguments.keyword(keyword), kLongestPart);
  };
  into.type = source("type");
  into.action = source("action");
  if (const NodeId action = arguments.keyword("action"); tree.kind(action) == NodeKind::kString) {
    into.action = content_of(tree, action).text;
  }
  if (const NodeId value = arguments.keyword("default"); value != 0) {
    into.default_value = tree.source(value, kLongestPart);
  }
  into.choices = choices_of(outline, arguments.keyword("choices"));
  into.help = help_of(outline, arguments.keyword("help"));
  into.required = is_true(tree, arguments.keyword("required"));
  if (const NodeId dest = arguments.keyword("dest"); dest != 0) into.dest = help_of(outline, dest);
  into.unpacked = tree.source(arguments.double_starred, kLongestPart);
}

}  // namespace fathom::python
