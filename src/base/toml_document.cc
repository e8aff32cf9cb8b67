#include "base/toml_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/ascii.h"
#include "base/byte_source.h"
#include "base/closest_names.h"
#include "base/read_all.h"
#include "base/screen_text.h"
#include "base/utf8.h"

// Its assertions fail for some damaged texts, and are promises to the optimizer where NDEBUG is
// set. The code after them reports the same texts as errors.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#define TOML_MAX_NESTED_VALUES 32
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace fathom {
namespace {

constexpr size_t kLargestToml = 1 << 20;
constexpr int kMostKeyParts = 16;

int line_of_region(const toml::source_region& region) {
  return region.begin.line > 0 ? static_cast<int>(region.begin.line) : 1;
}

// What the library does not withstand, looked for before it sees the text, outside of strings and
// comments. It follows a.b.c.… by recursion without a limit: dots are counted since the last sign
// that ends a key. Of letters beyond ASCII, which TOML has only in strings, it declares some to be
// impossible. What was found, with its line; empty: nothing.
std::string find_unreadable(std::string_view text, std::string_view shown) {
  int line = 1, dots = 0;
  const size_t start = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (size_t i = start; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line, dots = 0;
    if (c == '.' && ++dots >= kMostKeyParts)
      return fmt::format("{}:{}: a key has over {} parts", shown, line, kMostKeyParts);
    if (static_cast<signed char>(c) < 0)
      return fmt::format("{}:{}: a letter beyond ASCII wants quotes", shown, line);
    if (c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}') dots = 0;
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '"' || c == '\'') {
      const std::string_view rest = text.substr(i);
      const bool is_long = rest.size() > 2 && rest[1] == c && rest[2] == c;
      for (i += is_long ? 3 : 1; i < text.size(); ++i) {
        if (text[i] == '\n') {
          ++line;
          if (!is_long) break;  // an error, which the parser tells
        }
        if (text[i] == '\\' && c == '"') {
          ++i;
          if (i < text.size() && text[i] == '\n') ++line;
        } else if (text[i] == c && !is_long) {
          break;
        } else if (text[i] == c && text.substr(i).starts_with(std::string(3, c))) {
          i += 2;
          for (int more = 0; more < 2 && i + 1 < text.size() && text[i + 1] == c; ++more) ++i;
          break;
        }
      }
    }
  }
  return "";
}

template <typename Time>
std::string written(const Time& time) {
  std::ostringstream out;
  out << time;
  return out.str();
}

TomlValue copied(const toml::node& node) {
  TomlValue value;
  value.line = line_of_region(node.source());
  if (const toml::table* table = node.as_table()) {
    value.kind = TomlValue::Kind::kTable;
    std::vector<std::pair<const toml::key*, const toml::node*>> entries;
    for (const auto& [key, child] : *table) entries.emplace_back(&key, &child);
    const auto place = [](const auto& entry) {
      const toml::source_position& at = entry.first->source().begin;
      return std::pair(at.line, at.column);
    };
    std::stable_sort(entries.begin(), entries.end(),
                     [&](const auto& a, const auto& b) { return place(a) < place(b); });
    for (const auto& [key, child] : entries) {
      value.entries.push_back(
          {std::string(key->str()), line_of_region(key->source()), copied(*child)});
    }
  } else if (const toml::array* list = node.as_array()) {
    value.kind = TomlValue::Kind::kList;
    for (const toml::node& item : *list) value.items.push_back(copied(item));
  } else if (const auto* text = node.as_string()) {
    value.kind = TomlValue::Kind::kText;
    value.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = TomlValue::Kind::kInteger;
    value.integer = integer->get();
    value.number = static_cast<double>(value.integer);
  } else if (const auto* number = node.as_floating_point()) {
    value.kind = TomlValue::Kind::kNumber;
    value.number = number->get();
  } else if (const auto* truth = node.as_boolean()) {
    value.kind = TomlValue::Kind::kTruth;
    value.truth = truth->get();
  } else {
    value.kind = TomlValue::Kind::kTime;
    if (const auto* date = node.as_date()) value.text = written(date->get());
    if (const auto* time = node.as_time()) value.text = written(time->get());
    if (const auto* both = node.as_date_time()) value.text = written(both->get());
  }
  return value;
}

bool is_bare_key(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return is_word_character(c) || c == '-'; });
}

}  // namespace

