#include "ingest/kineto/lenient_parser.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/ascii.h"
#include "base/json_unescape.h"
#include "base/utf8.h"
#include "ingest/kineto/event_fields.h"
#include "ingest/kineto/event_start.h"
#include "ingest/kineto/row_maker.h"

namespace fathom::kineto {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

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

  // Each gives the place after what begins at `at`, or kNowhere. `around` is the bracket around it.
  size_t key_end(size_t at) const {
    return string_end(at, [this](size_t after) { return peek(after) == ':'; });
  }
  size_t value_end(size_t at, char around) const;
  size_t scalar_end(size_t at) const;
  bool is_key_at(size_t at) const;

  std::string_view slice(size_t begin, size_t end) const {
    return text_.substr(begin, end - begin);
  }

 private:
  template <typename Closes>
  size_t string_end(size_t at, Closes closes) const;
  bool closes_value(size_t after, char around) const;
  bool ends_container(size_t after) const;

  std::string_view text_;
  bool literal_backslashes_;
};

// A quote ends a string only where what follows could follow a string. In valid text that holds for
// the first quote already.
template <typename Closes>
size_t Reader::string_end(size_t at, Closes closes) const {
  if (peek(at) != '"') return kNowhere;
  for (size_t i = at + 1; i < text_.size(); ++i) {
    if (text_[i] == '\\' && !literal_backslashes_) {
      ++i;
    } else if (text_[i] == '"' && closes(skip_space(i + 1))) {
      return i + 1;
    } else if (text_[i] == '{' && is_event_start(text_, i)) {
      return kNowhere;  // no string holds the beginning of an event: its quotes would be escaped
    }
  }
  return kNowhere;
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
  return c == '"' || c == '[' || c == '{' || c == '-' || is_digit(c) || is_letter(c);
}

size_t Reader::scalar_end(size_t at) const {
  size_t end = at;
  while (end < text_.size() && !is_separator(text_[end]) && text_[end] != '}' &&
         text_[end] != ']' && text_[end] != '"' && text_[end] != ':') {
    ++end;
  }
  return end == at ? kNowhere : end;
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
      if (open.empty() || (open.back() == '[') != (c == ']')) return kNowhere;
      open.pop_back();
      ++i;
      want_key = false;
    } else if (want_key) {
      const size_t end = key_end(i);
      if (end == kNowhere) return kNowhere;
      i = skip_space(end) + 1;
      want_key = false;
      continue;
    } else {
      i = c == '"' ? string_end(i, [&](size_t after) { return closes_value(after, inside); })
                   : scalar_end(i);
      if (i == kNowhere) return kNowhere;
    }
    if (open.empty()) return i;
  }
  return kNowhere;
}

using FindField = std::optional<Field> (*)(std::string_view);

// One object's fields; args one level down. The place after it, or kNowhere.
size_t read_object(const Reader& reader, size_t at, FindField find, FieldTexts& fields) {
  if (reader.peek(at) != '{') return kNowhere;
  for (size_t i = at + 1;;) {
    while (is_separator(reader.peek(i))) ++i;
    if (reader.peek(i) == '}') return i + 1;
    const size_t key_end = reader.key_end(i);
    if (key_end == kNowhere) return kNowhere;
    const std::string_view written = reader.slice(i + 1, key_end - 1);
    const bool has_escapes = written.find('\\') != std::string_view::npos;
    const std::string unescaped = has_escapes ? json_unescaped(written) : std::string();
    const std::string_view key = has_escapes ? std::string_view(unescaped) : written;
    const size_t value = reader.skip_space(reader.skip_space(key_end) + 1);
    if (find == find_event_field && key == "args" && has_counters(fields)) {
      i = reader.value_end(value, '{');
      if (i != kNowhere) fields.set(Field::kArgs, reader.slice(value, i));
    } else if (find == find_event_field && key == "args" && reader.peek(value) == '{') {
      i = read_object(reader, value, find_args_field, fields);
    } else {
      i = reader.value_end(value, '{');
      const std::optional<Field> known = i == kNowhere ? std::nullopt : find(key);
      if (known) fields.set(*known, reader.slice(value, i));
    }
    if (i == kNowhere) return kNowhere;
  }
}

// The place after the object, list or text at `at` where brackets and quotes are right.
size_t value_end(std::string_view text, size_t at) {
  bool in_string = false;
  size_t depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
      if (!in_string && depth == 0) return at + 1;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return at + 1;
    }
  }
  return kNowhere;
}

class ListParser {
 public:
  using IsWhole = std::function<bool(std::string_view)>;

  // `text` is `original` with its UTF-8 mended, byte for byte.
  ListParser(std::string_view original, std::string_view text, std::span<const DamagedPart> damaged,
             int64_t file_offset, const IsWhole& is_whole)
      : original_(original),
        text_(text),
        damaged_(damaged),
        file_offset_(file_offset),
        is_whole_(is_whole),
        rows_(out_) {}

  EventStoreBuilder parse() {
    for (size_t at = skip_separators(0, 0); at < text_.size();) {
      // An object that began before the damage may have ended after it.
      while (!damaged_.empty() && damaged_.front().end <= at) damaged_ = damaged_.subspan(1);
      const bool in_damage = !damaged_.empty() && at >= damaged_.front().begin;
      const size_t end = !in_damage && text_[at] == '{' ? value_end(text_, at) : kNowhere;
      at = end != kNowhere ? read_event(at, end) : read_damaged(at);
      const bool after_damage = in_damage && skip_all_separators(at) >= damaged_.front().end;
      if (after_damage) damaged_ = damaged_.subspan(1);
      if (at < text_.size()) at = skip_separators(at, after_damage ? kAnyCommas : 1);
    }
    return std::move(out_);
  }

