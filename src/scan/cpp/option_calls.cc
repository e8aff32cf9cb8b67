#include "scan/cpp/option_calls.h"

#include <string>
#include <unordered_map>

#include "base/check.h"
#include "base/text_parts.h"
#include "base/tsv.h"

extern const std::string_view option_calls_tsv, option_tables_tsv;

namespace fathom::cpp {
namespace {

OptionCall::NameKind name_kind(std::string_view word) {
  if (word == "name") return OptionCall::NameKind::kIdentifier;
  if (word == "names") return OptionCall::NameKind::kNames;
  if (word == "texts") return OptionCall::NameKind::kTexts;
  if (word == "objects") return OptionCall::NameKind::kObject;
  CHECK(word == "text");
  return OptionCall::NameKind::kText;
}

struct OptionCalls {
  // Names are made of a row's braces, so they are owned; a map's keys keep their places.
  std::unordered_map<std::string, std::vector<OptionCall>> rows, of_go;

  OptionCalls() {
    for (const std::vector<std::string_view>& row : read_tsv(option_calls_tsv, 8)) add(row);
  }

  void add(const std::vector<std::string_view>& row) {
    OptionCall call;
    std::string_view name = row[0];
    const bool go = name.starts_with("go:");
    if (go) name.remove_prefix(3);
    call.of_object = name.starts_with('.');
    if (call.of_object) name.remove_prefix(1);
    if (const size_t colons = name.rfind("::"); colons != std::string_view::npos) {
      call.qualifier = name.substr(0, colons);
      name.remove_prefix(colons + 2);
    }
    call.environment = row[1] == "environment";
    call.field = row[1] == "field";
    call.named_by = name_kind(row[2]);
    call.at = number_in<size_t>(row[3]).value_or(0);
    call.prefix = row[4];
    call.type_at = number_in<size_t>(row[5]);
    if (!call.type_at) call.type = row[5];
    call.default_at = number_in<size_t>(row[6]);
    call.help_at = number_in<size_t>(row[7]);
    const size_t open = name.find('{');
    auto& into = go ? of_go : rows;
    if (open == std::string_view::npos) return keep(std::string(name), call, into);
    const size_t close = name.find('}');
    for (const std::string_view type : split(name.substr(open + 1, close - open - 1), ',')) {
      call.type = type;
      keep(std::string(name.substr(0, open)) + std::string(type) +
               std::string(name.substr(close + 1)),
           call, into);
    }
  }

  static void keep(const std::string& name, OptionCall call,
                   std::unordered_map<std::string, std::vector<OptionCall>>& into) {
    const auto found = into.try_emplace(name).first;
    call.name = found->first;
    found->second.push_back(call);
  }
};

}  // namespace

namespace {

const OptionCalls& built_in_calls() {
  static const OptionCalls calls;
  return calls;
}

const std::vector<OptionCall>* rows_of(
    std::string_view name, const std::unordered_map<std::string, std::vector<OptionCall>>& rows) {
  // Longer names than any row's are not made into strings.
  if (name.size() > 60) return nullptr;
  return find_value(rows, std::string(name));
}

}  // namespace

const std::vector<OptionCall>* option_calls_of(std::string_view name) {
  return rows_of(name, built_in_calls().rows);
}

const std::vector<OptionCall>* go_option_calls_of(std::string_view name) {
  return rows_of(name, built_in_calls().of_go);
}

const OptionTable* option_table_of(std::string_view type) {
  static const std::vector<OptionTable> tables = [] {
    std::vector<OptionTable> out;
    for (const std::vector<std::string_view>& row : read_tsv(option_tables_tsv, 5)) {
      const auto name = number_in<size_t>(row[1]), letter = number_in<size_t>(row[2]),
                 value = number_in<size_t>(row[3]);
      CHECK(name && letter && value);
      out.push_back({row[0], *name, *letter, *value, number_in<size_t>(row[4])});
    }
    return out;
  }();
  for (const OptionTable& table : tables) {
    if (table.type == type) return &table;
  }
  return nullptr;
}

}  // namespace fathom::cpp