const TomlValue* TomlValue::find(std::string_view key) const {
  for (const TomlEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string_view toml_kind_words(TomlValue::Kind kind) {
  switch (kind) {
    case TomlValue::Kind::kText:
      return "a text";
    case TomlValue::Kind::kInteger:
      return "an integer";
    case TomlValue::Kind::kNumber:
      return "a number";
    case TomlValue::Kind::kTruth:
      return "true or false";
    case TomlValue::Kind::kTime:
      return "a date or time";
    case TomlValue::Kind::kList:
      return "a list";
    case TomlValue::Kind::kTable:
      return "a table";
  }
  return "";
}

Result<TomlDocument> TomlDocument::parse(std::string_view text, std::string shown) {
  if (text.size() > kLargestToml)
    return Error{fmt::format("{}: larger than 1 MB, the limit for files of this kind", shown)};
  if (std::string why = find_unreadable(text, shown); !why.empty()) return Error{std::move(why)};
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return Error{fmt::format("{}:{}: {}", shown, line_of_region(parsed.error().source()),
                             screen_safe(cut_to_bytes(parsed.error().description(), 300)))};
  }
  TomlDocument document;
  document.root_ = copied(parsed.table());
  document.shown_ = std::move(shown);
  return document;
}

Result<TomlDocument> TomlDocument::read(const std::filesystem::path& path) {
  const std::unique_ptr<ByteSource> source = TRY(open_source(path.string()));
  const WholeText whole = TRY(read_all(*source, kLargestToml + 1));
  return parse(whole.text, screen_safe(path.string()));
}

void TomlMistakes::add(int line, std::string_view what) {
  constexpr size_t kMostKept = 50;
  if (lines_.size() >= kMostKept) {
    ++left_out_;
    return;
  }
  lines_.push_back({line, screen_safe(cut_to_bytes(what, 400))});
}

std::vector<std::string> TomlMistakes::texts() const {
  std::vector<Mistake> sorted = lines_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Mistake& a, const Mistake& b) { return a.line < b.line; });
  std::vector<std::string> out;
  for (const Mistake& one : sorted)
    out.push_back(fmt::format("{}:{}: {}", shown_, one.line, one.what));
  if (left_out_ > 0) out.push_back(fmt::format("{}: and {} more", shown_, left_out_));
  return out;
}

Error TomlMistakes::error() const {
  std::string all;
  for (const std::string& text : texts()) {
    if (!all.empty()) all += '\n';
    all += text;
  }
  return {all};
}

const TomlValue* TomlReader::any(std::string_view key) {
  asked_.emplace_back(key);
  return table_.find(key);
}

int TomlReader::line_of(std::string_view key) const {
  for (const TomlEntry& entry : table_.entries) {
    if (entry.key == key) return entry.line;
  }
  return table_.line;
}

const TomlValue* TomlReader::typed(std::string_view key, TomlValue::Kind kind,
                                   std::string_view wanted) {
  const TomlValue* value = any(key);
  if (value == nullptr || value->kind == kind) return value;
  mistake(line_of(key),
          fmt::format("{} is {}; {} is wanted", key, toml_kind_words(value->kind), wanted));
  return nullptr;
}

std::optional<std::string> TomlReader::text(std::string_view key) {
  const TomlValue* value = typed(key, TomlValue::Kind::kText, "a text in quotes");
  if (value == nullptr) return std::nullopt;
  // Texts become arguments, paths and environment: C strings end at a zero byte.
  if (value->text.find('\0') != std::string::npos) {
    mistake(line_of(key), fmt::format("{} has a zero byte, which no command can have", key));
    return std::nullopt;
  }
  return value->text;
}

std::string TomlReader::need_text(std::string_view key) {
  const bool is_there = table_.find(key) != nullptr;
  const std::optional<std::string> value = text(key);
  if (!is_there) mistake(table_.line, fmt::format("{} is missing", key));
  if (value && value->empty()) mistake(line_of(key), fmt::format("{} is empty", key));
  return value.value_or("");
}

std::optional<bool> TomlReader::truth(std::string_view key) {
  const TomlValue* value = typed(key, TomlValue::Kind::kTruth, "true or false");
  if (value == nullptr) return std::nullopt;
  return value->truth;
}

