#include "ingest/kineto/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/ascii.h"
#include "base/json_unescape.h"

namespace fathom::kineto {
namespace {

constexpr int kNanoDigits = 3;  // of a microsecond
// 146 years in ns: twice as much still fits, so that an end can be computed from any start.
constexpr int64_t kMaxMicros = (int64_t{1} << 62) / 1000 - 1;

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
  uint32_t sizes[3] = {1, 1, 1};
  for (uint32_t& size : sizes) {
    const size_t comma = json.find(',');
    std::string_view one = json.substr(0, comma);
    while (!one.empty() && std::strchr(" \t\r\n", one.front())) one.remove_prefix(1);
    while (!one.empty() && std::strchr(" \t\r\n", one.back())) one.remove_suffix(1);
    const std::optional<int64_t> value = read_integer(one);
    if (!value || *value < 0 || *value > UINT32_MAX) return {};
    size = static_cast<uint32_t>(*value);
    if (comma == std::string_view::npos) break;
    json.remove_prefix(comma + 1);
  }
  return Dim3{sizes[0], sizes[1], sizes[2]};
}

void read_numbers(std::string_view json,
                  const std::function<void(std::string_view key, double value)>& visit) {
  // Keys and values in turn, strings or anything between separators; what nests is passed over.
  std::string_view key;
  bool has_key = false;
  int depth = 0;
  for (size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (std::strchr(" \t\r\n:,", c) != nullptr) {
      if (c == ',' && depth == 1) has_key = false;
      ++at;
      continue;
    }
    if (c == '{' || c == '[' || c == '}' || c == ']') {
      depth += c == '{' || c == '[' ? 1 : -1;
      ++at;
      continue;
    }
    size_t end = at + 1;
    if (c == '"') {
      while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, json.size());
    } else {
      end = std::min(json.find_first_of(" \t\r\n,:]}", at), json.size());
    }
    const std::string_view token = json.substr(at, end - at);
    at = end;
    if (depth != 1) continue;
    if (!has_key) {
      key = token;
      has_key = true;
      continue;
    }
    const std::string_view number = without_quotes(token);
    double value = 0;
    const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error == std::errc() && stop == number.data() + number.size() && std::isfinite(value)) {
      visit(without_quotes(key), value);
    }
  }
}

bool is_plain_string(std::string_view json) {
  return json.size() >= 2 && json.front() == '"' &&
         std::memchr(json.data(), '\\', json.size()) == nullptr;
}

std::string read_text(std::string_view json) {
  const std::string_view text = without_quotes(json);
  return text.size() == json.size() ? std::string(json) : json_unescaped(text);
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
