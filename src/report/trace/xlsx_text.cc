#include "report/trace/xlsx_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace fathom {
namespace {

constexpr size_t kFlushSize = size_t{64} << 10;
constexpr size_t kMaxNameUnits = 31;
constexpr std::string_view kReplacement = "\xef\xbf\xbd";
constexpr std::string_view kEllipsis = "…";

// One character at the front of a text. Invalid: a single byte that is no UTF-8, or a character
// that XML 1.0 forbids.
struct Character {
  size_t bytes = 1;
  size_t units = 1;  // in UTF-16
  bool valid = false;
};

bool allowed_in_xml(uint32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  return code != 0xfffe && code != 0xffff;
}

Character first_character(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {1, 1, allowed_in_xml(lead)};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  uint32_t code = lead & (0x7fU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (overlong || surrogate || code > 0x10ffff) return {};
  return {bytes, bytes == 4 ? size_t{2} : size_t{1}, allowed_in_xml(code)};
}

constexpr std::array<bool, 256> plain_bytes() {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; ++c) plain[c] = true;
  for (const char c : std::string_view("&<>\"_")) plain[static_cast<unsigned char>(c)] = false;
  return plain;
}
constexpr std::array<bool, 256> kPlain = plain_bytes();

// Bytes at the front that stand for themselves.
size_t plain_length(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && kPlain[static_cast<unsigned char>(text[i])]) ++i;
  return i;
}

bool begins_escape(std::string_view text) {
  constexpr size_t kLength = 7;  // _x0041_
  return text.size() >= kLength && text[1] == 'x' && text[6] == '_' &&
         std::all_of(text.begin() + 2, text.begin() + 6, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
         });
}

// The first character as XML; returns its length.
size_t append_character(std::string& out, std::string_view text, bool in_cell) {
  switch (text.front()) {
    case '&':
      out += "&amp;";
      return 1;
    case '<':
      out += "&lt;";
      return 1;
    case '>':
      out += "&gt;";
      return 1;
    case '"':
      out += "&quot;";
      return 1;
    case '\r':  // plain, it would come back as a line feed
      out += in_cell ? "_x000D_" : "&#13;";
      return 1;
    case '_':
      out += in_cell && begins_escape(text) ? "_x005F_" : "_";
      return 1;
    default:
      break;
  }
  const Character c = first_character(text);
  out += c.valid ? text.substr(0, c.bytes) : kReplacement;
  return c.bytes;
}

void append_text(std::string& out, std::string_view text, bool in_cell) {
  while (!text.empty()) {
    const size_t plain = plain_length(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(append_character(out, text, in_cell));
  }
}

// As many bytes from the front as hold whole characters of at most this many units.
size_t bytes_within(std::string_view text, size_t units) {
  size_t at = 0;
  while (at < text.size()) {
    const Character c = first_character(text.substr(at));
    if (c.units > units) break;
    units -= c.units;
    at += c.bytes;
  }
  return at;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

void append_xml(std::string& out, std::string_view text) { append_text(out, text, false); }

bool fits_cell(std::string_view text) {
  return text.size() <= kMaxCellUnits || bytes_within(text, kMaxCellUnits) == text.size();
}

void append_cell_text(std::string& out, std::string_view text) {
  if (fits_cell(text)) {
    append_text(out, text, true);
    return;
  }
  append_text(out, text.substr(0, bytes_within(text, kMaxCellUnits - 1)), true);
  out += kEllipsis;
}

std::string unique_sheet_name(std::string_view wanted, std::set<std::string>& used) {
  std::string name;
  while (!wanted.empty()) {
    const Character c = first_character(wanted);
    // An apostrophe is refused at the ends only, but a link would have to double it.
    const bool taken = c.valid && static_cast<unsigned char>(wanted.front()) >= 0x20 &&
                       std::string_view("[]:*?/\\'").find(wanted.front()) == std::string_view::npos;
    name += taken ? wanted.substr(0, c.bytes) : "_";
    wanted.remove_prefix(c.bytes);
  }
  if (name.empty() || small_letters(name) == "history") name += "_";  // Excel keeps that one
  for (int n = 1;; ++n) {
    const std::string ending = n == 1 ? "" : fmt::format(" ({})", n);
    std::string candidate =
        name.substr(0, bytes_within(name, kMaxNameUnits - ending.size())) + ending;
    if (used.insert(small_letters(candidate)).second) return candidate;
  }
}

uint32_t StringTable::id(std::string_view text) {
  ++uses_;
  const auto [at, added] = ids_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
  if (added) texts_.push_back(text);
  return at->second;
}

Status StringTable::write(ZipWriter& zip) const {
  TRY(zip.begin("xl/sharedStrings.xml"));
  std::string xml = fmt::format(
      R"(<?xml version="1.0" encoding="UTF-8" standalone="yes"?>)"
      "\n"
      R"(<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" count="{}" uniqueCount="{}">)",
      uses_, texts_.size());
  for (const std::string_view text : texts_) {
    const bool edge_space = !text.empty() && (is_space(text.front()) || is_space(text.back()));
    xml += edge_space ? R"(<si><t xml:space="preserve">)" : "<si><t>";
    append_cell_text(xml, text);
    xml += "</t></si>";
    if (xml.size() >= kFlushSize) {
      TRY(zip.write(xml));
      xml.clear();
    }
  }
  TRY(zip.write(xml + "</sst>"));
  return zip.end();
}

}  // namespace fathom
