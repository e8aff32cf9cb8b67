// Options of C's tables: struct option of getopt_long and its like, and getopt's string of letters.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/text_parts.h"
#include "scan/cpp/option_calls.h"
#include "scan/cpp/option_syntax.h"

namespace fathom::cpp {
namespace {

class TableReader {
 public:
  explicit TableReader(const TokenList& source) : source_(source) {}

  std::vector<Option> run() {
    for (size_t i = 0; i + 3 < source_.size(); ++i) {
      if (!source_.is_name(i)) continue;
      if (source_.is(i + 1, "(")) letters(i);
      // struct option names[] = { {…}, {…} }
      if (source_.is_name(i + 1) && source_.is(i + 2, "[")) table(i);
    }
    if (!out_.empty()) read_cases();
    return std::move(out_);
  }

 private:
  void table(size_t type) {
    const OptionTable* rows = option_table_of(source_.at(type));
    if (rows == nullptr) return;
    size_t open = type + 3;
    constexpr size_t kLongestSize = 12;
    while (open < std::min(source_.size(), type + kLongestSize) && !source_.is(open, "{")) ++open;
    if (!source_.is(open, "{") || !source_.is(open + 1, "{")) return;
    for_each_row(source_, open + 1,
                 [&](const OptionArguments& row, size_t at) { add_row(*rows, at, row.ranges); });
  }

  void add_row(const OptionTable& table, size_t at, const std::vector<OptionRange>& row) {
    if (row.size() <= std::max({table.name, table.letter, table.value})) return;
    Option option;
    option.source = Option::Source::kTable;
    option.line = source_.tokens[at].line;
    if (const auto name = literal_of(source_, row[table.name]); name && !name->empty())
      option.names.push_back("--" + *name);
    if (const auto letter = character_of(source_, row[table.letter]))
      option.names.push_back("-" + *letter);
    if (option.names.empty() || !is_option_name(option.names[0])) return;
    const std::string value = source_.source(row[table.value].first, row[table.value].last);
    const bool none = is_one_of(value, {"0", "NULL", "nullptr", "no_argument", "false"}) ||
                      value.ends_with("NONE");
    if (none) option.type = "flag";
    if (table.help && *table.help < row.size())
      option.help = literal_of(source_, row[*table.help]).value_or("");
    out_.push_back(std::move(option));
  }

  // getopt(argc, argv, "hn:"): letters, those with a value before a colon.
  void letters(size_t name) {
    if (!source_.at(name).starts_with("getopt")) return;
    if (!source_.is(name, "getopt") && !source_.is(name, "getopt_long") &&
        !source_.is(name, "getopt_long_only")) {
      return;
    }
    const auto arguments = option_arguments(source_, name + 1);
    if (!arguments || arguments->ranges.size() < 3) return;
    const auto spelled = literal_of(source_, arguments->ranges[2]);
    if (!spelled) return;
    for (size_t i = 0; i < spelled->size(); ++i) {
      const char letter = (*spelled)[i];
      if (std::isalnum(static_cast<unsigned char>(letter)) == 0) continue;
      const bool has_value = i + 1 < spelled->size() && (*spelled)[i + 1] == ':';
      add_letter(std::string("-") + letter, has_value, source_.tokens[name].line);
    }
  }

  void add_letter(const std::string& name, bool has_value, uint32_t line) {
    if (!letters_.insert(name).second) return;
    for (const Option& option : out_) {
      if (contains(option.names, name)) return;
    }
    Option option;
    option.source = Option::Source::kTable;
    option.names = {name};
    option.line = line;
    if (!has_value) option.type = "flag";
    out_.push_back(std::move(option));
  }

  // case 'n': count = atoi(optarg); break;
  void read_cases() {
    std::map<char, Option*> by_letter;
    for (Option& option : out_) {
      for (const std::string& name : option.names) {
        if (name.size() == 2) by_letter.emplace(name[1], &option);
      }
    }
    for (size_t i = 0; i + 3 < source_.size(); ++i) {
      if (!source_.is(i, "case") || !source_.is(i + 2, ":")) continue;
      const auto letter = character_of(source_, {i + 1, i + 2});
      const auto found = letter ? by_letter.find((*letter)[0]) : by_letter.end();
      if (found == by_letter.end()) continue;
      constexpr size_t kLongestCase = 60;
      size_t last = i + 3;
      bool given = false;
      while (last < std::min(source_.size(), i + kLongestCase) && !source_.is(last, "break") &&
             !source_.is(last, "case") && !source_.is(last, "default")) {
        given = given || source_.is(last, "optarg");
        ++last;
      }
      Option& option = *found->second;
      const bool flag = option.type == "flag";
      if (!given && !flag) continue;
      read_setting(source_, {i + 3, last, i}, {"optarg"}, option);
      if (flag) option.type = "flag";
      by_letter.erase(found);  // a second switch is of another parser
    }
  }

  const TokenList& source_;
  std::set<std::string> letters_;
  std::vector<Option> out_;
};

}  // namespace

void find_table_options(const TokenList& source, std::vector<Option>& into) {
  for (Option& option : TableReader(source).run()) into.push_back(std::move(option));
}

}  // namespace fathom::cpp
