#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace fathom::cpp {

// A row of data/features/option_calls.tsv. Positions are counted from 0.
struct OptionCall {
  enum class NameKind : uint8_t { kIdentifier, kText, kNames, kTexts, kObject };
  std::string_view name, qualifier;
  bool of_object = false;  // only behind . or ->
  bool environment = false;
  bool field = false;  // a key of a configuration, described by the calls behind it
  NameKind named_by = NameKind::kText;
  size_t at = 0;
  std::string_view prefix, type;
  std::optional<size_t> type_at, default_at, help_at;
};

// The rows of a call's name. A name that several libraries use has several.
const std::vector<OptionCall>* option_calls_of(std::string_view name);
// The rows that are of Go.
const std::vector<OptionCall>* go_option_calls_of(std::string_view name);

// A row of data/features/option_tables.tsv.
struct OptionTable {
  std::string_view type;
  size_t name = 0, letter = 0, value = 0;
  std::optional<size_t> help;
};
const OptionTable* option_table_of(std::string_view type);

}  // namespace fathom::cpp
