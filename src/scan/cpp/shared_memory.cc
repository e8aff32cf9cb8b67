#include <algorithm>
#include <charconv>

#include "scan/cpp/code_structures.h"
#include "scan/cpp/token_pattern.h"

namespace fathom::cpp {
namespace {

// A declaration's name and the brackets after it.
struct Declarator {
  size_t name = 0;
  std::vector<std::pair<size_t, size_t>> extents;  // tokens of [ and ]
  size_t end() const { return extents.empty() ? name + 1 : extents.back().second + 1; }
};

std::optional<Declarator> read_declarator(const NodeRange& nodes, const CodeNode& node) {
  Declarator found;
  size_t at = node.first;
  while (at < node.last && nodes.source.at(at) != node.text) ++at;
  if (at >= node.last || node.text.empty()) return std::nullopt;
  found.name = at;
  const Code code = nodes.tree.code();
  for (++at; nodes.source.is(at, "[") && at < node.last; at = code.past(at))
    found.extents.emplace_back(at, code.past(at) - 1);
  return found;
}

// `+ 1` or `+ kPad` after which the extent, or the factor of it, ends.
bool is_padding(const TokenList& source, size_t plus) {
  if (!source.is(plus, "+") || plus + 2 >= source.size()) return false;
  const std::string_view added = source.at(plus + 1);
  if (!source.is(plus + 2, "]") && !source.is(plus + 2, ")")) return false;
  if (source.is_name(plus + 1)) return name_holds(added, "pad") || name_holds(added, "skew");
  int value = 0;
  std::from_chars(added.data(), added.data() + added.size(), value);
  return value >= 1 && value <= 16;
}

// The rows of an array are padded where its last extent of several is, or a factor of its only one:
// [32][32 + 1], [32 * (32 + 1)]. [N + 1] alone is one element more, not padding.
bool has_padding(const TokenList& source, const Declarator& array) {
  if (array.extents.empty()) return false;
  const auto [open, close] = array.extents.back();
  bool product = false;
  for (size_t i = open + 1; i < close; ++i) product = product || source.is(i, "*");
  for (size_t i = open + 1; i < close; ++i) {
    if (!is_padding(source, i)) continue;
    const bool ends_extent = i + 2 == close;
    if (ends_extent ? array.extents.size() > 1 : product) return true;
  }
  return false;
}

// The arrays of one declaration; the word that puts them into shared memory stands at `shared`.
void read_arrays(const NodeRange& nodes, const CodeNode& declaration, DeclaredArrays& arrays,
                 std::vector<StructureHit>& out) {
  const TokenList& source = nodes.source;
  const uint32_t type_end = nodes[declaration.children[0]].first;
  std::optional<size_t> shared;
  bool dynamic = false;
  std::string before;  // what stands before a further name
  size_t searched = declaration.first;
  for (const uint32_t child : declaration.children) {
    const auto array = read_declarator(nodes, nodes[child]);
    if (!array) continue;
    for (; before.empty() && searched < array->name; ++searched) {
      if (source.is(searched, "__shared__")) shared = searched;
      dynamic = dynamic || source.is(searched, "extern");
    }
    if (!shared) {
      if (!array->extents.empty()) arrays.names.emplace(source.at(array->name), false);
      continue;
    }
    arrays.names[source.at(array->name)] = true;
    const std::string text = before.empty()
                                 ? short_source(source, *shared + 1, array->end())
                                 : before + " " + short_source(source, array->name, array->end());
    if (before.empty()) before = short_source(source, *shared + 1, type_end);
    out.push_back({dynamic ? "shared_dynamic" : "shared_static", text, *shared});
    if (has_padding(source, *array)) out.push_back({"shared_padding", text, *shared});
  }
}

bool lies_in_shared_memory(std::string_view name, const DeclaredArrays& arrays) {
  if (arrays.is_declared(name)) return arrays.is_shared(name);
  return name_holds(name, "smem") || name_holds(name, "shared") || name.starts_with("sh_");
}

}  // namespace

bool DeclaredArrays::is_shared(std::string_view name) const {
  const auto found = names.find(name);
  return found != names.end() && found->second;
}

DeclaredArrays find_arrays(const NodeRange& nodes, std::vector<StructureHit>& out) {
  DeclaredArrays arrays;
  for (const uint32_t id : nodes.order) {
    const CodeNode& node = nodes[id];
    if (node.kind == CodeKind::kDeclare && !node.children.empty())
      read_arrays(nodes, node, arrays, out);
  }
  return arrays;
}

namespace {

class Swizzles {
 public:
  Swizzles(const NodeRange& nodes, const DeclaredArrays& arrays, std::vector<StructureHit>& out)
      : nodes_(nodes), arrays_(arrays), out_(out) {}

  void run() {
    for (const uint32_t id : nodes_.order) {
      const CodeNode& node = nodes_[id];
      if (node.kind == CodeKind::kDeclarator && !node.children.empty()) {
        if (permutes(node.children[0], false)) permuted_[node.text] = true;
      } else if (node.kind == CodeKind::kAssign && node.text == "=" && node.children.size() == 2) {
        const size_t name = nodes_[node.children[0]].last - 1;
        if (permutes(node.children[1], false)) permuted_[nodes_.source.at(name)] = true;
      } else if (node.kind == CodeKind::kSubscript && node.children.size() == 2) {
        subscript(node);
      }
    }
  }

 private:
  // Whether an expression is made with ^, or with a variable that was.
  bool permutes(uint32_t id, bool by_name) const {
    const CodeNode& node = nodes_[id];
    if (node.kind == CodeKind::kBinary && node.text == "^") return true;
    if (by_name && node.kind == CodeKind::kName && permuted_.contains(node.text)) return true;
    return std::any_of(node.children.begin(), node.children.end(),
                       [&](uint32_t child) { return permutes(child, by_name); });
  }

  void subscript(const CodeNode& node) {
    const CodeNode* base = &nodes_[node.children[0]];
    while (base->kind == CodeKind::kSubscript) base = &nodes_[base->children[0]];
    const size_t name = base->last - 1;  // smem[…], storage.tile[…]
    if (!nodes_.source.is_name(name) || !lies_in_shared_memory(nodes_.source.at(name), arrays_) ||
        !permutes(node.children[1], true)) {
      return;
    }
    out_.push_back(
        {"shared_swizzle", short_source(nodes_.source, name, node.last), name, Certainty::kLikely});
  }

  const NodeRange& nodes_;
  const DeclaredArrays& arrays_;
  std::vector<StructureHit>& out_;
  std::map<std::string_view, bool> permuted_;
};

}  // namespace

void find_swizzles(const NodeRange& nodes, const DeclaredArrays& arrays,
                   std::vector<StructureHit>& out) {
  Swizzles(nodes, arrays, out).run();
}

}  // namespace fathom::cpp
