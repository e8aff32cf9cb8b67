#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/code_patterns.h"
#include "scan/cpp/tokens.h"

namespace fathom::cpp {

// Bounds that keep every match short: template arguments and calls longer than these are not read.
constexpr size_t kLongestArguments = 400;
constexpr size_t kLongestExpression = 24;

// The bracket or angle that closes the one at `open`, if it does within so many tokens.
std::optional<size_t> closing_near(const TokenList& source, size_t open,
                                   size_t limit = kLongestArguments);
std::optional<size_t> closing_angle_near(const TokenList& source, size_t open);
// The ( of a call whose name is at `name`, past template arguments.
std::optional<size_t> call_bracket(const TokenList& source, size_t name);
// The source text of each argument between a ( and its ).
std::vector<std::string> arguments_of(const TokenList& source, size_t open);

// A row's match at a token, and what its detail can say of it.
struct TokenMatch {
  size_t name = 0;  // the token that {name} is
  size_t end = 0;   // after the last token of it
  std::vector<std::string> captures;
  std::string value;
  bool literal = true;  // {value} is made of numbers alone
};

// Whether `matcher`, of a kind that a name begins, matches at token `at`.
std::optional<TokenMatch> match_at(const TokenList& source, size_t at, size_t last,
                                   const PatternMatcher& matcher, PatternScope scope);

// The names joined with :: or . that end at a token: "cute::Swizzle".
std::string qualified_name(const TokenList& source, size_t at);
// A row's detail with its placeholders filled in.
std::string fill_detail(std::string_view detail, const TokenList& source, const TokenMatch& match);

}  // namespace fathom::cpp
