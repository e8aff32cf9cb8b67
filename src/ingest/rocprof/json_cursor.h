#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom::rocprof {

// Walks a JSON text from front to back without a tree. Where the text is malformed or breaks off,
// every question is answered with "no more" from there on, so what was read before stays.
//
//   if (json.enter('{')) while (auto key = json.next_key()) { … read or skip its value … }
//   if (json.enter('[')) while (json.next_item()) { … }
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text, size_t at = 0) : text_(text), at_(at) {}

  // False for a value of another kind, which is passed over.
  bool enter(char bracket);
  // The text between its quotes. Nothing at the end of the object.
  std::optional<std::string_view> next_key();
  // False at the end of the list.
  bool next_item();

  void skip();
  // Also of a number in quotes. Nothing for any other value, which is passed over.
  std::optional<int64_t> integer();
  // Between its quotes, escapes as they are written; empty for any other value.
  std::string_view string();

  size_t place() const { return at_; }  // of the next value
  bool failed() const { return failed_; }

 private:
  void skip_space();
  bool fail();
  bool skip_string(std::string_view& between);
  std::string_view scalar();

  std::string_view text_;
  size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace fathom::rocprof
