#include "python_literal.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

namespace fathom::agreement {
namespace {

enum class Dialect { python, json };

void append_utf8(std::string& text, uint32_t code) {
  const auto put = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

class LiteralReader {
 public:
  LiteralReader(std::string_view text, Dialect dialect) : text_(text), dialect_(dialect) {}

  std::optional<Value> read_all() {
    auto value = read_value(0);
    skip_space();
    if (!value || at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  static constexpr int kMaxDepth = 64;

  bool python() const { return dialect_ == Dialect::python; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  bool take(char c) {
    skip_space();
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  std::optional<Value> read_value(int depth) {
    if (depth > kMaxDepth) return std::nullopt;
    skip_space();
    const char c = peek();
    if (c == '[') return read_list(']', depth);
    if (c == '(' && python()) return read_list(')', depth);
    if (c == '{') return read_dict(depth);
    if (c == '"' || (c == '\'' && python())) return read_text();
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '-') return read_number();
    return read_word(depth);
  }

  std::optional<Value> read_list(char close, int depth) {
    Value list;
    list.kind = Value::Kind::list;
    ++at_;
    if (take(close)) return list;
    while (true) {
      auto item = read_value(depth + 1);
      if (!item) return std::nullopt;
      list.items.push_back(std::move(*item));
      const bool comma = take(',');
      if (!comma || python()) {
        if (take(close)) return list;
      }
      if (!comma) return std::nullopt;
    }
  }

  std::optional<Value> read_dict(int depth) {
    Value dict;
    dict.kind = Value::Kind::dict;
    ++at_;
    if (take('}')) return dict;
    while (true) {
      auto key = read_value(depth + 1);
      if (!key || key->kind != Value::Kind::text || !take(':')) return std::nullopt;
      auto item = read_value(depth + 1);
      if (!item) return std::nullopt;
      dict.keys.push_back(std::move(key->text));
      dict.items.push_back(std::move(*item));
      const bool comma = take(',');
      if (!comma || python()) {
        if (take('}')) return dict;
      }
      if (!comma) return std::nullopt;
    }
  }

  std::optional<Value> read_text() {
    Value value;
    value.kind = Value::Kind::text;
    const char quote = text_[at_++];
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == quote) return value;
      if (c != '\\') {
        if (!python() && static_cast<unsigned char>(c) < 0x20) return std::nullopt;
        value.text += c;
      } else if (!read_escape(value.text)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  bool read_escape(std::string& text) {
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    switch (c) {
      case 'n':
        text += '\n';
        return true;
      case 't':
        text += '\t';
        return true;
      case 'r':
        text += '\r';
        return true;
      case 'b':
        text += '\b';
        return true;
      case 'f':
        text += '\f';
        return true;
      case '\\':
      case '"':
        text += c;
        return true;
      case '/':
        text += c;
        return !python();
      case '\'':
        text += c;
        return python();
      case 'x':
        return python() && read_code(text, 2);
      case 'U':
        return python() && read_code(text, 8);
      case 'u':
        return read_code(text, 4);
      default:
        return false;
    }
  }

  std::optional<uint32_t> read_hex(size_t digits) {
    uint32_t code = 0;
    const auto part = text_.substr(at_, digits);
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), code, 16);
    if (error != std::errc() || part.size() != digits || end != part.data() + digits) {
      return std::nullopt;
    }
    at_ += digits;
    return code;
  }

  bool read_code(std::string& text, size_t digits) {
    auto code = read_hex(digits);
    if (!code) return false;
    // JSON writes what lies past 16 bits as two surrogates.
    if (*code >= 0xD800 && *code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      const auto low = read_hex(4);
      if (!low || *low < 0xDC00 || *low > 0xDFFF) return false;
      code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
    }
    append_utf8(text, *code);
    return true;
  }

  std::optional<Value> read_number() {
    Value value;
    value.kind = Value::Kind::number;
    if (text_.substr(at_, 2) == "-i") return std::nullopt;  // -inf has no JSON
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value.number);
    if (error != std::errc()) return std::nullopt;
    at_ += static_cast<size_t>(end - begin);
    return value;
  }

  std::optional<Value> read_word(int depth) {
    const size_t begin = at_;
    while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '_' || peek() == '.')
      ++at_;
    const auto word = text_.substr(begin, at_ - begin);
    Value value;
    if (word == (python() ? "None" : "null")) return value;
    if (python() && word == "nan") return value;
    if (word == (python() ? "True" : "true") || word == (python() ? "False" : "false")) {
      value.kind = Value::Kind::boolean;
      value.boolean = std::tolower(static_cast<unsigned char>(word[0])) == 't';
      return value;
    }
    // numpy writes its scalars as calls: np.float64(1.5)
    if (!python() || word.substr(0, 3) != "np." || !take('(')) return std::nullopt;
    auto inner = read_value(depth + 1);
    if (!inner || !take(')')) return std::nullopt;
    return inner;
  }

  std::string_view text_;
  Dialect dialect_;
  size_t at_ = 0;
};

void append_json_text(std::string& json, std::string_view text) {
  json += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr char hex[] = "0123456789abcdef";
      json += "\\u00";
      json += hex[static_cast<unsigned char>(c) >> 4];
      json += hex[static_cast<unsigned char>(c) & 0xF];
    } else {
      json += c;
    }
  }
  json += '"';
}

void append_json(std::string& json, const Value& value) {
  switch (value.kind) {
    case Value::Kind::none:
      json += "null";
      return;
    case Value::Kind::boolean:
      json += value.boolean ? "true" : "false";
      return;
    case Value::Kind::text:
      append_json_text(json, value.text);
      return;
    case Value::Kind::number: {
      char digits[64];
      const auto end = std::to_chars(digits, digits + sizeof digits, value.number).ptr;
      json.append(digits, end);
      return;
    }
    case Value::Kind::list:
    case Value::Kind::dict:
      break;
  }
  const bool dict = value.kind == Value::Kind::dict;
  json += dict ? '{' : '[';
  for (size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) json += ", ";
    if (dict) {
      append_json_text(json, value.keys[i]);
      json += ": ";
    }
    append_json(json, value.items[i]);
  }
  json += dict ? '}' : ']';
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

std::optional<Value> parse_python_literal(std::string_view text) {
  return LiteralReader(text, Dialect::python).read_all();
}

std::optional<Value> parse_json(std::string_view text) {
  return LiteralReader(text, Dialect::json).read_all();
}

std::string format_json(const Value& value) {
  std::string json;
  append_json(json, value);
  return json;
}

}  // namespace fathom::agreement
