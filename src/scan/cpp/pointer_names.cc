#include "scan/cpp/pointer_names.h"

#include "base/text_parts.h"
#include "scan/cpp/brackets.h"

namespace fathom::cpp {
namespace {

bool ends_declarator(const TokenList& source, size_t at) {
  return at >= source.size() || source.is_any(at, {",", ";", "=", ")", "[", "{"});
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

// Declarations alone, bodies of functions left out: each * before a name that ends a declarator.
void read_declarations(const Code& code, size_t first, size_t last, DeclaredPointers& out) {
  const TokenList& source = code.source;
  bool is_const = false;
  for (size_t i = first; i < last; ++i) {
    if (source.is(i, "{") || source.is(i, "(")) {
      i = code.brackets.closed(i) ? code.brackets.partner(i) : last;
      is_const = false;
      continue;
    }
    if (source.is(i, ";") || source.is(i, "=") || source.is(i, ":")) is_const = false;
    // A comma ends a parameter; between declarators of one type the const goes on.
    if (source.is(i, ",") && !source.is(i + 1, "*")) is_const = false;
    if (source.is(i, "const")) is_const = true;
    if (!source.is(i, "*") || !follows_a_type(source, i, first)) continue;
    size_t name = i + 1;
    while (source.is_any(name, {"__restrict__", "const", "__restrict"})) {
      ++name;
    }
    if (source.is_name(name) && ends_declarator(source, name + 1))
      out.insert_or_assign(std::string(source.at(name)), is_const);
  }
}

}  // namespace

DeclaredPointers declared_pointers(const CodeTree& tree) {
  DeclaredPointers out;
  const TokenList& source = *tree.tokens;
  for (const CodeNode& node : tree.nodes) {
    if (node.kind != CodeKind::kDeclare) continue;
    bool is_const = false;
    for (size_t i = node.first; i < node.last && !source.is(i, "*"); ++i)
      is_const = is_const || source.is(i, "const");
    for (const uint32_t child : node.children) {
      const CodeNode& declared = tree[child];
      if (!holds(declared.extra, '*') || declared.text.empty()) continue;
      out.insert_or_assign(std::string(declared.text), is_const);
    }
  }
  return out;
}

DeclaredPointers field_pointers(const Code& code, size_t open, size_t close) {
  DeclaredPointers out;
  read_declarations(code, open + 1, close, out);
  return out;
}

std::optional<bool> PointerNames::points_to_const(std::string_view name) const {
  if (!known_) read();
  const TokenRange::Surroundings& around = range_.around;
  // What is declared further inside hides what is declared around it.
  for (const DeclaredPointers* const names :
       {around.pointers != nullptr ? around.pointers : &declared_,
        static_cast<const DeclaredPointers*>(&parameters_), around.fields}) {
    if (names == nullptr) continue;
    if (const auto found = names->find(name); found != names->end()) return found->second;
  }
  return std::nullopt;
}

void PointerNames::read() const {
  known_ = true;
  const TokenRange::Surroundings& around = range_.around;
  if (holds(around.parameters, '*')) {
    const TokenList list = lex(around.parameters);
    const Brackets brackets(list);
    read_declarations({list, brackets}, 0, list.size(), parameters_);
  }
  if (around.pointers == nullptr && around.tree != nullptr)
    declared_ = declared_pointers(*around.tree);
}

}  // namespace fathom::cpp
