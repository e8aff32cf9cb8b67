#include "base/csv_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ascii.h"

namespace fathom {
namespace {

using namespace std::string_view_literals;

// Blanks and apostrophes that separate thousands: U+00A0, U+202F, U+2009, U+2019.
size_t separator_length(std::string_view text) {
  for (const std::string_view mark :
       {" "sv, "'"sv, "\xc2\xa0"sv, "\xe2\x80\xaf"sv, "\xe2\x80\x89"sv, "\xe2\x80\x99"sv}) {
    if (text.starts_with(mark)) return mark.size();
  }
  return 0;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

}  // namespace

void split_csv(std::string_view line, CsvRecord& into) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  size_t used = 0;
  const auto next_field = [&]() -> std::string& {
    if (used == into.fields.size()) into.fields.emplace_back();
    std::string& field = into.fields[used++];
    field.clear();
    return field;
  };
  into.unclosed = false;
  size_t at = 0;
  while (true) {
    std::string& field = next_field();
    if (at < line.size() && line[at] == '"') {
      ++at;
      while (true) {
        const size_t quote = line.find('"', at);
        if (quote == std::string_view::npos) {
          field += line.substr(at);
          into.unclosed = true;
          into.fields.resize(used);
          return;
        }
        field += line.substr(at, quote - at);
        at = quote + 1;
        if (at >= line.size() || line[at] != '"') break;
        field += '"';
        ++at;
      }
    }
    const size_t comma = std::min(line.find(',', at), line.size());
    field += line.substr(at, comma - at);
    if (comma == line.size()) break;
    at = comma + 1;
  }
  into.fields.resize(used);
}

void DecimalVotes::add(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('-')) text.remove_prefix(1);
  size_t points = 0, commas = 0, group = 0, first_group = 0;
  char last = 0;
  for (const char c : text) {
    if (is_digit(c)) {
      ++group;
      continue;
    }
    if (c != '.' && c != ',') return;  // no plain number: it says nothing
    if (last == 0) first_group = group;
    (c == '.' ? points : commas)++;
    last = c;
    group = 0;
  }
  if (last == 0) return;
  const bool grouped = group == 3 && first_group >= 1 && first_group <= 3 && text.front() != '0';
  const bool has_both = points > 0 && commas > 0;
  if (!has_both && points + commas > 1) {
    (last == '.' ? commas_ : points_)++;  // repeated, so between thousands
  } else if (has_both || !grouped) {
    (last == '.' ? points_ : commas_)++;
  }
}

bool parse_number(std::string_view text, DecimalMark mark, double& value, std::string_view& rest) {
  text = trimmed(text);
  const char decimal = mark == DecimalMark::kPoint ? '.' : ',';
  const char thousands = mark == DecimalMark::kPoint ? ',' : '.';
  std::string plain;
  size_t at = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    if (text[0] == '-') plain += '-';
    ++at;
  }
  bool has_digit = false, in_fraction = false;
  while (at < text.size()) {
    const char c = text[at];
    if (is_digit(c)) {
      plain += c;
      has_digit = true;
    } else if (c == decimal && !in_fraction) {
      plain += '.';
      in_fraction = true;
    } else if ((c == 'e' || c == 'E') && has_digit) {
      size_t exponent = at + 1;
      if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
      if (exponent >= text.size() || !is_digit(text[exponent])) break;
      plain += 'e';
      if (text[exponent - 1] == '-') plain += '-';
      for (; exponent < text.size() && is_digit(text[exponent]); ++exponent)
        plain += text[exponent];
      at = exponent;
      break;
    } else if (has_digit && !in_fraction) {
      // A separator stands between digits, three of them after it.
      const size_t length = c == thousands ? 1 : separator_length(text.substr(at));
      const std::string_view after = text.substr(std::min(at + length, text.size()));
      const bool separates = length > 0 && after.size() >= 3 && is_digit(after[0]) &&
                             is_digit(after[1]) && is_digit(after[2]) &&
                             (after.size() == 3 || !is_digit(after[3]));
      if (!separates) break;
      at += length;
      continue;
    } else {
      break;
    }
    ++at;
  }
  if (!has_digit) return false;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  rest = text.substr(at);
  return error == std::errc() && end == plain.data() + plain.size() && std::isfinite(value);
}

bool parse_number(std::string_view text, DecimalMark mark, double& value) {
  std::string_view rest;
  return parse_number(text, mark, value, rest) && rest.empty();
}

}  // namespace fathom
