#include "report/trace/places.h"

#include <fmt/format.h>

#include "analyze/place.h"
#include "report/markdown.h"

namespace fathom {

void write_places(JsonWriter& json, std::span<const Place> places) {
  const auto text = [&json](std::string_view key, std::string_view value) {
    json.key(key);
    value.empty() ? json.null() : json.value(value);
  };
  json.key("places").begin_array();
  for (const Place& place : places) {
    json.begin_object();
    text("file", place.file);
    json.key("line");
    place.file.empty() ? json.null() : json.value(place.line);
    text("function", place.function);
    text("caller", place.caller);
    text("module", place.module);
    text("op", place.op);
    json.key("gradient").value(place.gradient);
    json.key("percent").value(place.share * 100).end_object();
  }
  json.end_array();
}

std::string md_places(const Finding& f) {
  constexpr double kAll = 0.995;
  std::string text;
  for (const Place& place : f.places) {
    text += (text.empty() ? "" : "; ") + md_code(place_text(place));
    if (!place.caller.empty()) text += " from " + md_code(place.caller);
    if (!place.file.empty() && !place.module.empty()) text += " in " + md_code(place.module);
    if (place.share < kAll) text += fmt::format(" ({:.0f} %)", place.share * 100);
  }
  if (!text.empty() && f.unplaced >= 0.005) {
    text += fmt::format("; no place known for {:.0f} %", f.unplaced * 100);
  }
  return text;
}

std::string md_first_place(const Finding& f) {
  return f.places.empty() ? "–" : md_code_cell(short_place_text(f.places.front()));
}

}  // namespace fathom
