#include "report/page/documents_page.h"

#include "base/deflate.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "report/page/html_page.h"
#include "report/page/page_tables.h"

namespace fathom {
namespace {

constexpr size_t kDocumentBytes = size_t{6} << 20, kPictureBytes = size_t{1} << 20;

void write_bars(JsonWriter& json, const std::vector<PageBar>& bars) {
  json.key("bars").begin_array();
  for (const PageBar& bar : bars) {
    json.begin_object().key("name").value(page_text(bar.name)).key("parts").begin_array();
    for (const PageBar::Part& part : bar.parts) {
      json.begin_object().key("key").value(part.key).key("label").value(page_text(part.label));
      json.key("ms").raw(exact_decimal(part.time.count, 6)).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

}  // namespace

std::string documents_page(const DocumentsPage& page) {
  JsonWriter json(false);
  json.begin_object().key("kind").value(page.kind).key("version").value(int64_t{1});
  json.key("title").value(page_text(page.title)).key("headline").value(page_text(page.headline));
  json.key("program").value("fathom " FATHOM_VERSION);
  size_t bytes = 0;
  int64_t left_out = 0;
  json.key("documents").begin_array();
  for (const DocumentsPage::File& file : page.documents) {
    if (bytes + file.text.size() > kDocumentBytes) {
      ++left_out;
      continue;
    }
    bytes += file.text.size();
    json.begin_object().key("path").value(page_text(file.path));
    json.key("text").value(with_valid_utf8(file.text)).end_object();
  }
  json.end_array().key("documents_left_out").value(left_out);
  json.key("pictures").begin_array();
  for (const DocumentsPage::File& file : page.pictures) {
    if (file.text.size() > kPictureBytes) continue;
    std::string base64;
    append_base64(base64, file.text);
    json.begin_object().key("path").value(page_text(file.path));
    json.key("base64").value(base64).end_object();
  }
  json.end_array().key("tables").begin_array();
  for (const Table& table : page.tables) write_page_table(json, table);
  json.end_array();
  write_bars(json, page.bars);
  json.end_object();
  return html_page({json.take(), {}});
}

}  // namespace fathom
