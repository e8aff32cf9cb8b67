#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scan/python/tokens.h"

namespace fathom::python {

enum class NodeKind : uint8_t {
  kNone,
  // Statements. What their children are stands beside each, in order.
  kModule,      // statements
  kBlock,       // statements
  kFunction,    // kDecorators, kParameters, kReturns?, kBlock; `extra`: its name
  kClass,       // kDecorators, kArguments, kBlock; `extra`: its name
  kIf,          // test, kBlock, for each elif the same, then the kBlock of else
  kWhile,       // test, kBlock, kBlock of else?
  kFor,         // target, iterated, kBlock, kBlock of else?
  kTry,         // kBlock, kHandler …, kBlock …
  kHandler,     // type?, kBlock
  kWith,        // item …, kBlock
  kMatch,       // subject, kCase …
  kCase,        // kPattern, guard?, kBlock
  kReturn,      // value?
  kDelete,      // target …
  kAssign,      // target, target …, value
  kAnnotated,   // target, annotation, value?
  kAugmented,   // target, value
  kRaise,       // exception?, cause?
  kAssert,      // test, message?
  kImport,      // kImportName …
  kImportFrom,  // kImportName …; `extra`: the keyword import
  kImportName,  // `extra`: the name after `as`, or 0
  kTypeAlias,   // value; `extra`: its name
  kExpression,  // value
  kOther,       // pass, break, continue, global, nonlocal
  kDamaged,     // could not be parsed; kBlock? of the lines indented below it
  // Parts.
  kDecorators,        // expression …
  kParameters,        // kParameter …
  kParameter,         // annotation?, default?; `extra`: its name; for a bare * or / that token
  kReturns,           // annotation
  kArguments,         // as of a call
  kKeyword,           // value; `extra`: its name
  kStarred,           // value
  kDoubleStarred,     // value
  kComprehensionFor,  // target, iterated, condition …
  kPair,              // key, value
  kField,             // of an f-string: value, nested kField …
  kPattern,           // what it consists of
  // Expressions.
  kName,
  kNumber,
  kString,  // literals that stand side by side are one; kField …
  kEllipsis,
  kAttribute,  // value; `extra`: its name
  kSubscript,  // value, index
  kSlice,      // bounds
  kCall,       // callee, arguments
  kTuple,
  kList,
  kSet,
  kDict,           // kPair and kDoubleStarred
  kComprehension,  // element (of a dictionary: kPair), kComprehensionFor …
  kLambda,         // kParameters, value
  kConditional,    // value, test, value, test …, value
  kBinary,         // operands of one operator; `extra`: its first token
  kBoolean,        // and, or: the same
  kCompare,        // operands; `extra`: the first operator's first token
  kUnary,          // operand; `extra`: the operator
  kAwait,
  kYield,
  kNamed,  // target, value
};

using NodeId = uint32_t;  // 0: none

struct Node {
  NodeKind kind = NodeKind::kNone;
  uint8_t flags = 0;
  uint32_t first = 0, last = 0;  // tokens, both within
  uint32_t extra = 0;            // a token; see the kinds
  NodeId child = 0, next = 0;
};

// Of kParameter.
constexpr uint8_t kHasAnnotation = 1, kHasDefault = 2, kIsStar = 4, kIsDoubleStar = 8, kIsMark = 16;

// What a text says, statement by statement. Brackets around an expression leave no node.
struct Tree {
  TokenList tokens;
  std::vector<Node> nodes;  // the first one is no node
  NodeId root = 0;
  bool damaged = false;

  const Node& operator[](NodeId id) const { return nodes[id]; }
  NodeKind kind(NodeId id) const { return nodes[id].kind; }
  NodeId child(NodeId id, uint32_t index = 0) const;
  NodeId child_of_kind(NodeId id, NodeKind kind) const;
  uint32_t child_count(NodeId id) const;
  uint32_t line_first(NodeId id) const { return tokens.tokens[nodes[id].first].line; }
  uint32_t line_last(NodeId id) const { return tokens.last_line(nodes[id].last); }
  std::string_view token(uint32_t index) const { return tokens.at(index); }
  std::string_view extra(NodeId id) const { return tokens.at(nodes[id].extra); }
  std::string source(NodeId id, size_t at_most = SIZE_MAX) const {
    return id == 0 ? "" : tokens.source(nodes[id].first, nodes[id].last, at_most);
  }
  // Of a kName; empty: it is something else.
  std::string_view name(NodeId id) const {
    return kind(id) == NodeKind::kName ? token(nodes[id].first) : std::string_view();
  }
  bool is_name(NodeId id, std::string_view wanted) const {
    return kind(id) == NodeKind::kName && name(id) == wanted;
  }
  // What `target = value` or `target: type = value` sets; 0: nothing.
  NodeId assigned_value(NodeId statement) const {
    return child(statement, kind(statement) == NodeKind::kAnnotated ? 2 : 1);
  }

  // for (NodeId c : tree.children(id))
  struct Children {
    struct Iterator {
      const std::vector<Node>* nodes;
      NodeId at;
      NodeId operator*() const { return at; }
      Iterator& operator++() {
        at = (*nodes)[at].next;
        return *this;
      }
      bool operator!=(const Iterator& other) const { return at != other.at; }
    };
    const std::vector<Node>* nodes;
    NodeId first;
    Iterator begin() const { return {nodes, first}; }
    Iterator end() const { return {nodes, 0}; }
  };
  Children children(NodeId id) const { return {&nodes, nodes[id].child}; }
};

// Any text gives a tree: a statement that cannot be parsed is passed over and `damaged` set. The
// text must outlive the tree.
Tree parse(std::string_view text);

}  // namespace fathom::python
