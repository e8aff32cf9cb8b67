#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scan/cpp/cpp_options.h"
#include "scan/cpp/tokens.h"

namespace fathom::cpp {

// What the readers of option declarations share.

struct OptionRange {
  size_t first, last;
};

// "text" → text; escapes stay as they are written. Empty: it is no string literal.
std::string string_text(std::string_view literal);

// The arguments between the bracket at `open` and its end, `close`; nothing where they are longer
// than an option's declaration is.
struct OptionArguments {
  std::vector<OptionRange> ranges;
  size_t close = 0;
};
std::optional<OptionArguments> option_arguments(const TokenList& source, size_t open);

// The rows of a table, {…}, {…}, from the { at `at` on: calls `row` with each and its {. Returns
// the token behind the last one.
template <typename Row>
size_t for_each_row(const TokenList& source, size_t at, Row row) {
  while (source.is(at, "{")) {
    const auto arguments = option_arguments(source, at);
    if (!arguments) break;
    row(*arguments, at);
    at = arguments->close + 1;
    if (source.is(at, ",")) ++at;
    while (at < source.size() && source.tokens[at].kind == TokenKind::kDirective) ++at;
  }
  return at;
}

// A literal, adjacent ones joined; none where the argument is anything else.
std::optional<std::string> literal_of(const TokenList& source, OptionRange range);
// The same, or the argument as it is written.
std::string text_of(const TokenList& source, OptionRange range);
// The elements of {"-a", "--all"}, where all of them are literals; none: it is no such list.
std::optional<std::vector<std::string>> literals_of(const TokenList& source, OptionRange range);
// 'x' → "x"; none: it is no character.
std::optional<std::string> character_of(const TokenList& source, OptionRange range);

// "-n", "--count", "-ngl", "--no-mmap": dashes and what an option's name is made of.
bool is_option_name(std::string_view text);
// The first long name to the front, as everywhere.
void put_long_name_first(std::vector<std::string>& names);
// Whether text is a sentence or phrase for people and not a value: it has a space between words.
bool is_prose_text(std::string_view text);

// The words of a name, in small letters: "addOption" and "add_option" → add, option.
std::vector<std::string> words_in_name(std::string_view name);

// What a function makes of the text of an argument: atoi → int; empty: it is none that we know.
std::string_view type_made_by(std::string_view function);
// Type and default of an option by a statement that sets it from the argument, between two tokens:
// `count = atoi(optarg);` and `int count = 4;` above `before`. `arguments` are the names of the
// text.
struct OptionStatement {
  size_t first, last, before;
};
void read_setting(const TokenList& source, const OptionStatement& statement,
                  const std::vector<std::string_view>& arguments, Option& option);

// option_lists.cc, option_tables.cc, option_chains.cc, option_rows.cc, option_objects.cc.
void find_list_options(const TokenList& source, std::vector<Option>& into);
void find_table_options(const TokenList& source, std::vector<Option>& into);
void find_chain_options(const TokenList& source, size_t name, std::vector<Option>& into);
void find_row_options(const TokenList& source, std::vector<Option>& into);
void find_object_options(const TokenList& source, std::vector<Option>& into);
// Keys of a configuration.
void find_key_options(const TokenList& source, std::vector<Option>& into);

}  // namespace fathom::cpp
