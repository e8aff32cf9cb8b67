#pragma once

#include <cstdint>
#include <forward_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/expressions.h"

namespace fathom {

enum class CodeKind : uint8_t {
  // Expressions; children in order.
  kName,  // text: qualified, template arguments left out; `extra`: those as written
  kNumber,
  kLiteral,      // strings, characters, true, nullptr, this
  kCall,         // callee, arguments; the callee of a launch is kLaunch
  kLaunch,       // kernel, what stands in <<< >>>
  kSubscript,    // base, index
  kMember,       // object; text: the member's name; `extra`: its template arguments
  kUnary,        // operand; text: & * - ! ~ ++ --, new, delete, throw
  kPostfix,      // operand; text: ++ --
  kBinary,       // left, right; text: the operator
  kAssign,       // left, right; text: = += …
  kConditional,  // condition, value, value
  kCast,         // operand; text: the type
  kList,         // items of { }
  kLambda,       // kBlock; text: its parameters
  kUnknown,
  // Statements.
  kBlock,       // statements; also the argument { … } of a macro
  kDeclare,     // kDeclarator …; text: the type, with * and &
  kDeclarator,  // initial value, where it has one; text: the name; `extra`: [extents], stars
  kStatement,   // expression; behind it the blocks that it is followed by: MACRO(x) { … }
  kIf,          // condition, then, else; text: "constexpr" where it is
  kFor,         // initial statement, condition, step, body
  kRangeFor,    // iterated, body; text: the variable
  kWhile,       // condition, body; text: "do" where the body comes first
  kSwitch,      // condition, body
  kCase,        // the statements up to the next label
  kTry,         // body
  kCatch,       // body
  kReturn,      // value
  kJump,        // text: break, continue, goto
  kClass,       // a local struct, class, union or enum with its body
  kBranches,    // kBranch …: an #if up to its #endif
  kBranch,      // the statements of one branch; it begins with its directive
  kOther        // text: as written, where it is short
};

// Text of a tree: a piece of the source, or made and kept by the tree.
class CodeText : public std::string_view {
 public:
  constexpr CodeText() = default;
  constexpr CodeText(std::string_view text) : std::string_view(text) {}
  constexpr CodeText(const char* text) : std::string_view(text) {}
  operator std::string() const { return {data(), size()}; }

  friend std::string operator+(CodeText a, const char* b) { return std::string(a).append(b); }
  friend std::string operator+(const char* a, CodeText b) { return std::string(a).append(b); }
  friend std::string operator+(CodeText a, std::string_view b) { return std::string(a).append(b); }
  friend std::string operator+(std::string_view a, CodeText b) { return std::string(a).append(b); }
  friend std::string operator+(CodeText a, CodeText b) { return std::string(a).append(b); }
};

// Of a node, by number.
class CodeChildren {
 public:
  CodeChildren() = default;
  CodeChildren(const uint32_t* first, uint32_t count) : first_(first), count_(count) {}
  const uint32_t* begin() const { return first_; }
  const uint32_t* end() const { return first_ + count_; }
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  uint32_t operator[](size_t i) const { return first_[i]; }
  uint32_t front() const { return *first_; }
  uint32_t back() const { return first_[count_ - 1]; }
  operator std::vector<uint32_t>() const { return {begin(), end()}; }

 private:
  const uint32_t* first_ = nullptr;
  uint32_t count_ = 0;
};

struct CodeNode {
  CodeKind kind = CodeKind::kUnknown;
  bool unrolled = false;         // a statement that the line before asks to unroll
  uint16_t height = 0;           // of the tree below it: at most kMaxTreeHeight
  uint32_t line = 0;             // of its first token
  uint32_t first = 0, last = 0;  // tokens, `last` not within; a statement's ; is
  CodeText text, extra;
  CodeChildren children;
};

// Trees are walked recursively, so their height is bounded: what lies deeper is kUnknown.
constexpr uint16_t kMaxTreeHeight = 160;

// The statements of one C++ function body. Any tokens give a tree, in time linear in their number;
// what cannot be read is kUnknown or kOther. Nodes hold the exact tokens they are made of.
struct CodeTree {
  CodeTree() = default;
  CodeTree(CodeTree&&) = default;
  CodeTree& operator=(CodeTree&&) = default;

  // The source that the tokens are of: a file's, which outlives the tree, or the tree's own.
  struct Source {
    explicit Source(std::string given)
        : text(std::move(given)), list(cpp::lex(text)), pairs(list) {}
    const std::string text;
    const cpp::TokenList list;
    const cpp::Brackets pairs;
  };
  std::shared_ptr<const Source> own;
  const cpp::TokenList* tokens = nullptr;
  const cpp::Brackets* brackets = nullptr;

  std::vector<CodeNode> nodes;
  uint32_t root = 0;

  const CodeNode& operator[](uint32_t id) const { return nodes[id]; }
  cpp::Code code() const { return {*tokens, *brackets}; }
  std::string source(uint32_t id) const { return source(nodes[id]); }
  // Cut where that is long. A node's position ends a cut text, so that different ones differ.
  std::string source(const CodeNode& node) const;
  size_t bytes() const;  // of the source it was read from

 private:
  friend class CodeTreeReader;
  std::vector<uint32_t> children_;
  std::forward_list<std::string> texts_;
};

// `text` begins with the { of the body, which stands in `line`.
CodeTree read_code(std::string text, uint32_t line);

// The statements between two tokens of a file: those inside { and }.
CodeTree read_statements(const cpp::Code& code, size_t first, size_t last);

// A parameter of "const float* __restrict__ x, int n = 4".
struct CodeParameter {
  std::string type;  // "const float", pointers left out
  std::string name;
  int pointers = 0;    // * and []; a reference is none
  std::string extent;  // of a reference to an array, float (&x)[extent]
};
std::vector<CodeParameter> code_parameters(std::string_view parameters);

}  // namespace fathom
