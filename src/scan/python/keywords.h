#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "scan/python/tokens.h"

namespace fathom::python {

// kName where the word is none; match, case and type are none, since only their place decides.
TokenKind keyword(std::string_view word);

// Whether the keyword can only begin a statement, so that no bracket can be open before it.
bool opens_statement(TokenKind kind);

// The operator or bracket that the text begins with, and its bytes; kBad and 1 where none does.
std::pair<TokenKind, size_t> punctuator(std::string_view text);

}  // namespace fathom::python
