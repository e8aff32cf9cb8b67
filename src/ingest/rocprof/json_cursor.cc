#include "ingest/rocprof/json_cursor.h"

#include <charconv>

namespace fathom::rocprof {

void JsonCursor::skip_space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
    ++at_;
  }
}

bool JsonCursor::fail() {
  failed_ = true;
  at_ = text_.size();
  return false;
}

bool JsonCursor::enter(char bracket) {
  skip_space();
  if (failed_ || at_ >= text_.size()) return fail();
  if (text_[at_] != bracket) {
    skip();
    return false;
  }
  ++at_;
  return true;
}

bool JsonCursor::next_item() {
  skip_space();
  if (at_ < text_.size() && text_[at_] == ',') {
    ++at_;
    skip_space();
  }
  if (failed_ || at_ >= text_.size()) return fail();
  if (text_[at_] == ']') {
    ++at_;
    return false;
  }
  return text_[at_] == '}' ? fail() : true;
}

std::optional<std::string_view> JsonCursor::next_key() {
  skip_space();
  if (at_ < text_.size() && text_[at_] == ',') {
    ++at_;
    skip_space();
  }
  if (failed_ || at_ >= text_.size()) {
    fail();
    return {};
  }
  if (text_[at_] == '}') {
    ++at_;
    return {};
  }
  std::string_view key;
  if (!skip_string(key)) return {};
  skip_space();
  if (at_ >= text_.size() || text_[at_] != ':') {
    fail();
    return {};
  }
  ++at_;
  skip_space();
  return key;
}

bool JsonCursor::skip_string(std::string_view& between) {
  if (at_ >= text_.size() || text_[at_] != '"') return fail();
  const size_t begin = ++at_;
  while (true) {
    at_ = text_.find_first_of("\"\\", at_);
    if (at_ == std::string_view::npos || at_ + 1 > text_.size()) return fail();
    if (text_[at_] == '"') break;
    at_ += 2;  // an escape and what it escapes
    if (at_ > text_.size()) return fail();
  }
  between = text_.substr(begin, at_ - begin);
  ++at_;
  return true;
}

std::string_view JsonCursor::scalar() {
  const size_t begin = at_;
  at_ = std::min(text_.find_first_of(",]} \n\r\t", at_), text_.size());
  // What is not followed by anything may have been cut off in its middle.
  if (at_ == begin || at_ == text_.size()) {
    fail();
    return {};
  }
  return text_.substr(begin, at_ - begin);
}

void JsonCursor::skip() {
  skip_space();
  if (failed_ || at_ >= text_.size()) {
    fail();
    return;
  }
  std::string_view ignored;
  if (text_[at_] == '"') {
    (void)skip_string(ignored);
    return;
  }
  if (text_[at_] != '{' && text_[at_] != '[') {
    (void)scalar();
    return;
  }
  for (size_t depth = 0; at_ < text_.size();) {
    const char c = text_[at_];
    if (c == '"') {
      if (!skip_string(ignored)) return;
    } else {
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
      at_ = std::min(text_.find_first_of("\"{}[]", at_), text_.size());
    }
  }
  fail();
}

std::optional<int64_t> JsonCursor::integer() {
  skip_space();
  if (failed_ || at_ >= text_.size()) {
    fail();
    return {};
  }
  std::string_view digits;
  if (text_[at_] == '"') {
    if (!skip_string(digits)) return {};
  } else if (text_[at_] == '{' || text_[at_] == '[') {
    skip();
    return {};
  } else {
    digits = scalar();
  }
  int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  auto parsed = std::from_chars(digits.data(), end, value);
  if (parsed.ec == std::errc::result_out_of_range) {
    // Handles may use all 64 bits; as ids they only have to stay different.
    uint64_t wide = 0;
    parsed = std::from_chars(digits.data(), end, wide);
    value = static_cast<int64_t>(wide);
  }
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

std::string_view JsonCursor::string() {
  skip_space();
  std::string_view between;
  if (at_ < text_.size() && text_[at_] == '"') {
    (void)skip_string(between);
  } else {
    skip();
  }
  return between;
}

}  // namespace fathom::rocprof
