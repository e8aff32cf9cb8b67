#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/brackets.h"
#include "scan/cpp/tokens.h"

namespace fathom {

enum class CodeKind : uint8_t {
  // Expressions; children in order.
  kName,  // text: qualified, template arguments left out; `extra`: those as written
  kNumber,
  kLiteral,      // strings, characters, true, nullptr, this
  kCall,         // callee, arguments
  kSubscript,    // base, index
  kMember,       // object; text: the member's name
  kUnary,        // operand; text: & * - ! ~ ++ --
  kPostfix,      // operand; text: ++ --
  kBinary,       // left, right; text: the operator
  kAssign,       // left, right; text: = += …
  kConditional,  // condition, value, value
  kCast,         // operand; text: the type
  kList,         // items of { }
  kLambda,       // kBlock; text: its parameters
  kUnknown,
  // Statements.
  kBlock,       // statements
  kDeclare,     // kDeclarator …; text: the type, with * and &
  kDeclarator,  // initial value, where it has one; text: the name; `extra`: [extents], stars
  kStatement,   // expression
  kIf,          // condition, then, else; text: "constexpr" where it is
  kFor,         // initial statement, condition, step, body
  kRangeFor,    // iterated, body; text: the variable
  kWhile,       // condition, body
  kReturn,      // value
  kJump,        // text: break, continue
  kOther
};

struct CodeNode {
  CodeKind kind = CodeKind::kUnknown;
  uint32_t line = 0;
  uint32_t height = 0;           // of the tree below it: at most kMaxTreeHeight
  uint32_t first = 0, last = 0;  // tokens, `last` not within
  std::string text, extra;
  std::vector<uint32_t> children;
};

// Trees are walked recursively, so their height is bounded: what lies deeper is kUnknown.
constexpr uint32_t kMaxTreeHeight = 160;

// The statements of one C++ function body. Any text gives a tree; what cannot be read is kUnknown
// or kOther.
struct CodeTree {
  std::shared_ptr<const std::string> text;  // the source that the tokens are of
  cpp::TokenList tokens;
  std::vector<CodeNode> nodes;
  uint32_t root = 0;

  const CodeNode& operator[](uint32_t id) const { return nodes[id]; }
  std::string source(uint32_t id) const { return source(nodes[id]); }
  // Cut where that is long. A node's position ends a cut text, so that different ones differ.
  std::string source(const CodeNode& node) const;
};

// `text` begins with the { of the body, which stands in `line`.
CodeTree read_code(std::string text, uint32_t line);

// A parameter of "const float* __restrict__ x, int n = 4".
struct CodeParameter {
  std::string type;  // "const float", pointers left out
  std::string name;
  int pointers = 0;    // * and []; a reference is none
  std::string extent;  // of a reference to an array, float (&x)[extent]
};
std::vector<CodeParameter> code_parameters(std::string_view parameters);

}  // namespace fathom
