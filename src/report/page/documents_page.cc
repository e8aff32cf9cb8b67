#include "report/page/documents_page.h"

#include <fmt/format.h>

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

void write_side(JsonWriter& json, std::string_view key, const PageOverlay::Side& side) {
  json.key(key).begin_object().key("name").value(page_text(side.name));
  json.key("length_ns").value(side.length.count).key("busy").begin_array();
  for (const double share : side.busy) json.raw(fmt::format("{:.4g}", share));
  json.end_array().end_object();
}

void write_pairs(JsonWriter& json, std::string_view key,
                 const std::vector<PageOverlay::Pair>& pairs) {
  json.key(key).begin_array();
  for (const PageOverlay::Pair& pair : pairs) {
    json.begin_object().key("name").value(page_text(pair.name));
    json.key("a_ms").value(pair.a_ns / 1e6).key("b_ms").value(pair.b_ns / 1e6).end_object();
  }
  json.end_array();
}

void write_overlay(JsonWriter& json, const PageOverlay& overlay) {
  json.key("overlay").begin_object();
  write_side(json, "a", overlay.a);
  write_side(json, "b", overlay.b);
  json.key("part_ns").value(overlay.part.count).key("unit").value(overlay.unit);
  write_pairs(json, "categories", overlay.categories);
  write_pairs(json, "ops", overlay.ops);
  json.end_object();
}

std::string_view ladder_kind(PageLadder::Kind kind) {
  switch (kind) {
    case PageLadder::Kind::kWhole:
      return "whole";
    case PageLadder::Kind::kBetter:
      return "better";
    case PageLadder::Kind::kWorse:
      return "worse";
    case PageLadder::Kind::kNotKept:
      return "not_kept";
    case PageLadder::Kind::kResult:
      return "result";
    case PageLadder::Kind::kFloor:
      return "floor";
  }
  return {};
}

void write_ladder(JsonWriter& json, const PageLadder& ladder) {
  json.key("ladder").begin_object().key("title").value(page_text(ladder.title));
  json.key("steps").begin_array();
  for (const PageLadder::Step& step : ladder.steps) {
    json.begin_object().key("name").value(page_text(step.name));
    json.key("words").value(page_text(step.words)).key("kind").value(ladder_kind(step.kind));
    json.key("from_s").value(step.from).key("to_s").value(step.to).end_object();
  }
  json.end_array().end_object();
}

void write_kernels(JsonWriter& json, const DocumentsPage& page) {
  json.key("kernels").begin_array();
  for (const PageKernel& kernel : page.kernels) {
    const auto texts = [&json](std::string_view key, const std::vector<std::string>& all) {
      json.key(key).begin_array();
      for (const std::string& text : all) json.value(page_text(text));
      json.end_array();
    };
    json.begin_object().key("name").value(page_text(kernel.name));
    json.key("scope").value(page_text(kernel.scope)).key("kind").value(page_text(kernel.kind));
    json.key("file").value(page_text(kernel.file)).key("line").value(int64_t{kernel.line});
    json.key("lines").value(int64_t{kernel.lines}).key("dead").value(kernel.dead);
    texts("launches", kernel.launches);
    texts("path", kernel.path);
    texts("techniques", kernel.techniques);
    json.key("excerpt").value(with_valid_utf8(kernel.excerpt)).end_object();
  }
  json.end_array().key("kernels_left_out").value(static_cast<int64_t>(page.kernels_left_out));
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
  if (page.overlay) write_overlay(json, *page.overlay);
  if (page.ladder) write_ladder(json, *page.ladder);
  if (!page.kernels.empty()) write_kernels(json, page);
  json.end_object();
  return html_page({json.take(), {}});
}

}  // namespace fathom
