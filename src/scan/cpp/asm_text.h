#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/tokens.h"

namespace fathom::cpp {

// One instruction inside an asm statement. Predicates, labels and scope braces before it are left
// out, and its lines are joined.
struct AsmInstruction {
  std::string mnemonic;  // "cp.async.cg.shared.global"
  std::string operands;  // "[%0], [%1], 16"
  uint32_t line = 0;     // of the mnemonic
};

struct AsmStatement {
  std::vector<AsmInstruction> instructions;
  std::vector<std::string> values;  // the C++ expressions of %0, %1 …
  size_t end = 0;                   // the token after the closing bracket
};

// Whether an asm statement begins at a token.
bool opens_asm(const TokenList& source, size_t at);
// The statement that begins there. Text that is no string (a macro) stands as '?'.
AsmStatement read_asm(const TokenList& source, size_t at);

// The bytes that one thread moves, of the vector width and type that a load's or store's mnemonic
// names or of a copy's size operand; 0: it does not say.
uint32_t bytes_moved(const AsmInstruction& instruction, const std::vector<std::string>& values);

// "m64n128k16" of a mnemonic or a name, also where that says 64x128x16; empty: none.
std::string matrix_shape(std::string_view name);

}  // namespace fathom::cpp
