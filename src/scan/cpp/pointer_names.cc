#include "scan/cpp/pointer_names.h"

#include <algorithm>

#include "scan/cpp/token_pattern.h"

namespace fathom::cpp {
namespace {

bool ends_declarator(const TokenList& source, size_t at) {
  return at >= source.size() || source.is(at, ",") || source.is(at, ";") || source.is(at, "=") ||
         source.is(at, ")") || source.is(at, "[") || source.is(at, "{");
}

// Whether a * can be part of a type: what stands before it is a type's name, and that begins the
// declaration or follows const.
bool follows_a_type(const TokenList& source, size_t star, size_t first) {
  if (star == first) return false;
  size_t at = star - 1;
  if (source.is(at, "const") && at > first) --at;
  if (source.is(at, ">")) return true;
  return source.is_name(at) || source.is(at, ",") || source.is(at, "*");
}

}  // namespace

std::optional<bool> PointerNames::points_to_const(std::string_view name) const {
  if (!known_) read();
  const auto found = names_.find(name);
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

void PointerNames::read() const {
  known_ = true;
  const TokenRange::Surroundings& around = range_.around;
  if (around.class_last > around.class_first) {
    read_declarations(range_.source, around.class_first + 1, around.class_last);
  }
  if (around.parameters.find('*') != std::string_view::npos) {
    const TokenList list = lex(around.parameters);
    read_declarations(list, 0, list.size());
  }
  if (around.tree == nullptr) return;
  const CodeTree& tree = *around.tree;
  for (const CodeNode& node : tree.nodes) {
    if (node.kind != CodeKind::kDeclare) continue;
    for (const uint32_t child : node.children) {
      if (tree[child].extra.find('*') == std::string_view::npos || tree[child].text.empty())
        continue;
      const TokenList& source = *tree.tokens;
      bool is_const = false;
      for (size_t i = node.first; i < tree[child].last && !source.is(i, "*"); ++i)
        is_const = is_const || source.is(i, "const");
      names_[tree[child].text] = is_const;
    }
  }
}

// Declarations alone, bodies of functions left out: each * before a name that ends a declarator.
void PointerNames::read_declarations(const TokenList& source, size_t first, size_t last) const {
  bool is_const = false;
  for (size_t i = first; i < last; ++i) {
    if (source.is(i, "{") || source.is(i, "(")) {
      i = closing_near(source, i, last - i).value_or(last);
      is_const = false;
      continue;
    }
    if (source.is(i, ";") || source.is(i, "=") || source.is(i, ":")) is_const = false;
    // A comma ends a parameter; between declarators of one type the const goes on.
    if (source.is(i, ",") && !source.is(i + 1, "*")) is_const = false;
    if (source.is(i, "const")) is_const = true;
    if (!source.is(i, "*") || !follows_a_type(source, i, first)) continue;
    size_t name = i + 1;
    while (source.is(name, "__restrict__") || source.is(name, "const") ||
           source.is(name, "__restrict")) {
      ++name;
    }
    if (source.is_name(name) && ends_declarator(source, name + 1)) {
      names_[std::string(source.at(name))] = is_const;
    }
  }
}

}  // namespace fathom::cpp
