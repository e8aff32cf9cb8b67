#pragma once

#include <optional>
#include <string>
#include <string_view>

// Text of a trace on its way into a Python script. Whatever it says, it stays a literal.
namespace fathom {

// A Python string literal with its quotes, in ASCII: nothing in the text can end it.
std::string python_quoted(std::string_view text);

// A value as a trace prints it ("2", "-1.", "True", "[1, 1]") as a Python literal that we wrote
// ourselves from what was read. Nothing for any other text.
std::optional<std::string> python_value(std::string_view text);

// namespace::name or namespace::name.overload, each an identifier.
bool is_operator_name(std::string_view text);

// Letters, digits, '_', '-' and '.' alone, for a file's name: aten::mm is aten_mm.
std::string file_name_of(std::string_view op_name);

// Inline code of Markdown, which nothing in the text can end.
std::string markdown_code(std::string_view text);

}  // namespace fathom
