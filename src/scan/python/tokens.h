#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::python {

// An f-string is not one token: kFStringBegin (prefix and quote), then texts and fields, then
// kFStringEnd; between kFieldOpen and kFieldClose stand ordinary tokens, so that the expressions of
// fields are parsed like any other and may nest as deep as they like.
enum class TokenKind : uint8_t {
  kEnd,
  kNewline,
  kIndent,
  kDedent,
  kName,
  kNumber,
  kString,
  kFStringBegin,
  kFStringText,
  kFStringEnd,
  kFieldOpen,
  kFieldClose,
  kBad,  // a byte that no token begins with, or a string that nothing closes

  kOpenParen,
  kCloseParen,
  kOpenBracket,
  kCloseBracket,
  kOpenBrace,
  kCloseBrace,
  kComma,
  kColon,
  kDot,
  kSemicolon,
  kAssign,
  kAugmentedAssign,
  kWalrus,
  kArrow,
  kEllipsis,
  kBang,
  kAt,
  kStar,
  kDoubleStar,
  kPlus,
  kMinus,
  kTilde,
  kSlash,
  kDoubleSlash,
  kPercent,
  kAmpersand,
  kPipe,
  kCaret,
  kShift,
  kComparison,  // < > == >= <= !=

  kAnd,
  kAs,
  kAssert,
  kAsync,
  kAwait,
  kBreak,
  kClass,
  kContinue,
  kDef,
  kDel,
  kElif,
  kElse,
  kExcept,
  kFinally,
  kFor,
  kFrom,
  kGlobal,
  kIf,
  kImport,
  kIn,
  kIs,
  kLambda,
  kNonlocal,
  kNot,
  kOr,
  kPass,
  kRaise,
  kReturn,
  kTry,
  kWhile,
  kWith,
  kYield,
};

struct Token {
  uint32_t begin, end;  // bytes of the text
  uint32_t line;        // of its first byte, from 1
  TokenKind kind;
};

struct Comment {
  uint32_t begin, end;  // from the # to the end of the line
  uint32_t line;
  bool alone;  // nothing stands before it on its line
};

// A source text, its tokens and its comments. The text must outlive it. The last token is kEnd.
struct TokenList {
  std::string_view text;
  std::vector<Token> tokens;
  std::vector<Comment> comments;
  bool damaged = false;  // brackets, quotes or indentation do not match

  std::string_view at(uint32_t i) const {
    return text.substr(tokens[i].begin, tokens[i].end - tokens[i].begin);
  }
  // The line of the token's last byte: strings may span lines.
  uint32_t last_line(uint32_t i) const;
  // The source from the first token to the last one, on one line where no string spans lines;
  // comments and line breaks between tokens become one space. Cut to about `at_most` bytes.
  std::string source(uint32_t first, uint32_t last, size_t at_most = SIZE_MAX) const;
};

// At most so many bytes of the text's beginning or end, no character cut apart.
std::string_view utf8_begin(std::string_view text, size_t at_most);
std::string_view utf8_end(std::string_view text, size_t at_most);

// Line breaks as Python counts them: \n, \r\n and \r alone.
uint32_t count_line_breaks(std::string_view text);

// Cuts any text into tokens.
TokenList lex(std::string_view text);

}  // namespace fathom::python
