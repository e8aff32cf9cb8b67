#include "scan/python/body_outline.h"

namespace fathom::python {
namespace {

constexpr size_t kMaxText = 2000;

StatementKind kind_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::kFor:
    case NodeKind::kWhile:
      return StatementKind::kLoop;
    case NodeKind::kWith:
      return StatementKind::kWith;
    case NodeKind::kTry:
      return StatementKind::kTry;
    case NodeKind::kMatch:
      return StatementKind::kSwitch;
    case NodeKind::kFunction:
    case NodeKind::kClass:
      return StatementKind::kDefinition;
    case NodeKind::kReturn:
      return StatementKind::kReturn;
    case NodeKind::kRaise:
      return StatementKind::kThrow;
    case NodeKind::kAssert:
      return StatementKind::kCheck;
    case NodeKind::kImport:
    case NodeKind::kImportFrom:
    case NodeKind::kTypeAlias:
      return StatementKind::kAlias;
    case NodeKind::kOther:
      return StatementKind::kJump;
    default:
      return StatementKind::kPlain;
  }
}

// The parser bounds nesting, so recursion is bounded too.
class BodyReader {
 public:
  explicit BodyReader(const Tree& tree) : tree_(tree) {}

  std::vector<Statement> run(NodeId block) {
    statements(block, 0);
    return std::move(out_);
  }

 private:
  void statements(NodeId block, uint32_t depth) {
    bool first = true;
    for (const NodeId id : tree_.children(block)) {
      const bool docstring = first && tree_.kind(id) == NodeKind::kExpression &&
                             tree_.kind(tree_.child(id)) == NodeKind::kString;
      first = false;
      if (!docstring) statement(id, depth);
    }
  }

  void statement(NodeId id, uint32_t depth) {
    const NodeKind kind = tree_.kind(id);
    if (kind == NodeKind::kIf) return choice(id, depth);
    if (kind == NodeKind::kDamaged) return;
    const StatementKind meant = kind_of(kind);
    if (meant == StatementKind::kDefinition) {
      add(meant, id,
          std::string(kind == NodeKind::kClass ? "class " : "def ") + std::string(tree_.extra(id)),
          depth, tree_.line_first(id));
      return;
    }
    const NodeId block = tree_.child_of_kind(id, NodeKind::kBlock);
    if (block == 0 && meant != StatementKind::kSwitch) {
      add(meant, id, tree_.source(id, kMaxText), depth, tree_.line_first(id));
      return;
    }
    add(meant, id, header(id, block), depth, tree_.line_first(id));
    for (const NodeId part : tree_.children(id)) part_of(part, block, depth);
  }

  void part_of(NodeId part, NodeId block, uint32_t depth) {
    const NodeKind kind = tree_.kind(part);
    if (kind == NodeKind::kHandler || kind == NodeKind::kCase) {
      const NodeId inside = tree_.child_of_kind(part, NodeKind::kBlock);
      add(kind == NodeKind::kCase ? StatementKind::kCase : StatementKind::kCatch, part,
          header(part, inside), kind == NodeKind::kCase ? depth + 1 : depth,
          tree_.line_first(part));
      statements(inside, kind == NodeKind::kCase ? depth + 2 : depth + 1);
    } else if (kind == NodeKind::kBlock) {
      // The else of a loop and the finally of a try run behind it.
      statements(part, part == block ? depth + 1 : depth);
    }
  }

  // if, each elif and else are statements side by side.
  void choice(NodeId id, uint32_t depth) {
    NodeId test = 0;
    bool first = true;
    for (const NodeId part : tree_.children(id)) {
      if (tree_.kind(part) != NodeKind::kBlock) {
        test = part;
        continue;
      }
      const StatementKind kind = first       ? StatementKind::kIf
                                 : test != 0 ? StatementKind::kElseIf
                                             : StatementKind::kElse;
      const std::string text =
          test == 0 ? "else" : (first ? "if " : "elif ") + tree_.source(test, kMaxText);
      add(kind, part, text, depth, test == 0 ? line_of_else(part) : tree_.line_first(test));
      statements(part, depth + 1);
      first = false;
      test = 0;
    }
  }

  uint32_t line_of_else(NodeId block) const {
    uint32_t token = tree_[block].first;
    while (token > 0 && tree_.tokens.tokens[token].kind != TokenKind::kElse) --token;
    return tree_.tokens.tokens[token].line;
  }

  // The source up to the block, without the colon.
  std::string header(NodeId id, NodeId block) const {
    if (block == 0) return tree_.source(id, kMaxText);
    uint32_t last = tree_[block].first;
    const uint32_t first = tree_[id].first;
    while (last > first && tree_.tokens.tokens[last].kind != TokenKind::kColon) --last;
    return last == first ? std::string(tree_.token(first))
                         : tree_.tokens.source(first, last - 1, kMaxText);
  }

  void add(StatementKind kind, NodeId id, std::string text, uint32_t depth, uint32_t line) {
    Statement statement;
    statement.kind = kind;
    statement.depth = depth;
    statement.line_first = line;
    statement.line_last = tree_.line_last(id);
    statement.text = std::move(text);
    out_.push_back(std::move(statement));
  }

  const Tree& tree_;
  std::vector<Statement> out_;
};

}  // namespace

std::map<uint32_t, NodeId> functions_by_line(const Tree& tree) {
  std::map<uint32_t, NodeId> out;
  for (NodeId id = 1; id < tree.nodes.size(); ++id) {
    if (tree.kind(id) != NodeKind::kFunction) continue;
    out.emplace(tree.line_first(id), id);
    out.emplace(tree.tokens.tokens[tree[id].extra].line, id);
  }
  return out;
}

std::vector<Statement> outline_function(const Tree& tree, NodeId function) {
  const NodeId block = function == 0 ? 0 : tree.child_of_kind(function, NodeKind::kBlock);
  return block == 0 ? std::vector<Statement>() : BodyReader(tree).run(block);
}

}  // namespace fathom::python
