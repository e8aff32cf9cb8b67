#include "report/trace/xlsx_sheet.h"

#include <fmt/format.h>

namespace fathom {
namespace {

constexpr size_t kSheetFlushSize = size_t{64} << 10;

// Positions in the lists of styles_xml().
enum Font { kPlainFont, kBold, kLarge, kMedium, kBlue };
enum Fill { kNoFill, kGray = 2 };  // 1 is a pattern that Excel reserves
enum Border { kNoBorder, kBottom };
// Excel's own numbers, and the first that is free for ours.
enum Format { kAsItIs = 0, kTwoDecimals = 2, kGrouped = 3, kGroupedTwo = 4, kGroupedThree = 164 };

struct Look {
  Font font = kPlainFont;
  Fill fill = kNoFill;
  Border border = kNoBorder;
  Format format = kAsItIs;
  const char* align = nullptr;
  bool quoted = false;
};

Look look_of(CellStyle style) {
  switch (style) {
    case CellStyle::kGuarded:
      return {.quoted = true};
    case CellStyle::kHeader:
      return {.font = kBold, .fill = kGray, .border = kBottom};
    case CellStyle::kNumberHeader:
      return {.font = kBold, .fill = kGray, .border = kBottom, .align = "right"};
    case CellStyle::kTime:
      return {.format = kGroupedThree};
    case CellStyle::kPercent:
      return {.format = kTwoDecimals};
    case CellStyle::kCount:
      return {.format = kGrouped};
    case CellStyle::kAmount:
      return {.format = kGroupedTwo};
    case CellStyle::kTitle:
      return {.font = kLarge};
    case CellStyle::kSection:
      return {.font = kMedium};
    case CellStyle::kLink:
      return {.font = kBlue};
    case CellStyle::kFactCount:
      return {.format = kGrouped, .align = "left"};
    case CellStyle::kFactAmount:
      return {.format = kGroupedTwo, .align = "left"};
    case CellStyle::kGeneral:
    case CellStyle::kEnd:
      break;
  }
  return {};
}

bool is_formula_text(std::string_view text) {
  return std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
}

constexpr const char* kStylesHead =
    R"(<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">)"
    R"(<numFmts count="1"><numFmt numFmtId="164" formatCode="#,##0.000"/></numFmts>)"
    R"(<fonts count="5"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font>)"
    R"(<font><b/><sz val="11"/><name val="Calibri"/><family val="2"/></font>)"
    R"(<font><b/><sz val="16"/><name val="Calibri"/><family val="2"/></font>)"
    R"(<font><b/><sz val="13"/><name val="Calibri"/><family val="2"/></font>)"
    R"(<font><u/><sz val="11"/><color rgb="FF0563C1"/><name val="Calibri"/><family val="2"/></font></fonts>)"
    R"(<fills count="3"><fill><patternFill patternType="none"/></fill>)"
    R"(<fill><patternFill patternType="gray125"/></fill>)"
    R"(<fill><patternFill patternType="solid"><fgColor rgb="FFE7EBF0"/><bgColor indexed="64"/></patternFill></fill></fills>)"
    R"(<borders count="2"><border><left/><right/><top/><bottom/><diagonal/></border>)"
    R"(<border><left/><right/><top/><bottom style="thin"><color rgb="FF8C96A3"/></bottom><diagonal/></border></borders>)"
    R"(<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>)";
constexpr const char* kStylesTail =
    R"(<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>)";

}  // namespace

std::string styles_xml() {
  constexpr auto kStyles = static_cast<size_t>(CellStyle::kEnd);
  std::string xml = kStylesHead;
  xml += fmt::format(R"(<cellXfs count="{}">)", kStyles);
  for (size_t i = 0; i < kStyles; ++i) {
    const Look look = look_of(static_cast<CellStyle>(i));
    xml += fmt::format(R"(<xf numFmtId="{}" fontId="{}" fillId="{}" borderId="{}" xfId="0")"
                       R"( applyNumberFormat="1" applyFont="1" applyFill="1" applyBorder="1"{})",
                       static_cast<int>(look.format), static_cast<int>(look.font),
                       static_cast<int>(look.fill), static_cast<int>(look.border),
                       look.quoted ? R"( quotePrefix="1")" : "");
    xml +=
        look.align == nullptr
            ? "/>"
            : fmt::format(R"( applyAlignment="1"><alignment horizontal="{}"/></xf>)", look.align);
  }
  return xml + "</cellXfs>" + kStylesTail;
}

std::string cell_name(size_t column, size_t row) {
  std::string name;
  for (size_t n = column + 1; n > 0; n = (n - 1) / 26) {
    name.insert(name.begin(), static_cast<char>('A' + (n - 1) % 26));
  }
  return name + std::to_string(row);
}

Status SheetWriter::begin(std::string file, const Head& head) {
  TRY(zip_.begin(std::move(file)));
  xml_ =
      R"(<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">)";
  xml_ += fmt::format(R"({}<dimension ref="{}"/><sheetViews>{}</sheetViews>)", head.properties,
                      head.dimension, head.view);
  xml_ += R"(<sheetFormatPr defaultRowHeight="15"/>)";
  if (!head.widths.empty()) xml_ += "<cols>";
  for (size_t i = 0; i < head.widths.size(); ++i) {
    std::string letters = cell_name(i, 0);
    letters.pop_back();
    letters_.push_back(std::move(letters));
    xml_ += fmt::format(R"(<col min="{0}" max="{0}" width="{1}" customWidth="1"/>)", i + 1,
                        head.widths[i]);
  }
  if (!head.widths.empty()) xml_ += "</cols>";
  xml_ += "<sheetData>";
  return Nothing{};
}

void SheetWriter::begin_row() {
  row_digits_ = std::to_string(++row_);
  ((xml_ += R"(<row r=")") += row_digits_) += R"(">)";
}

void SheetWriter::begin_cell(size_t column, CellStyle style) {
  (((xml_ += R"(<c r=")") += letters_[column]) += row_digits_) += '"';
  if (style != CellStyle::kGeneral) {
    ((xml_ += R"( s=")") += fmt::format_int(static_cast<unsigned>(style)).c_str()) += '"';
  }
}

void SheetWriter::text(size_t column, std::string_view text, CellStyle style) {
  if (text.empty()) return;
  if (style == CellStyle::kGeneral && is_formula_text(text)) style = CellStyle::kGuarded;
  begin_cell(column, style);
  ((xml_ += R"( t="s"><v>)") += fmt::format_int(strings_.id(text)).c_str()) += "</v></c>";
}

void SheetWriter::number(size_t column, std::string_view digits, CellStyle style) {
  begin_cell(column, style);
  ((xml_ += "><v>") += digits) += "</v></c>";
}

Status SheetWriter::end_row() {
  xml_ += "</row>";
  if (xml_.size() < kSheetFlushSize) return Nothing{};
  Status written = zip_.write(xml_);
  xml_.clear();
  return written;
}

Status SheetWriter::finish(std::string_view elements) {
  ((xml_ += "</sheetData>") += elements) += "</worksheet>";
  TRY(zip_.write(xml_));
  return zip_.end();
}

}  // namespace fathom