 private:
  static constexpr int kAnyCommas = -1;

  int64_t offset_of(size_t at) const { return file_offset_ + static_cast<int64_t>(at); }
  void report(Flaw flaw, size_t at, size_t count = 1) {
    out_.diagnostics().add(flaw, fmt::format("at byte {}", offset_of(at)),
                           static_cast<int64_t>(count));
  }

  size_t skip_all_separators(size_t at) const {
    while (at < text_.size() && is_separator(text_[at])) ++at;
    return at;
  }

  size_t skip_separators(size_t at, int commas_wanted) {
    const size_t begin = at;
    commas_ = 0;
    for (; at < text_.size() && is_separator(text_[at]); ++at) commas_ += text_[at] == ',';
    if (at < text_.size() && commas_wanted != kAnyCommas && commas_ != commas_wanted)
      report(Flaw::kRepairedEvent, begin);
    return at;
  }

  // The fields of the object at `at`, which ends no later than `limit`. The place after it.
  size_t read_fields(size_t at, size_t limit) {
    for (bool literal_backslashes : {false, true}) {
      fields_.clear();
      const Reader reader(text_.substr(0, limit), literal_backslashes);
      const size_t end = read_object(reader, at, find_event_field, fields_);
      if (end != kNowhere) return end;
    }
    return kNowhere;
  }

  void add_row(size_t at, size_t end) {
    if (!is_whole_(original_.substr(at, end - at))) report(Flaw::kRepairedEvent, at);
    rows_.add(fields_, offset_of(at));
  }

  void skip_events(size_t at, size_t count) {
    report(Flaw::kMalformedEvent, at, count);
    for (size_t i = 0; i < count; ++i) out_.skip_position();
  }

  size_t read_event(size_t at, size_t end) {
    if (read_fields(at, end) == kNowhere) {
      skip_events(at, 1);
    } else {
      add_row(at, end);
    }
    return end;
  }

  size_t read_damaged(size_t at) {
    const DamagedPart whole{0, text_.size(), true};
    const DamagedPart& part = damaged_.empty() ? whole : damaged_.front();
    if (text_[at] == '{') {
      const size_t end = read_fields(at, part.end);
      // Half of an event reads as an object too, when the damage is a brace.
      if (end != kNowhere && fields_.has(Field::kPhase)) {
        add_row(at, end);
        return end;
      }
    } else if (const size_t end = read_other(at, part); end != kNowhere) {
      return end;
    }
    return skip_damaged(at, part);
  }

  // A number, a text or a list among the events, by the letter of JSON.
  size_t read_other(size_t at, const DamagedPart& part) {
    const std::string_view text = text_.substr(0, part.end);
    const Reader reader(text);
    const char c = text[at];
    const size_t end = c == '[' || c == '"' ? value_end(text, at) : reader.scalar_end(at);
    if (end == kNowhere) return kNowhere;
    const size_t after = reader.skip_space(end);
    const bool is_entry = after < part.end ? text[after] == ',' : part.comma_after;
    if (!is_entry || (commas_ == 0 && at > 0) || count_phase_keys(reader.slice(at, end)) > 0)
      return kNowhere;
    report(Flaw::kNotAnObject, at);
    out_.skip_position();
    return end;
  }

  // No JSON at all: the rest of the part. It is so many events as it has phases, one where it
  // stands as an entry of its own, and else noise beside an event or the rest of the one before.
  size_t skip_damaged(size_t at, const DamagedPart& part) {
    size_t end = part.end;
    while (end > at + 1 && is_separator(text_[end - 1])) --end;
    const Reader reader(text_.substr(0, part.end));
    const size_t phases = count_phase_keys(reader.slice(at, end));
    const bool is_entry = (commas_ > 0 || at == 0) && part.comma_after && !reader.is_key_at(at);
    if (phases > 0) {
      skip_events(at, phases);
    } else if (is_entry) {
      skip_events(at, 1);
    } else {
      report(Flaw::kRepairedEvent, at);
    }
    return end;
  }

  std::string_view original_, text_;
  std::span<const DamagedPart> damaged_;  // those not yet passed
  int64_t file_offset_;
  const IsWhole& is_whole_;
  int commas_ = 0;  // before the place that is read
  EventStoreBuilder out_;
  RowMaker rows_;
  FieldTexts fields_;
};

}  // namespace

std::string_view find_value(std::string_view text, size_t key_end) {
  const Reader reader(text);
  const size_t colon = reader.skip_space(key_end);
  if (reader.peek(colon) != ':') return {};
  const size_t begin = reader.skip_space(colon + 1);
  const size_t end = reader.value_end(begin, '{');
  return end == kNowhere ? std::string_view{} : reader.slice(begin, end);
}

EventStoreBuilder parse_leniently(std::string_view list, std::span<const DamagedPart> damaged,
                                  int64_t file_offset,
                                  const std::function<bool(std::string_view event)>& is_whole) {
  const std::string text = with_valid_utf8(list);
  return ListParser(list, text, damaged, file_offset, is_whole).parse();
}

}  // namespace fathom::kineto
