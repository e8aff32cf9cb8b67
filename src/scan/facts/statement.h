#pragma once

#include <cstdint>
#include <string>

namespace fathom {

// What a statement is, in C++ and in Python alike.
enum class StatementKind : uint8_t {
  kPlain,  // a declaration, an assignment, a call, any other expression
  kIf,     // with its test; what follows one level deeper is its branch
  kElseIf,
  kElse,
  kLoop,  // for, while, do
  kSwitch,
  kCase,
  kTry,
  kCatch,
  kWith,        // of Python
  kGivesCode,   // a call that is given code to run: a lambda, the block of a macro
  kDefinition,  // a named lambda, a local function or class: runs where it is used
  kReturn,
  kJump,       // break, continue, goto
  kThrow,      // raise too
  kCheck,      // assert of Python, static_assert
  kAlias,      // using, typedef, import: nothing happens
  kDirective,  // a branch of an #if
};

// A statement of a function's body. A body is a list in order of the text; what belongs to another
// statement stands behind it, deeper.
struct Statement {
  StatementKind kind = StatementKind::kPlain;
  uint32_t depth = 0;
  uint32_t line_first = 0, line_last = 0;  // with everything that belongs to it
  std::string text;       // as written, on one line, without the code that belongs to it
  bool unrolled = false;  // a loop that the code asks to unroll
  // Of a condition: whether it is decided when the code is compiled (if constexpr).
  bool compile_time = false;
  uint32_t first = 0, last = 0;  // tokens of `text` in C++, the last one not within; of Python none
};

}  // namespace fathom
