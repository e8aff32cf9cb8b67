#include "ingest/kineto/lenient_parser.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/utf8.h"
#include "ingest/kineto/event_fields.h"
#include "ingest/kineto/row_maker.h"

namespace fathom::kineto {
namespace {

constexpr size_t kNone = std::string_view::npos;
// Objects inside args may look like events: so many beginnings are passed over before giving up.
constexpr int kFalseStarts = 64;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool is_separator(char c) { return is_space(c) || c == ','; }

// A cursor over text up to a limit that nothing may cross.
class Reader {
 public:
  explicit Reader(std::string_view text, bool literal_backslashes = false)
      : text_(text), literal_backslashes_(literal_backslashes) {}

  size_t skip_space(size_t at) const {
    while (at < text_.size() && is_space(text_[at])) ++at;
    return at;
  }
  char peek(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  // Each gives the place after what begins at `at`, or kNone. `around` is the bracket around it.
  size_t key_end(size_t at) const {
    return string_end(at, [this](size_t after) { return peek(after) == ':'; });
  }
  size_t value_end(size_t at, char around) const;

  std::string_view slice(size_t begin, size_t end) const {
    return text_.substr(begin, end - begin);
  }

 private:
  template <typename Closes>
  size_t string_end(size_t at, Closes closes) const;
  bool closes_value(size_t after, char around) const;
  bool ends_container(size_t after) const;
  bool is_key_at(size_t at) const;
  size_t scalar_end(size_t at) const;

  std::string_view text_;
  bool literal_backslashes_;
};

// A quote ends a string only where what follows could follow a string. In valid text that holds for
// the first quote already.
template <typename Closes>
size_t Reader::string_end(size_t at, Closes closes) const {
  if (peek(at) != '"') return kNone;
  for (size_t i = at + 1; i < text_.size(); ++i) {
    if (text_[i] == '\\' && !literal_backslashes_) {
      ++i;
    } else if (text_[i] == '"' && closes(skip_space(i + 1))) {
      return i + 1;
    } else if (text_[i] == '{' && find_event_start(text_, i) == i) {
      return kNone;  // no string holds the beginning of an event: its quotes would be escaped
    }
  }
  return kNone;
}

bool Reader::is_key_at(size_t at) const {
  if (peek(at) != '"') return false;
  for (size_t i = at + 1; i < text_.size(); ++i) {
    if (text_[i] == '\\') {
      ++i;
    } else if (text_[i] == '"') {
      return peek(skip_space(i + 1)) == ':';
    }
  }
  return false;
}

bool Reader::ends_container(size_t after) const {
  const char c = peek(skip_space(after));
  return c == ',' || c == '}' || c == ']' || c == '\0';
}

bool Reader::closes_value(size_t after, char around) const {
  const char close = around == '{' ? '}' : ']';
  if (peek(after) == close) return ends_container(after + 1);
  if (around == '{' && is_key_at(after)) return true;  // a comma too few
  if (peek(after) != ',') return false;
  const size_t next = skip_space(after + 1);
  if (peek(next) == close) return true;  // a comma too many
  if (around == '{') return is_key_at(next);
  const char c = peek(next);
  return c == '"' || c == '[' || c == '{' || c == '-' || (c >= '0' && c <= '9') ||
         (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

size_t Reader::scalar_end(size_t at) const {
  size_t end = at;
  while (end < text_.size() && !is_separator(text_[end]) && text_[end] != '}' &&
         text_[end] != ']' && text_[end] != '"' && text_[end] != ':') {
    ++end;
  }
  return end == at ? kNone : end;
}

// Iterative: damage or malice may nest as deep as the text is long.
size_t Reader::value_end(size_t at, char around) const {
  std::vector<char> open;
  bool want_key = false;
  for (size_t i = at; i < text_.size();) {
    const char inside = open.empty() ? around : open.back();
    const char c = text_[i];
    if (is_space(c) || (!open.empty() && c == ',')) {
      ++i;
      if (c == ',') want_key = inside == '{';
      continue;
    }
    if (c == '[' || c == '{') {
      open.push_back(c);
      want_key = c == '{';
      ++i;
      continue;
    }
    if (c == ']' || c == '}') {
      if (open.empty() || (open.back() == '[') != (c == ']')) return kNone;
      open.pop_back();
      ++i;
      want_key = false;
    } else if (want_key) {
      const size_t end = key_end(i);
      if (end == kNone) return kNone;
      i = skip_space(end) + 1;
      want_key = false;
      continue;
    } else {
      i = c == '"' ? string_end(i, [&](size_t after) { return closes_value(after, inside); })
                   : scalar_end(i);
      if (i == kNone) return kNone;
    }
    if (open.empty()) return i;
  }
  return kNone;
}

using FindField = std::optional<Field> (*)(std::string_view);

// One object's fields; args one level down. The place after it, or kNone.
size_t read_object(const Reader& reader, size_t at, FindField find, FieldTexts& fields) {
  if (reader.peek(at) != '{') return kNone;
  for (size_t i = at + 1;;) {
    while (is_separator(reader.peek(i))) ++i;
    if (reader.peek(i) == '}') return i + 1;
    const size_t key_end = reader.key_end(i);
    if (key_end == kNone) return kNone;
    const std::string_view key = reader.slice(i + 1, key_end - 1);
    const size_t value = reader.skip_space(reader.skip_space(key_end) + 1);
    if (find == find_event_field && key == "args" && reader.peek(value) == '{') {
      i = read_object(reader, value, find_args_field, fields);
    } else {
      i = reader.value_end(value, '{');
      const std::optional<Field> known = i == kNone ? std::nullopt : find(key);
      if (known) fields.set(*known, reader.slice(value, i));
    }
    if (i == kNone) return kNone;
  }
}

class ListParser {
 public:
  using IsWhole = std::function<bool(std::string_view)>;

  // `text` is `original` with its UTF-8 mended, byte for byte.
  ListParser(std::string_view original, std::string_view text, int64_t file_offset,
             const IsWhole& is_whole)
      : original_(original),
        text_(text),
        file_offset_(file_offset),
        is_whole_(is_whole),
        rows_(out_) {}

  EventStoreBuilder parse() {
    for (size_t at = skip_separators(0, 0); at < text_.size();) {
      // A bracket here closes the list itself: what follows is no event.
      if (text_[at] == ']') break;
      at = text_[at] == '{' ? read_event(at) : read_other(at);
      if (at < text_.size()) at = skip_separators(at, 1);
    }
    return std::move(out_);
  }

 private:
  int64_t offset_of(size_t at) const { return file_offset_ + static_cast<int64_t>(at); }
  void report(Flaw flaw, size_t at) {
    out_.diagnostics().add(flaw, fmt::format("at byte {}", offset_of(at)));
  }

  size_t skip_separators(size_t at, int commas_wanted) {
    const size_t begin = at;
    int commas = 0;
    for (; at < text_.size() && is_separator(text_[at]); ++at) commas += text_[at] == ',';
    if (at < text_.size() && text_[at] != ']' && commas != commas_wanted)
      report(Flaw::kRepairedEvent, begin);
    return at;
  }

  size_t read_event(size_t at) {
    size_t limit = at;
    for (int starts = 0; starts < kFalseStarts && limit < text_.size(); ++starts) {
      limit = std::min(find_event_start(text_, limit + 1), text_.size());
      for (bool literal_backslashes : {false, true}) {
        fields_.clear();
        const Reader reader(text_.substr(0, limit), literal_backslashes);
        const size_t end = read_object(reader, at, find_event_field, fields_);
        if (end == kNone) continue;
        if (!is_whole_(original_.substr(at, end - at))) report(Flaw::kRepairedEvent, at);
        rows_.add(fields_, offset_of(at));
        return end;
      }
    }
    return skip_to_next_event(at);
  }

  // A number or a list among the events, or no JSON at all.
  size_t read_other(size_t at) {
    const Reader reader(text_);
    const size_t end = reader.value_end(at, '[');
    const size_t after = end == kNone ? kNone : reader.skip_space(end);
    if (after != kNone && (after == text_.size() || text_[after] == ',' || text_[after] == ']')) {
      report(Flaw::kNotAnObject, at);
      out_.skip_position();
      return end;
    }
    return skip_to_next_event(at);
  }

  // To its brace: what is in between goes with what could not be read.
  size_t skip_to_next_event(size_t at) {
    report(Flaw::kMalformedEvent, at);
    out_.skip_position();
    size_t next = std::min(find_event_start(text_, at + 1), text_.size());
    while (next > at + 1 && is_separator(text_[next - 1])) --next;
    return next;
  }

  std::string_view original_, text_;
  int64_t file_offset_;
  const IsWhole& is_whole_;
  EventStoreBuilder out_;
  RowMaker rows_;
  FieldTexts fields_;
};

}  // namespace

size_t find_event_start(std::string_view text, size_t from) {
  const Reader reader(text);
  for (size_t at = text.find('{', from); at != kNone; at = text.find('{', at + 1)) {
    size_t before = at;
    while (before > 0 && is_space(text[before - 1])) --before;
    const char previous = before == 0 ? ',' : text[before - 1];
    if (previous != ',' && previous != '[' && previous != '}') continue;
    const size_t key = reader.skip_space(at + 1);
    if (reader.peek(key) != '"') continue;
    const size_t end = text.find('"', key + 1);
    if (end == kNone) return kNone;
    const std::string_view name = text.substr(key + 1, end - key - 1);
    if ((name == "args" || find_event_field(name)) &&
        reader.peek(reader.skip_space(end + 1)) == ':') {
      return at;
    }
  }
  return kNone;
}

std::string_view find_value(std::string_view text, size_t key_end) {
  const Reader reader(text);
  const size_t colon = reader.skip_space(key_end);
  if (reader.peek(colon) != ':') return {};
  const size_t begin = reader.skip_space(colon + 1);
  const size_t end = reader.value_end(begin, '{');
  return end == kNone ? std::string_view{} : reader.slice(begin, end);
}

EventStoreBuilder parse_leniently(std::string_view list, int64_t file_offset,
                                  const std::function<bool(std::string_view event)>& is_whole) {
  const std::string text = with_valid_utf8(list);
  return ListParser(list, text, file_offset, is_whole).parse();
}

}  // namespace fathom::kineto
