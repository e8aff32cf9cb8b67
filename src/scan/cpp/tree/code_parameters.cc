#include <algorithm>

#include "scan/cpp/tree/code_reader.h"

namespace fathom {

std::vector<CodeParameter> code_parameters(std::string_view parameters) {
  std::vector<CodeParameter> out;
  const cpp::TokenList tokens = cpp::lex(parameters);
  CodeParameter current;
  int depth = 0;
  bool value = false;  // behind = : a default
  bool is_unsigned = false;
  const auto finish = [&] {
    // "unsigned* rows": the word is all of the type.
    if (is_unsigned && current.type.empty()) current.type = "unsigned";
    is_unsigned = false;
    if (!current.name.empty()) out.push_back(std::move(current));
    current = {};
    value = false;
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view token = tokens.at(i);
    if (depth == 0 && token == "(" && tokens.is(i + 1, "&") && tokens.is(i + 3, ")") &&
        tokens.is(i + 4, "[")) {
      if (!current.name.empty()) current.type = current.name;
      current.name = tokens.at(i + 2);
      if (tokens.is(i + 6, "]")) current.extent = tokens.at(i + 5);
      i = std::min(tokens.closing(i + 4), tokens.size() - 1);
      continue;
    }
    if (token == "(" || token == "<" || token == "{") ++depth;
    if (token == ")" || token == ">" || token == "}") --depth;
    if (depth == 0 && token == ",") {
      finish();
      continue;
    }
    if (token == "=") value = true;
    if (value || token == "&") continue;
    is_unsigned = is_unsigned || (depth == 0 && (token == "unsigned" || token == "signed"));
    if (depth == 0 && (token == "*" || token == "[")) ++current.pointers;
    if (token == "*" || token == "[" || token == "]") continue;
    if (depth == 0 && tokens.is_name(i) && !is_qualifier(token)) {
      if (!current.name.empty()) {
        current.type += (current.type.empty() ? "" : " ") + current.name;
      }
      current.name = token;
    } else if (!is_qualifier(token)) {
      current.name += token;  // template arguments and :: belong to the type before the name
    }
  }
  finish();
  return out;
}

}  // namespace fathom
