#include "base/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace fathom {
namespace {

// Two units of UTF-16 where one is not enough.
void append_escape(std::string& out, char32_t c) {
  if (c > 0xffff) {
    append_escape(out, 0xd7c0 + (c >> 10));
    c = 0xdc00 + (c & 0x3ff);
  }
  out += fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
}

}  // namespace

std::string json_quoted(std::string_view text) {
  // A file's name may be any bytes; a JSON document is UTF-8.
  std::string valid;
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    valid = with_valid_utf8(text);
    text = valid;
  }
  std::string out = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // What a terminal would obey or not show is escaped; the value is the same.
    if (const size_t length = unseen_length(text, i); length > 1) {
      append_escape(out, character_at(text, i));
      i += length - 1;
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
          append_escape(out, static_cast<unsigned char>(c));
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
