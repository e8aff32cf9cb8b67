#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

struct TomlEntry;

// A value of a TOML file, with the line it begins in. Keys are in the order of the file.
struct TomlValue {
  enum class Kind : uint8_t { kText, kInteger, kNumber, kTruth, kTime, kList, kTable };
  Kind kind = Kind::kTable;
  int line = 1;
  std::string text;                // kText; kTime: as it would be written
  int64_t integer = 0;             // kInteger
  double number = 0;               // kNumber and kInteger; may be infinite or no number
  bool truth = false;              // kTruth
  std::vector<TomlValue> items;    // kList
  std::vector<TomlEntry> entries;  // kTable

  bool is_table() const { return kind == Kind::kTable; }
  const TomlValue* find(std::string_view key) const;
};

struct TomlEntry {
  std::string key;
  int line = 1;
  TomlValue value;
};

// "a text", "a list": what a value is, for messages.
std::string_view toml_kind_words(TomlValue::Kind kind);

// A TOML file in memory. Sizes are bounded: a file of 1 MB, 32 nested values, 16 parts of a key.
class TomlDocument {
 public:
  // An error is "FILE:LINE: what is wrong".
  static Result<TomlDocument> parse(std::string_view text, std::string shown);
  static Result<TomlDocument> read(const std::filesystem::path& path);

  const TomlValue& root() const { return root_; }
  const std::string& shown() const { return shown_; }

 private:
  TomlValue root_;
  std::string shown_;
};

// What is wrong with a file, line by line. At most 50 are kept; the others are counted.
class TomlMistakes {
 public:
  explicit TomlMistakes(std::string shown) : shown_(std::move(shown)) {}
  void add(int line, std::string_view what);
  bool empty() const { return lines_.empty(); }
  // "FILE:LINE: what", in the order of the lines.
  std::vector<std::string> texts() const;
  // All of them as one error, a line each.
  Error error() const;

 private:
  struct Mistake {
    int line;
    std::string what;
  };
  std::string shown_;
  std::vector<Mistake> lines_;
  size_t left_out_ = 0;
};

// Reads the keys of one table. A wrong type or a number out of range is noted as a mistake and read
// as absent. finish() notes the keys that nobody asked for, with the nearest one that was.
class TomlReader {
 public:
  // `what`: what the table is, for messages: "experiment E1".
  TomlReader(const TomlValue& table, std::string what, TomlMistakes& mistakes)
      : table_(table), what_(std::move(what)), mistakes_(mistakes) {}

  std::optional<std::string> text(std::string_view key);
  std::optional<bool> truth(std::string_view key);
  std::optional<int64_t> integer(std::string_view key, int64_t least, int64_t most);
  // Finite, within the limits.
  std::optional<double> number(std::string_view key, double least, double most);
  // A list of texts; nothing where the key is absent or wrong.
  std::optional<std::vector<std::string>> texts(std::string_view key);
  // One of the words; the place of it in the list.
  std::optional<size_t> word(std::string_view key, std::vector<std::string> words);
  const TomlValue* table(std::string_view key);
  // The tables of [[key]]; empty where there are none.
  std::vector<const TomlValue*> tables(std::string_view key);
  // Any value; the caller checks it.
  const TomlValue* any(std::string_view key);

  // As text(), and a mistake where it is absent or empty.
  std::string need_text(std::string_view key);

  // Of a key, or of the table where the key is absent.
  int line_of(std::string_view key) const;
  void mistake(int line, std::string_view text) {
    mistakes_.add(line, what_ + ": " + std::string(text));
  }
  void finish();

 private:
  const TomlValue* typed(std::string_view key, TomlValue::Kind kind, std::string_view wanted);

  const TomlValue& table_;
  std::string what_;
  TomlMistakes& mistakes_;
  std::vector<std::string> asked_;
};

// Writing. A text with its quotes on one line; line breaks, control characters and what a reader
// would not see are escaped. Bytes that are no UTF-8 become '?'.
std::string toml_quoted(std::string_view text);
// A key: bare where TOML allows it.
std::string toml_key(std::string_view text);
std::string toml_list(const std::vector<std::string>& texts);
// The shortest form that reads as the same number: 1.0, 2.5e-05, inf.
std::string toml_number(double number);

}  // namespace fathom
