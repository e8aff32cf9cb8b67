#include "ingest/kineto/json_text.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace fathom::kineto {
namespace {

constexpr int kNanoDigits = 3;  // of a microsecond
constexpr int64_t kMaxMicros = INT64_MAX / 1000 - 1;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view without_quotes(std::string_view json) {
  const bool quoted = json.size() >= 2 && json.front() == '"' && json.back() == '"';
  return quoted ? json.substr(1, json.size() - 2) : json;
}

// 1.5e12 and the like: rare enough for the slow road, and beyond exactness by its own writing.
std::optional<Nanos> read_scientific(std::string_view number) {
  double micros = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), micros);
  if (error != std::errc() || end != number.data() + number.size()) return {};
  if (!(std::abs(micros) < static_cast<double>(kMaxMicros))) return {};
  return Nanos{static_cast<int64_t>(std::llround(micros * 1000))};
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

std::optional<uint32_t> read_hex4(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return {};
  uint32_t code = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
  if (error != std::errc() || end != text.data() + at + 4) return {};
  return code;
}

// After "\u": appends the character and returns how many characters of text it took.
size_t unescape_unicode(std::string& out, std::string_view text, size_t at) {
  constexpr uint32_t kReplacement = 0xfffd;
  const std::optional<uint32_t> unit = read_hex4(text, at);
  if (!unit) {
    append_utf8(out, kReplacement);
    return 0;
  }
  const bool high = *unit >= 0xd800 && *unit < 0xdc00;
  if (high && text.substr(at + 4, 2) == "\\u") {
    const std::optional<uint32_t> low = read_hex4(text, at + 6);
    if (low && *low >= 0xdc00 && *low < 0xe000) {
      append_utf8(out, 0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00));
      return 10;
    }
  }
  const bool lone_surrogate = *unit >= 0xd800 && *unit < 0xe000;
  append_utf8(out, lone_surrogate ? kReplacement : *unit);
  return 4;
}

std::string unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'u':
        i += unescape_unicode(out, text, i + 1);
        break;
      default:
        out += text[i];  // \" \\ \/ and what no JSON writer should have written
    }
  }
  return out;
}

}  // namespace

std::optional<Nanos> read_micros(std::string_view json) {
  const std::string_view number = without_quotes(json);
  size_t i = 0;
  const bool negative = !number.empty() && number[0] == '-';
  if (negative) ++i;
  const size_t first_digit = i;
  int64_t micros = 0;
  for (; i < number.size() && is_digit(number[i]); ++i) {
    if (micros > kMaxMicros / 10) return {};
    micros = micros * 10 + (number[i] - '0');
  }
  if (i == first_digit || micros > kMaxMicros) return {};
  int64_t nanos = micros * 1000;
  if (i < number.size() && number[i] == '.') {
    ++i;
    int64_t scale = 100;
    for (int digit = 0; i < number.size() && is_digit(number[i]); ++i, ++digit) {
      if (digit < kNanoDigits) {
        nanos += (number[i] - '0') * scale;
        scale /= 10;
      } else if (digit == kNanoDigits && number[i] >= '5') {
        ++nanos;
      }
    }
  }
  if (i != number.size()) return read_scientific(number);
  return Nanos{negative ? -nanos : nanos};
}

std::optional<int64_t> read_integer(std::string_view json) {
  const std::string_view number = without_quotes(json);
  const char* const begin = number.data();
  const char* const end = begin + number.size();
  int64_t value = 0;
  auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range && *begin != '-') {
    // Ids may use all 64 bits; as ids they only have to stay different.
    uint64_t wide = 0;
    std::tie(stop, error) = [&] {
      const auto r = std::from_chars(begin, end, wide);
      return std::pair(r.ptr, r.ec);
    }();
    value = static_cast<int64_t>(wide);
  }
  if (error != std::errc()) return {};
  // Some writers give whole numbers as 12.0.
  if (stop != end && *stop == '.') {
    do ++stop;
    while (stop != end && *stop == '0');
  }
  return stop == end ? std::optional(value) : std::nullopt;
}

std::optional<Dim3> read_dim3(std::string_view json) {
  if (json.size() < 2 || json.front() != '[' || json.back() != ']') return {};
  json = json.substr(1, json.size() - 2);
  int64_t sizes[3] = {1, 1, 1};
  for (int64_t& size : sizes) {
    const size_t comma = json.find(',');
    std::string_view one = json.substr(0, comma);
    while (!one.empty() && std::strchr(" \t\r\n", one.front())) one.remove_prefix(1);
    while (!one.empty() && std::strchr(" \t\r\n", one.back())) one.remove_suffix(1);
    const std::optional<int64_t> value = read_integer(one);
    if (!value) return {};
    size = *value;
    if (comma == std::string_view::npos) break;
    json.remove_prefix(comma + 1);
  }
  return Dim3{sizes[0], sizes[1], sizes[2]};
}

bool is_plain_string(std::string_view json) {
  return json.size() >= 2 && json.front() == '"' &&
         std::memchr(json.data(), '\\', json.size()) == nullptr;
}

std::string read_text(std::string_view json) {
  const std::string_view text = without_quotes(json);
  return text.size() == json.size() ? std::string(json) : unescape(text);
}

std::string without_spaces(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < json.size()) {
        out += json[++i];
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
      in_string = c == '"';
      out += c;
    }
  }
  return out;
}

}  // namespace fathom::kineto
