#include "scan/python/keywords.h"

#include <algorithm>
#include <array>

namespace fathom::python {
namespace {

using Entry = std::pair<std::string_view, TokenKind>;

// In order of length, then of the alphabet: a word is looked up among those of its length.
constexpr std::array<Entry, 32> kKeywords = {{
    {"as", TokenKind::kAs},
    {"if", TokenKind::kIf},
    {"in", TokenKind::kIn},
    {"is", TokenKind::kIs},
    {"or", TokenKind::kOr},
    {"and", TokenKind::kAnd},
    {"def", TokenKind::kDef},
    {"del", TokenKind::kDel},
    {"for", TokenKind::kFor},
    {"not", TokenKind::kNot},
    {"try", TokenKind::kTry},
    {"elif", TokenKind::kElif},
    {"else", TokenKind::kElse},
    {"from", TokenKind::kFrom},
    {"pass", TokenKind::kPass},
    {"with", TokenKind::kWith},
    {"async", TokenKind::kAsync},
    {"await", TokenKind::kAwait},
    {"break", TokenKind::kBreak},
    {"class", TokenKind::kClass},
    {"raise", TokenKind::kRaise},
    {"while", TokenKind::kWhile},
    {"yield", TokenKind::kYield},
    {"assert", TokenKind::kAssert},
    {"except", TokenKind::kExcept},
    {"global", TokenKind::kGlobal},
    {"import", TokenKind::kImport},
    {"lambda", TokenKind::kLambda},
    {"return", TokenKind::kReturn},
    {"finally", TokenKind::kFinally},
    {"continue", TokenKind::kContinue},
    {"nonlocal", TokenKind::kNonlocal},
}};

struct Range {
  uint8_t first, last;
};

constexpr std::array<Range, 9> ranges_by_length() {
  std::array<Range, 9> ranges{};
  for (size_t i = 0; i < kKeywords.size(); ++i) {
    Range& range = ranges[kKeywords[i].first.size()];
    if (range.last == 0) range.first = static_cast<uint8_t>(i);
    range.last = static_cast<uint8_t>(i + 1);
  }
  return ranges;
}

constexpr std::array<Range, 9> kByLength = ranges_by_length();

// The longer ones first: the first that fits is the longest.
constexpr std::array<Entry, 47> kPunctuators = {{
    {"...", TokenKind::kEllipsis},
    {"**=", TokenKind::kAugmentedAssign},
    {"//=", TokenKind::kAugmentedAssign},
    {"<<=", TokenKind::kAugmentedAssign},
    {">>=", TokenKind::kAugmentedAssign},
    {"**", TokenKind::kDoubleStar},
    {"//", TokenKind::kDoubleSlash},
    {"<<", TokenKind::kShift},
    {">>", TokenKind::kShift},
    {"<=", TokenKind::kComparison},
    {">=", TokenKind::kComparison},
    {"==", TokenKind::kComparison},
    {"!=", TokenKind::kComparison},
    {"->", TokenKind::kArrow},
    {":=", TokenKind::kWalrus},
    {"+=", TokenKind::kAugmentedAssign},
    {"-=", TokenKind::kAugmentedAssign},
    {"*=", TokenKind::kAugmentedAssign},
    {"/=", TokenKind::kAugmentedAssign},
    {"%=", TokenKind::kAugmentedAssign},
    {"&=", TokenKind::kAugmentedAssign},
    {"|=", TokenKind::kAugmentedAssign},
    {"^=", TokenKind::kAugmentedAssign},
    {"@=", TokenKind::kAugmentedAssign},
    {"(", TokenKind::kOpenParen},
    {")", TokenKind::kCloseParen},
    {"[", TokenKind::kOpenBracket},
    {"]", TokenKind::kCloseBracket},
    {"{", TokenKind::kOpenBrace},
    {"}", TokenKind::kCloseBrace},
    {",", TokenKind::kComma},
    {":", TokenKind::kColon},
    {".", TokenKind::kDot},
    {";", TokenKind::kSemicolon},
    {"=", TokenKind::kAssign},
    {"@", TokenKind::kAt},
    {"*", TokenKind::kStar},
    {"+", TokenKind::kPlus},
    {"-", TokenKind::kMinus},
    {"~", TokenKind::kTilde},
    {"/", TokenKind::kSlash},
    {"%", TokenKind::kPercent},
    {"&", TokenKind::kAmpersand},
    {"|", TokenKind::kPipe},
    {"^", TokenKind::kCaret},
    {"<", TokenKind::kComparison},
    {">", TokenKind::kComparison},
}};

// What a single byte means, so that most operators need no search.
constexpr std::array<TokenKind, 128> single_punctuators() {
  std::array<TokenKind, 128> kinds{};
  for (TokenKind& kind : kinds) kind = TokenKind::kBad;
  for (const Entry& entry : kPunctuators) {
    if (entry.first.size() == 1) kinds[static_cast<unsigned char>(entry.first[0])] = entry.second;
  }
  kinds['!'] = TokenKind::kBang;  // of a field: {x!r}
  return kinds;
}

constexpr std::array<TokenKind, 128> kSingle = single_punctuators();

}  // namespace

TokenKind keyword(std::string_view word) {
  if (word.size() < 2 || word.size() > 8) return TokenKind::kName;
  const Range range = kByLength[word.size()];
  for (size_t i = range.first; i < range.last; ++i) {
    if (kKeywords[i].first[0] == word[0] && kKeywords[i].first == word) return kKeywords[i].second;
  }
  return TokenKind::kName;
}

bool opens_statement(TokenKind kind) {
  switch (kind) {
    case TokenKind::kAssert:
    case TokenKind::kBreak:
    case TokenKind::kClass:
    case TokenKind::kContinue:
    case TokenKind::kDef:
    case TokenKind::kDel:
    case TokenKind::kElif:
    case TokenKind::kExcept:
    case TokenKind::kFinally:
    case TokenKind::kGlobal:
    case TokenKind::kImport:
    case TokenKind::kNonlocal:
    case TokenKind::kPass:
    case TokenKind::kRaise:
    case TokenKind::kReturn:
    case TokenKind::kTry:
    case TokenKind::kWhile:
    case TokenKind::kWith:
      return true;
    default:
      return false;
  }
}

std::pair<TokenKind, size_t> punctuator(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte >= 128) return {TokenKind::kBad, 1};
  const char second = text.size() > 1 ? text[1] : '\0';
  const bool longer = second == '=' || second == '*' || second == '/' || second == '<' ||
                      second == '>' || second == '.';
  if (longer) {
    for (const Entry& entry : kPunctuators) {
      if (entry.first.size() > 1 && text.starts_with(entry.first)) {
        return {entry.second, entry.first.size()};
      }
    }
  }
  return {kSingle[byte], 1};
}

}  // namespace fathom::python
