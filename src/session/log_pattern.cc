#include "session/log_pattern.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/ascii.h"

namespace fathom {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Where the literal ends in the text, from `at` on; white space in it fits any.
std::optional<size_t> matched(std::string_view text, size_t at, std::string_view literal) {
  for (size_t i = 0; i < literal.size(); ++i) {
    if (is_blank(literal[i])) {
      if (at >= text.size() || !is_blank(text[at])) return std::nullopt;
      while (at < text.size() && is_blank(text[at])) ++at;
      while (i + 1 < literal.size() && is_blank(literal[i + 1])) ++i;
    } else {
      if (at >= text.size() || text[at] != literal[i]) return std::nullopt;
      ++at;
    }
  }
  return at;
}

struct ReadNumber {
  double value;
  size_t end;
};

std::optional<ReadNumber> number_at(std::string_view text, size_t at, bool whole) {
  if (at < text.size() && text[at] == '+') ++at;
  const char* from = text.data() + at;
  double value = 0;
  std::from_chars_result read{};
  if (whole) {
    int64_t number = 0;
    const char* const end = text.data() + text.size();
    read = std::from_chars(from, end, number);
    // The front of "1.5" is no whole number; a full stop after one is.
    if (end - read.ptr > 1 && read.ptr[0] == '.' && is_digit(read.ptr[1])) return std::nullopt;
    value = static_cast<double>(number);
  } else {
    read = std::from_chars(from, text.data() + text.size(), value);
  }
  if (read.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
  return ReadNumber{value, static_cast<size_t>(read.ptr - text.data())};
}

std::string trimmed_name(std::string_view literal) {
  const std::string_view ends = " \t:=,;([{#-";
  const size_t first = literal.find_first_not_of(" \t,;)]}");
  if (first == std::string_view::npos) return {};
  literal.remove_prefix(first);
  const size_t last = literal.find_last_not_of(ends);
  return std::string(last == std::string_view::npos ? "" : literal.substr(0, last + 1));
}

}  // namespace

Result<LogPattern> LogPattern::parse(std::string_view text) {
  LogPattern pattern;
  std::string_view rest = text;
  while (true) {
    const size_t open = rest.find('{');
    pattern.literals_.emplace_back(rest.substr(0, open));
    if (open == std::string_view::npos) break;
    const size_t close = rest.find('}', open);
    if (close == std::string_view::npos)
      return Error{fmt::format("'{}' has a {{ without its }}", text)};
    const std::string_view kind = rest.substr(open + 1, close - open - 1);
    if (kind != "float" && kind != "int" && !kind.empty()) {
      return Error{fmt::format("'{}': {{{}}} is not known; {{float}} and {{int}} are", text, kind)};
    }
    if (!pattern.whole_.empty() && pattern.literals_.back().empty())
      return Error{fmt::format("'{}': two numbers need something between them", text)};
    pattern.whole_.push_back(kind == "int");
    std::string name = trimmed_name(pattern.literals_.back());
    if (name.empty()) name = fmt::format("{} number {}", text, pattern.whole_.size());
    pattern.names_.push_back(std::move(name));
    rest = rest.substr(close + 1);
  }
  if (pattern.whole_.empty()) return Error{fmt::format("'{}' holds no {{float}} or {{int}}", text)};
  return pattern;
}

std::vector<LogPattern::Found> LogPattern::match(std::string_view line) const {
  constexpr size_t kLongest = 4096;  // of a line that is looked at
  line = line.substr(0, kLongest);
  for (size_t start = 0; start <= line.size(); ++start) {
    std::vector<Found> found;
    std::optional<size_t> at = matched(line, start, literals_[0]);
    for (size_t i = 0; at && i < whole_.size(); ++i) {
      const std::optional<ReadNumber> number = number_at(line, *at, whole_[i]);
      if (!number) {
        at = std::nullopt;
        break;
      }
      found.push_back({i, number->value, *at, number->end});
      at = matched(line, number->end, literals_[i + 1]);
    }
    if (at) return found;
  }
  return {};
}

}  // namespace fathom
