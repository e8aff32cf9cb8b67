#include "scan/files/notebook.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/tsv.h"
#include "scan/facts/text_lines.h"

namespace fathom {
namespace {

struct Cell {
  bool is_code = false;
  struct Line {
    uint32_t line;
    std::string text;
  };
  std::vector<Line> lines;
};

// Reads over everything but the cells: enough of JSON for that, and no judge of it.
class CellReader {
 public:
  explicit CellReader(std::string_view json) : text_(json) {}

  bool has_cells() const { return has_cells_; }
  std::vector<Cell> read() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '\n') ++line_;
      if (c == '"') take(string());
      if (c == '{' || c == '[') open(c == '{');
      if ((c == '}' || c == ']') && !around_.empty()) around_.pop_back();
      if (c == ':' && !around_.empty()) around_.back().has_key = true;
      if (c == ',' && !around_.empty()) around_.back().has_key = false;
    }
    return std::move(cells_);
  }

 private:
  struct Container {
    bool object = false, has_key = false;
    std::string key;
  };

  // {"cells": [ {; up to format 3 {"worksheets": [ {"cells": [ {
  bool is_list_of_cells(size_t depth) const {
    const auto lists = [this](size_t from, std::string_view key) {
      return around_[from].object && around_[from].key == key && !around_[from + 1].object;
    };
    if (depth == 2) return lists(0, "cells");
    return depth == 4 && lists(0, "worksheets") && lists(2, "cells");
  }

  // Whether what is open stands so deep in a cell: 0 is the cell itself.
  bool in_cell(size_t inside) const {
    if (around_.size() < 3 + inside) return false;
    const size_t cell = around_.size() - 1 - inside;
    return around_[cell].object && is_list_of_cells(cell);
  }

  void open(bool object) {
    around_.push_back({object, false, ""});
    if (is_list_of_cells(around_.size())) has_cells_ = true;
    if (in_cell(0)) cells_.emplace_back();
  }

  std::string string() {
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (c == '\n') ++line_;
      if (c == '\\' && at_ < text_.size()) {
        c = text_[at_++];
        // Other characters by their numbers stay as they are written.
        if (c == 'u') out += '\\';
        c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
      }
      out += c;
    }
    ++at_;
    return out;
  }

  void take(std::string value) {
    if (around_.empty()) return;
    Container& inner = around_.back();
    if (inner.object && !inner.has_key) {
      inner.key = std::move(value);
      return;
    }
    const bool direct = in_cell(0);
    const bool of_list = in_cell(1) && !inner.object && is_source(around_[around_.size() - 2].key);
    if (direct && inner.key == "cell_type") cells_.back().is_code = value == "code";
    if (of_list || (direct && is_source(inner.key))) add_lines(value);
  }

  static bool is_source(std::string_view key) { return key == "source" || key == "input"; }

  void add_lines(std::string_view text) {
    uint32_t line = line_;
    if (text.ends_with('\n')) text.remove_suffix(1);
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      cells_.back().lines.push_back({line++, std::string(text.substr(begin, end - begin))});
      begin = end + 1;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  bool has_cells_ = false;
  std::vector<Container> around_;
  std::vector<Cell> cells_;
};

// "%%cu", "%%cuda -n x", "%%writefile kernel.cu": what follows is CUDA.
bool begins_cuda(std::string_view line) {
  if (!line.starts_with("%%")) return false;
  const std::vector<std::string_view> words = split(line, ' ');
  if (words[0].starts_with("%%cu") || words[0].starts_with("%%nvcc")) return true;
  return words[0] == "%%writefile" && words.size() > 1 &&
         (words.back().ends_with(".cu") || words.back().ends_with(".cuh"));
}

// A cell whose first line hands it to another program.
bool is_of_another_language(std::string_view line) {
  return starts_with_any(
      line, {"%%bash", "%%sh", "%%script", "%%html", "%%javascript", "%%js", "%%latex",
             "%%markdown", "%%svg", "%%perl", "%%ruby", "%%writefile", "%%R", "%%cython", "%%sql"});
}

class NotebookWriter {
 public:
  void add(const Cell& cell) {
    if (!cell.is_code || cell.lines.empty()) return;
    const std::string_view first = without_blanks_around(cell.lines[0].text);
    if (begins_cuda(first)) return add_cuda(cell);
    if (is_of_another_language(first)) return;
    for (const Cell::Line& line : cell.lines) {
      const std::string_view content = without_blanks_around(line.text);
      const bool command = content.starts_with('!') || content.starts_with('%');
      put(line.line, command ? "" : line.text);
    }
  }
  std::string take() { return std::move(out_); }

 private:
  void add_cuda(const Cell& cell) {
    for (const Cell::Line& line : cell.lines) {
      if (holds(line.text, "'''")) return;
    }
    put(cell.lines[0].line, "_cuda_cell = r'''");
    for (size_t i = 1; i < cell.lines.size(); ++i) put(cell.lines[i].line, cell.lines[i].text);
    put(cell.lines.back().line + 1, "'''");
  }

  // Behind what is there, at the line or as soon after it as it can.
  void put(uint32_t line, std::string_view text) {
    while (next_ < line) {
      out_ += '\n';
      ++next_;
    }
    out_ += text;
    out_ += '\n';
    ++next_;
  }

  std::string out_;
  uint32_t next_ = 1;
};

}  // namespace

std::string code_of_notebook(std::string_view json) {
  NotebookWriter writer;
  for (const Cell& cell : CellReader(json).read()) writer.add(cell);
  return writer.take();
}

std::optional<uint32_t> code_lines_of_notebook(std::string_view json) {
  CellReader reader(json);
  size_t lines = 0;
  for (const Cell& cell : reader.read()) lines += cell.is_code ? cell.lines.size() : 0;
  if (!reader.has_cells()) return std::nullopt;
  return static_cast<uint32_t>(lines);
}

}  // namespace fathom
