#include "report/trace/xlsx.h"

#include <fmt/format.h>

#include "report/trace/xlsx_summary.h"

namespace fathom {
namespace {

constexpr const char* kDeclaration = R"(<?xml version="1.0" encoding="UTF-8" standalone="yes"?>)"
                                     "\n";
constexpr const char* kPackageLinks =
    R"(<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">)";
constexpr const char* kOfficeLink =
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/";
constexpr const char* kSheetType = "application/vnd.openxmlformats-officedocument.spreadsheetml.";

std::string sheet_file(size_t sheet) { return fmt::format("worksheets/sheet{}.xml", sheet); }

std::string content_types_xml(size_t sheets) {
  std::string xml = kDeclaration;
  xml +=
      R"(<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">)"
      R"(<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>)"
      R"(<Default Extension="xml" ContentType="application/xml"/>)";
  const auto part = [&xml](std::string_view file, std::string_view type) {
    xml += fmt::format(R"(<Override PartName="/xl/{}" ContentType="{}{}+xml"/>)", file, kSheetType,
                       type);
  };
  part("workbook.xml", "sheet.main");
  part("styles.xml", "styles");
  part("sharedStrings.xml", "sharedStrings");
  for (size_t i = 1; i <= sheets; ++i) part(sheet_file(i), "worksheet");
  return xml + "</Types>";
}

std::string package_links_xml() {
  return fmt::format(
      R"({}{}<Relationship Id="rId1" Type="{}officeDocument" Target="xl/workbook.xml"/></Relationships>)",
      kDeclaration, kPackageLinks, kOfficeLink);
}

std::string workbook_links_xml(size_t sheets) {
  std::string xml = std::string(kDeclaration) + kPackageLinks;
  size_t id = 0;
  const auto link = [&](std::string_view type, std::string_view file) {
    xml += fmt::format(R"(<Relationship Id="rId{}" Type="{}{}" Target="{}"/>)", ++id, kOfficeLink,
                       type, file);
  };
  for (size_t i = 1; i <= sheets; ++i) link("worksheet", sheet_file(i));
  link("styles", "styles.xml");
  link("sharedStrings", "sharedStrings.xml");
  return xml + "</Relationships>";
}

// Excel finds a filter by a hidden name too: 'ops'!$A$1:$K$9.
std::string filter_name_xml(const SheetPart& part, size_t position) {
  const size_t columns = part.table->columns().size();
  if (columns == 0) return {};
  std::string last = cell_name(columns - 1, 0);
  last.pop_back();
  std::string xml = fmt::format(
      R"(<definedName name="_xlnm._FilterDatabase" localSheetId="{}" hidden="1">')", position);
  append_xml(xml, part.name);
  return xml + fmt::format("'!$A$1:${}${}</definedName>", last, part.rows() + 1);
}

std::string workbook_xml(const std::vector<SheetPart>& parts) {
  std::string xml = kDeclaration;
  xml +=
      R"(<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main")"
      R"( xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">)"
      R"(<bookViews><workbookView xWindow="0" yWindow="0" windowWidth="28800" windowHeight="16000"/></bookViews>)"
      R"(<sheets><sheet name="summary" sheetId="1" r:id="rId1"/>)";
  std::string filters;
  for (size_t i = 0; i < parts.size(); ++i) {
    xml += R"(<sheet name=")";
    append_xml(xml, parts[i].name);
    xml += fmt::format(R"(" sheetId="{0}" r:id="rId{0}"/>)", i + 2);
    filters += filter_name_xml(parts[i], i + 1);
  }
  xml += "</sheets>";
  if (!filters.empty()) xml += "<definedNames>" + filters + "</definedNames>";
  return xml + "</workbook>";
}

}  // namespace

Status write_xlsx(const Summary& summary, const std::vector<Table>& sheets,
                  const std::filesystem::path& file) {
  ZipWriter zip = TRY(ZipWriter::create(file));
  const std::vector<SheetPart> parts = split_into_sheets(sheets);
  TRY(zip.add("[Content_Types].xml", content_types_xml(parts.size() + 1)));
  TRY(zip.add("_rels/.rels", package_links_xml()));
  TRY(zip.add("xl/workbook.xml", workbook_xml(parts)));
  TRY(zip.add("xl/_rels/workbook.xml.rels", workbook_links_xml(parts.size() + 1)));
  TRY(zip.add("xl/styles.xml", styles_xml()));
  StringTable strings;
  CellLosses losses;
  for (size_t i = 0; i < parts.size(); ++i) {
    TRY(write_table_sheet(zip, "xl/" + sheet_file(i + 2), parts[i], strings, losses));
  }
  // The first sheet comes last: only now is it known what was lost.
  const SummaryRows rows = summary_rows(summary, parts, losses);
  TRY(write_summary_sheet(zip, "xl/" + sheet_file(1), rows, strings));
  TRY(strings.write(zip));
  return zip.close();
}

}  // namespace fathom
