#include "base/json_writer.h"

#include <fmt/format.h>

#include <cmath>

namespace fathom {

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // U+0080 to U+009F: some terminals obey them.
    const bool control =
        c == '\xc2' && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (control) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(text[++i])));
      continue;
    }
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  return out += '"';
}

JsonWriter& JsonWriter::value(double number) {
  // JSON has no word for them, and an unknown is what they are.
  if (!std::isfinite(number)) return null();
  return raw(fmt::format("{}", number));
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  out_ += json_quoted(name);
  out_ += indent_ ? ": " : ":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::begin(char bracket) {
  separate();
  out_ += bracket;
  ++depth_;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  --depth_;
  if (!first_) new_line();
  out_ += bracket;
  first_ = false;
  return *this;
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (depth_ == 0) return;
  if (!first_) out_ += indent_ ? "," : ", ";
  first_ = false;
  new_line();
}

void JsonWriter::new_line() {
  if (!indent_) return;
  out_ += '\n';
  out_.append(static_cast<size_t>(depth_) * 2, ' ');
}

}  // namespace fathom
