#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fathom {

// The text as a JSON string with its quotes. Control characters are escaped.
std::string json_quoted(std::string_view text);

// Writes one JSON document, indented or on one line. Commas and indentation are its business.
class JsonWriter {
 public:
  explicit JsonWriter(bool indent) : indent_(indent) {}

  JsonWriter& begin_object() { return begin('{'); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array() { return begin('['); }
  JsonWriter& end_array() { return end(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text) { return raw(json_quoted(text)); }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(int64_t number) { return raw(std::to_string(number)); }
  JsonWriter& value(double number);
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  // Text that is JSON already.
  JsonWriter& raw(std::string_view json);

  std::string take() { return std::move(out_); }

 private:
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket);
  void separate();
  void new_line();

  bool indent_;
  int depth_ = 0;
  bool first_ = true, after_key_ = false;
  std::string out_;
};

}  // namespace fathom
