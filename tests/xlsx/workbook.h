#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::xlsx {

// A workbook as a test reads it: with its own readers of ZIP, XML and cells on purpose, so that the
// writer is not checked by its own twin. Strict: what is malformed is an error, not a guess.

using Parts = std::map<std::string, std::string>;
// The parts of a ZIP archive, their sizes and checksums verified.
Parts unzip(std::string_view archive, std::string& error);

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // of its own, without that of its children
  std::vector<Element> children;

  const Element* child(std::string_view wanted) const;
  std::string attribute(std::string_view wanted) const;  // empty where there is none
};
Element parse_xml(std::string_view text, std::string& error);

struct Cell {
  std::string text;  // of a number: its digits
  bool is_number = false;
  size_t style = 0;
};

struct Sheet {
  std::string name;
  Element xml;
  std::map<std::string, Cell> cells;  // by "B7"
  size_t rows = 0;
  bool has_formula = false;

  const Cell* cell(const std::string& at) const;
  std::string text(const std::string& at) const;  // empty where there is no cell
};

struct Workbook {
  std::string error;  // empty: well formed
  Parts parts;
  Element styles, workbook;
  std::vector<Sheet> sheets;  // in the order of their tabs

  const Sheet* sheet(std::string_view name) const;
  const Element& look(const Cell& cell) const;  // its <xf>
  std::string number_format(const Cell& cell) const;
  bool bold(const Cell& cell) const;
};

Workbook read_workbook(const std::filesystem::path& file);

// "B7": columns count from 0, rows from 1.
std::string place(size_t column, size_t row);

}  // namespace fathom::xlsx
