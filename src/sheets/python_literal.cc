#include "sheets/python_literal.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "base/json_unescape.h"

namespace fathom {
namespace {

// Python's repr of a str: single quotes unless the text has one and no double quote.
std::string python_quoted(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        if (c == quote) {
          out += '\\';
          out += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  return out += quote;
}

std::string python_scalar(std::string_view token) {
  if (token == "null") return "None";
  if (token == "true") return "True";
  if (token == "false") return "False";
  const bool whole = token.find_first_of(".eE") == std::string_view::npos;
  double value = 0;
  if (whole ||
      std::from_chars(token.data(), token.data() + token.size(), value).ec != std::errc()) {
    return std::string(token);
  }
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

// A single pass with no recursion: nesting in a trace is as deep as its writer likes.
std::string python_literal(std::string_view json, ListsAs lists) {
  const bool tuples = lists == ListsAs::kTuples;
  std::string out;
  std::vector<size_t> elements;  // so far, in each open list
  size_t i = 0;
  while (i < json.size()) {
    const char c = json[i];
    if (c == '[') {
      out += tuples ? '(' : '[';
      elements.push_back(0);
      ++i;
    } else if (c == ']') {
      // Python writes a tuple of one with a comma: (768,).
      if (!elements.empty()) {
        if (tuples && elements.back() == 1) out += ',';
        elements.pop_back();
      }
      out += tuples ? ')' : ']';
      if (!elements.empty()) ++elements.back();
      ++i;
    } else if (c == ',') {
      out += ", ";
      ++i;
    } else if (c == '"') {
      size_t end = i + 1;
      while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
      end = std::min(end, json.size());
      out += python_quoted(json_unescaped(json.substr(i + 1, end - i - 1)));
      if (!elements.empty()) ++elements.back();
      i = std::min(end + 1, json.size());
    } else if (c == '{' || c == '}' || c == ':') {
      out += c;  // no trace has objects here; kept readable
      if (c == ':') out += ' ';
      ++i;
    } else {
      const size_t end = std::min(json.find_first_of(",]}:\"[{", i), json.size());
      out += python_scalar(json.substr(i, end - i));
      if (!elements.empty()) ++elements.back();
      i = end;
    }
  }
  return out;
}

std::string python_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ", ";
    out += python_quoted(text);
  }
  return out + "]";
}

}  // namespace fathom