std::optional<int64_t> TomlReader::integer(std::string_view key, int64_t least, int64_t most) {
  const TomlValue* value =
      typed(key, TomlValue::Kind::kInteger, fmt::format("an integer from {} to {}", least, most));
  if (value == nullptr) return std::nullopt;
  if (value->integer >= least && value->integer <= most) return value->integer;
  mistake(line_of(key),
          fmt::format("{} is {}; {} to {} is allowed", key, value->integer, least, most));
  return std::nullopt;
}

std::optional<double> TomlReader::number(std::string_view key, double least, double most) {
  const TomlValue* value = any(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != TomlValue::Kind::kInteger && value->kind != TomlValue::Kind::kNumber) {
    mistake(line_of(key),
            fmt::format("{} is {}; a number is wanted", key, toml_kind_words(value->kind)));
    return std::nullopt;
  }
  // NaN fails both comparisons.
  if (value->number >= least && value->number <= most) return value->number;
  mistake(line_of(key),
          fmt::format("{} is {}; {} to {} is allowed", key, value->number, least, most));
  return std::nullopt;
}

std::optional<std::vector<std::string>> TomlReader::texts(std::string_view key) {
  const TomlValue* value = typed(key, TomlValue::Kind::kList, "a list of texts");
  if (value == nullptr) return std::nullopt;
  std::vector<std::string> out;
  for (const TomlValue& item : value->items) {
    if (item.kind != TomlValue::Kind::kText) {
      mistake(item.line, fmt::format("{} holds {}; texts in quotes are wanted", key,
                                     toml_kind_words(item.kind)));
      return std::nullopt;
    }
    if (item.text.find('\0') != std::string::npos) {
      mistake(item.line, fmt::format("{} has a zero byte, which no command can have", key));
      return std::nullopt;
    }
    out.push_back(item.text);
  }
  return out;
}

std::optional<size_t> TomlReader::word(std::string_view key, std::vector<std::string> words) {
  const TomlValue* value = typed(key, TomlValue::Kind::kText, "a text in quotes");
  if (value == nullptr) return std::nullopt;
  for (size_t i = 0; i < words.size(); ++i) {
    if (value->text == words[i]) return i;
  }
  std::string all;
  for (const std::string& one : words) all += (all.empty() ? "" : ", ") + one;
  mistake(line_of(key), fmt::format("{} is '{}'; one of {} is wanted{}", key, value->text, all,
                                    did_you_mean(value->text, words)));
  return std::nullopt;
}

const TomlValue* TomlReader::table(std::string_view key) {
  return typed(key, TomlValue::Kind::kTable, fmt::format("a table [{}]", key));
}

std::vector<const TomlValue*> TomlReader::tables(std::string_view key) {
  std::vector<const TomlValue*> out;
  const TomlValue* value = typed(key, TomlValue::Kind::kList, fmt::format("tables [[{}]]", key));
  if (value == nullptr) return out;
  for (const TomlValue& item : value->items) {
    if (item.is_table())
      out.push_back(&item);
    else
      mistake(item.line,
              fmt::format("{} holds {}; tables are wanted", key, toml_kind_words(item.kind)));
  }
  return out;
}

void TomlReader::finish() {
  for (const TomlEntry& entry : table_.entries) {
    if (std::find(asked_.begin(), asked_.end(), entry.key) != asked_.end()) continue;
    mistake(entry.line, fmt::format("there is no key '{}' here{}", cut_to_bytes(entry.key, 80),
                                    did_you_mean(entry.key, asked_)));
  }
}

std::string toml_quoted(std::string_view text) {
  const std::string valid = with_valid_utf8(text);
  std::string out = "\"";
  for (size_t i = 0; i < valid.size();) {
    const char c = valid[i];
    if (const size_t unseen = unseen_length(valid, i); unseen > 0) {
      const char32_t character = character_at(valid, i);
      if (c == '\n')
        out += "\\n";
      else if (c == '\t')
        out += "\\t";
      else if (c == '\r')
        out += "\\r";
      else
        out += character > 0xffff ? fmt::format("\\U{:08x}", static_cast<uint32_t>(character))
                                  : fmt::format("\\u{:04x}", static_cast<uint32_t>(character));
      i += unseen;
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
    ++i;
  }
  return out + "\"";
}

std::string toml_key(std::string_view text) {
  return is_bare_key(text) ? std::string(text) : toml_quoted(text);
}

std::string toml_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ", ";
    out += toml_quoted(text);
  }
  return out + "]";
}

std::string toml_number(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace fathom
