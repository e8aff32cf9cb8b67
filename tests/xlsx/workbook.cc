#include "xlsx/workbook.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "test_files.h"

namespace fathom::xlsx {
namespace {

uint64_t number_at(std::string_view bytes, size_t at, size_t length) {
  uint64_t value = 0;
  for (size_t i = 0; i < length && at + i < bytes.size(); ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

// By the definition of CRC-32, a bit at a time over a table.
uint32_t checksum(std::string_view bytes) {
  static const std::vector<uint32_t> table = [] {
    std::vector<uint32_t> t(256);
    for (uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int k = 0; k < 8; ++k) t[i] = (t[i] & 1) != 0 ? t[i] >> 1 ^ 0xedb88320U : t[i] >> 1;
    }
    return t;
  }();
  uint32_t crc = ~0U;
  for (const char c : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

bool inflate(std::string_view packed, std::string& out) {
  inflate_state state;
  isal_inflate_init(&state);
  std::string input(packed);
  state.next_in = reinterpret_cast<uint8_t*>(input.data());
  state.avail_in = static_cast<uint32_t>(input.size());
  state.next_out = reinterpret_cast<uint8_t*>(out.data());
  state.avail_out = static_cast<uint32_t>(out.size());
  return isal_inflate(&state) == ISAL_DECOMP_OK && state.avail_out == 0 &&
         state.block_state == ISAL_BLOCK_FINISH && state.avail_in == 0;
}

class XmlReader {
 public:
  XmlReader(std::string_view text, std::string& error) : text_(text), error_(error) {}

  Element document() {
    if (skip("<?xml")) at_ = std::min(text_.find("?>", at_), text_.size() - 2) + 2;
    while (at_ < text_.size() && text_[at_] == '\n') ++at_;
    Element root = element();
    if (at_ != text_.size()) fail("text after the end");
    return root;
  }

 private:
  bool skip(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  void fail(const std::string& what) {
    if (error_.empty()) error_ = what + " at byte " + std::to_string(at_);
    at_ = text_.size();
  }

  std::string name() {
    const size_t end = std::min(text_.find_first_of(" />=", at_), text_.size());
    std::string found(text_.substr(at_, end - at_));
    if (found.empty()) fail("no name");
    at_ = std::max(at_, end);
    return found;
  }

  // Up to one of the ends, entities replaced.
  std::string content(char end) {
    std::string out;
    while (at_ < text_.size() && text_[at_] != end) {
      const char c = text_[at_];
      if (c == '<') fail("a bare <");
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')
        fail("a control character");
      if (c != '&') {
        out += c;
        ++at_;
      } else if (skip("&amp;")) {
        out += '&';
      } else if (skip("&lt;")) {
        out += '<';
      } else if (skip("&gt;")) {
        out += '>';
      } else if (skip("&quot;")) {
        out += '"';
      } else {
        fail("an unknown entity");
      }
    }
    return out;
  }

  Element element() {
    Element e;
    if (!skip("<")) fail("no element");
    e.name = name();
    while (error_.empty() && skip(" ")) {
      const std::string key = name();
      if (!skip("=\"")) fail("no value of " + key);
      if (!e.attributes.emplace(key, content('"')).second) fail(key + " twice");
      if (!skip("\"")) fail("no end of " + key);
    }
    if (skip("/>")) return e;
    if (!skip(">")) fail("no end of <" + e.name);
    while (error_.empty() && !skip("</")) {
      if (text_.substr(at_, 1) == "<") {
        e.children.push_back(element());
      } else {
        e.text += content('<');
      }
      if (at_ >= text_.size()) fail("no end of " + e.name);
    }
    if (!skip(e.name + ">")) fail("another end than that of " + e.name);
    return e;
  }

  std::string_view text_;
  std::string& error_;
  size_t at_ = 0;
};

// Excel's escapes in a cell's text: _x0041_ is A.
std::string unescape(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string digits = text.substr(i, 7);
    if (digits.size() == 7 && digits.starts_with("_x") && digits.back() == '_' &&
        digits.find_first_not_of("0123456789abcdefABCDEF", 2) == 6) {
      out += static_cast<char>(std::strtol(digits.c_str() + 2, nullptr, 16));
      i += 6;
    } else {
      out += text[i];
    }
  }
  return out;
}

void read_cells(Sheet& sheet, const std::vector<std::string>& strings, std::string& error) {
  const Element* data = sheet.xml.child("sheetData");
  if (data == nullptr) return;
  for (const Element& row : data->children) {
    if (row.attribute("r") != std::to_string(++sheet.rows)) error = "rows out of order";
    for (const Element& c : row.children) {
      Cell cell;
      cell.style = std::strtoul(c.attribute("s").c_str(), nullptr, 10);
      cell.is_number = c.attribute("t").empty();
      if (c.child("f") != nullptr) sheet.has_formula = true;
      const Element* value = c.child("v");
      if (value == nullptr || (!cell.is_number && c.attribute("t") != "s")) {
        error = "a cell of an unknown kind: " + c.attribute("r");
        continue;
      }
      cell.text = value->text;
      if (!cell.is_number) {
        const size_t id = std::strtoul(cell.text.c_str(), nullptr, 10);
        if (id >= strings.size()) error = "no text " + cell.text;
        cell.text = id < strings.size() ? strings[id] : "";
      }
      if (!sheet.cells.emplace(c.attribute("r"), cell).second) error = "a cell twice";
    }
  }
}

std::string target_of(const Element& links, const std::string& id) {
  for (const Element& link : links.children) {
    if (link.attribute("Id") == id) return "xl/" + link.attribute("Target");
  }
  return {};
}

}  // namespace

Parts unzip(std::string_view archive, std::string& error) {
  Parts parts;
  const size_t end = archive.rfind("PK\5\6");
  if (end == std::string_view::npos) {
    error = "no end of a ZIP archive";
    return parts;
  }
  const uint64_t count = number_at(archive, end + 10, 2);
  size_t at = number_at(archive, end + 16, 4);
  for (uint64_t i = 0; i < count; ++i) {
    if (archive.substr(at, 4) != "PK\1\2") error = "no entry in the directory";
    const uint64_t crc = number_at(archive, at + 16, 4), packed = number_at(archive, at + 20, 4),
                   size = number_at(archive, at + 24, 4),
                   name_size = number_at(archive, at + 28, 2),
                   offset = number_at(archive, at + 42, 4);
    const std::string name(archive.substr(at + 46, name_size));
    at += 46 + name_size;
    const std::string_view local = archive.substr(std::min<size_t>(offset, archive.size()));
    if (local.substr(0, 4) != "PK\3\4" || local.substr(30, name_size) != name ||
        number_at(local, 14, 4) != crc || number_at(local, 18, 4) != packed ||
        number_at(local, 22, 4) != size) {
      error = name + ": its header says something else than the directory";
      return parts;
    }
    std::string content(size, '\0');
    if (!inflate(local.substr(30 + name_size, packed), content)) error = name + ": no deflate";
    if (checksum(content) != crc) error = name + ": wrong checksum";
    if (!parts.emplace(name, std::move(content)).second) error = name + " twice";
  }
  return parts;
}

const Element* Element::child(std::string_view wanted) const {
  for (const Element& e : children) {
    if (e.name == wanted) return &e;
  }
  return nullptr;
}

std::string Element::attribute(std::string_view wanted) const {
  const auto found = attributes.find(std::string(wanted));
  return found == attributes.end() ? "" : found->second;
}

Element parse_xml(std::string_view text, std::string& error) {
  return XmlReader(text, error).document();
}

const Cell* Sheet::cell(const std::string& at) const {
  const auto found = cells.find(at);
  return found == cells.end() ? nullptr : &found->second;
}

std::string Sheet::text(const std::string& at) const {
  const Cell* found = cell(at);
  return found == nullptr ? "" : found->text;
}

const Sheet* Workbook::sheet(std::string_view name) const {
  for (const Sheet& s : sheets) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

const Element& Workbook::look(const Cell& cell) const {
  return styles.child("cellXfs")->children.at(cell.style);
}

std::string Workbook::number_format(const Cell& cell) const {
  const std::string id = look(cell).attribute("numFmtId");
  static const std::map<std::string, std::string> own = {
      {"0", "General"}, {"2", "0.00"}, {"3", "#,##0"}, {"4", "#,##0.00"}};
  if (const auto found = own.find(id); found != own.end()) return found->second;
  for (const Element& format : styles.child("numFmts")->children) {
    if (format.attribute("numFmtId") == id) return format.attribute("formatCode");
  }
  return "unknown format " + id;
}

bool Workbook::bold(const Cell& cell) const {
  const size_t font = std::strtoul(look(cell).attribute("fontId").c_str(), nullptr, 10);
  return styles.child("fonts")->children.at(font).child("b") != nullptr;
}

Workbook read_workbook(const std::filesystem::path& file) {
  Workbook book;
  book.parts = unzip(test::read_file(file), book.error);
  const auto xml = [&book](const std::string& part) {
    std::string error;
    Element root = parse_xml(book.parts[part], error);
    if (!error.empty()) book.error = part + ": " + error;
    return root;
  };
  for (const auto& [name, content] : Parts(book.parts)) xml(name);
  if (!book.error.empty()) return book;
  book.styles = xml("xl/styles.xml");
  book.workbook = xml("xl/workbook.xml");
  std::vector<std::string> strings;
  for (const Element& item : xml("xl/sharedStrings.xml").children) {
    strings.push_back(unescape(item.child("t")->text));
  }
  const Element links = xml("xl/_rels/workbook.xml.rels");
  for (const Element& s : book.workbook.child("sheets")->children) {
    Sheet sheet;
    sheet.name = s.attribute("name");
    sheet.xml = xml(target_of(links, s.attribute("r:id")));
    read_cells(sheet, strings, book.error);
    book.sheets.push_back(std::move(sheet));
  }
  return book;
}

std::string place(size_t column, size_t row) {
  const std::string last(1, static_cast<char>('A' + column % 26));
  const std::string first =
      column < 26 ? "" : std::string(1, static_cast<char>('A' + column / 26 - 1));
  return first + last + std::to_string(row);
}

}  // namespace fathom::xlsx
