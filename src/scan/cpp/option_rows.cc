// Options in rows of braces that a program's own loop reads: { {"-m", "--model", "path", &path}, …
// }, and keys of a configuration that its own functions read or declare by name:
// cfg.getInt("threads").
#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>

#include "base/text_parts.h"
#include "scan/cpp/option_syntax.h"
#include "scan/cpp/token_pattern.h"

namespace fathom::cpp {
namespace {

constexpr size_t kSure = 3;  // one may be anything; so many are a program's options

// A table of error texts: { {-1, "not found"}, … } with its numbers in quotes.
bool is_negative_number(std::string_view name) {
  return name.find_first_not_of("-.0123456789") == std::string_view::npos;
}

class RowOptions {
 public:
  RowOptions(const TokenList& source, std::vector<Option>& into) : source_(source), into_(into) {}

  void run() {
    for (size_t i = 1; i + 4 < source_.size(); ++i) {
      if (source_.is(i, "{") && source_.is(i + 1, "{") &&
          source_.tokens[i + 2].kind == TokenKind::kString)
        i = table(i);
    }
    if (found_.size() >= kSure) std::move(found_.begin(), found_.end(), std::back_inserter(into_));
  }

 private:
  // Returns where the rows end.
  size_t table(size_t open) {
    const size_t end = for_each_row(source_, open + 1, [&](const OptionArguments& row, size_t) {
      if (auto option = option_of(row)) found_.push_back(std::move(*option));
    });
    return std::max(open, end - 1);
  }

  // Names, of which one may be "", and a text for people. Arguments of a compiler have none.
  std::optional<Option> option_of(const OptionArguments& row) const {
    Option option;
    option.source = Option::Source::kList;
    size_t at = 0;
    for (; at < std::min<size_t>(row.ranges.size(), 2); ++at) {
      const auto name = literal_of(source_, row.ranges[at]);
      if (!name || (!name->empty() && (!is_option_name(*name) || is_negative_number(*name)))) break;
      if (!name->empty()) option.names.push_back(*name);
    }
    if (option.names.empty() || at == row.ranges.size()) return std::nullopt;
    option.line = source_.tokens[row.ranges[0].first].line;
    // { "-n", FALSE, etINT, {&n}, "how many" }: the text may stand at the end.
    auto help = literal_of(source_, row.ranges[at]);
    if (!help) help = literal_of(source_, row.ranges.back());
    if (!help || !is_prose_text(*help)) return std::nullopt;
    option.help = *help;
    put_long_name_first(option.names);
    return option;
  }

  const TokenList& source_;
  std::vector<Option>& into_;
  std::vector<Option> found_;
};

bool is_settings(std::string_view name) {
  return is_one_of(words_in_name(name).back(), {"cfg", "conf", "config", "configuration",
                                                "settings", "params", "parameters", "options"});
}

// getInt, read_bool
bool reads_value(const std::vector<std::string>& words) {
  return words.size() >= 2 && is_one_of(words[0], {"get", "read", "parse", "load"}) &&
         is_one_of(words[1],
                   {"int",  "int32",   "int64", "uint",   "uint32",  "uint64", "long",   "size",
                    "bool", "boolean", "flag",  "float",  "double",  "real",   "string", "str",
                    "enum", "ints",    "bools", "floats", "doubles", "strings"});
}

// registerParameter, add_option
bool declares_key(const std::vector<std::string>& words) {
  return words.size() == 2 && is_one_of(words[0], {"register", "declare", "define", "add"}) &&
         is_one_of(words[1], {"parameter", "param", "option", "setting", "config", "key"});
}

bool is_key(std::string_view text) {
  if (text.size() < 2 || std::isalpha(static_cast<unsigned char>(text[0])) == 0) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

class KeyOptions {
 public:
  KeyOptions(const TokenList& source, std::vector<Option>& into) : source_(source), into_(into) {}

  void run() {
    for (size_t i = 0; i + 3 < source_.size(); ++i) {
      if (!source_.is_name(i) || !(source_.is(i + 1, "(") || source_.is(i + 1, "<"))) continue;
      const char first =
          static_cast<char>(std::tolower(static_cast<unsigned char>(source_.at(i)[0])));
      if (std::string_view("agrpld").find(first) != std::string_view::npos) call(i);
    }
    for (auto& [reader, options] : found_) {
      if (options.size() < kSure) continue;
      for (auto& [key, option] : options) into_.push_back(std::move(option));
    }
  }

 private:
  void call(size_t name) {
    const std::vector<std::string> words = words_in_name(source_.at(name));
    const bool declares = declares_key(words);
    if (!declares && !reads_value(words)) return;
    const auto open = call_bracket(source_, name);
    const auto arguments = open ? option_arguments(source_, *open) : std::nullopt;
    if (!arguments || arguments->ranges.empty()) return;
    const std::vector<OptionRange>& given = arguments->ranges;
    const bool of_object = name > 1 && (source_.is(name - 1, ".") || source_.is(name - 1, "->"));
    size_t at = 0;
    std::string_view reader = source_.at(name);
    if (!declares) {
      // cfg.getInt("key"), getInt(cfg, "key", …)
      at = of_object ? 0 : 1;
      const size_t object = of_object ? name - 2 : given[0].last - 1;
      if (!source_.is_name(object) || !is_settings(source_.at(object))) return;
      reader = source_.at(object);
    }
    const auto key = at < given.size() ? literal_of(source_, given[at]) : std::nullopt;
    if (!key || !is_key(*key) || (declares && given.size() < 2)) return;
    Option option;
    option.source = Option::Source::kField;
    option.names = {*key};
    option.line = source_.tokens[name].line;
    if (declares) {
      describe(given, option);
      // Things are added to much; what is explained is a setting.
      if (option.help.empty() && words[0] == "add") return;
    } else {
      option.type = words[1];
      option.certain = false;
    }
    found_[reader].emplace(*key, std::move(option));
  }

  // ("key", "what it does", 100): the text for people, and the literal behind it.
  void describe(const std::vector<OptionRange>& given, Option& option) const {
    size_t at = 1;
    for (; at < given.size(); ++at) {
      const auto help = literal_of(source_, given[at]);
      if (!help || !is_prose_text(*help)) continue;
      option.help = *help;
      break;
    }
    if (at != 1 || given.size() < 3) return;
    const OptionRange value = given[2];
    const bool plain = value.last == value.first + 1 && !source_.is_name(value.first);
    if (plain) option.default_value = source_.source(value.first, value.last);
  }

  const TokenList& source_;
  std::vector<Option>& into_;
  std::map<std::string_view, std::map<std::string, Option>> found_;  // by reader and key
};

}  // namespace

void find_row_options(const TokenList& source, std::vector<Option>& into) {
  RowOptions(source, into).run();
}

void find_key_options(const TokenList& source, std::vector<Option>& into) {
  KeyOptions(source, into).run();
}

}  // namespace fathom::cpp
