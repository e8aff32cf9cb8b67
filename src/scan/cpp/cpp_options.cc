#include "scan/cpp/cpp_options.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "base/ascii.h"
#include "base/text_parts.h"
#include "base/tsv.h"
#include "scan/cpp/option_calls.h"
#include "scan/cpp/option_syntax.h"
#include "scan/cpp/token_pattern.h"

namespace fathom::cpp {
namespace {

bool is_variable_name(std::string_view text) {
  if (text.size() < 2 || !std::isalpha(static_cast<unsigned char>(text[0]))) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isupper(c) || std::isdigit(c) || c == '_';
  });
}

bool names_environment(std::string_view function) {
  if (!holds(function, 'v') && !holds(function, 'V')) return false;
  const std::string lower = small_letters(function);
  // "getenv", "env_or", "GetEnvInt", but not "environment" or "envelope".
  const size_t at = lower.find("env");
  if (at == std::string::npos || lower.substr(at).starts_with("envelope") ||
      lower.substr(at).starts_with("environ")) {
    return false;
  }
  // setenv and its like write it.
  const std::string_view before = std::string_view(lower).substr(0, at);
  return !ends_with_any(before, {"set", "set_", "put", "put_", "unset", "unset_", "clear_", "clear",
                                 "push_", "export_"});
}

class OptionFinder {
 public:
  explicit OptionFinder(const TokenList& source) : source_(source) {}

  std::vector<Option> run() {
    bool reads_argv = false, has_tables = false;
    for (size_t i = 0; i + 2 < source_.size(); ++i) {
      if (!source_.is_name(i)) continue;
      if (source_.is(i, "argv") || source_.is(i, "main")) reads_argv = true;
      if (source_.is(i, "CLI") || source_.is(i, "argparse")) knows_library_ = true;
      has_tables = has_tables || option_table_of(source_.at(i)) != nullptr ||
                   source_.at(i).starts_with("getopt");
      if (source_.is(i + 1, "(") || source_.is(i + 1, "<")) call(i);
    }
    find_list_options(source_, out_);
    find_row_options(source_, out_);
    find_object_options(source_, out_);
    find_key_options(source_, out_);
    if (has_tables) find_table_options(source_, out_);
    if (reads_argv) {
      std::unordered_set<std::string> declared;
      for (const Option& option : out_) declared.insert(option.names.begin(), option.names.end());
      for (Option& option : find_argv_options(source_)) {
        if (!declared.contains(option.names[0])) out_.push_back(std::move(option));
      }
    }
    add_usage();
    return std::move(out_);
  }

 private:
  // What the program prints of its own options is their help.
  void add_usage() {
    std::unordered_map<std::string_view, Option*> wanting;
    for (Option& option : out_) {
      const bool by_hand =
          option.source == Option::Source::kArgv || option.source == Option::Source::kTable;
      if (!by_hand || !option.help.empty()) continue;
      for (const std::string& name : option.names) wanting.emplace(name, &option);
    }
    if (wanting.empty()) return;
    for (const UsageLine& line : find_usage_lines(source_)) {
      for (const std::string& name : line.names) {
        const auto found = wanting.find(name);
        if (found == wanting.end() || !found->second->help.empty()) continue;
        found->second->help = line.help.empty() ? line.placeholder : line.help;
        if (!found->second->default_value) found->second->default_value = line.default_value;
      }
    }
  }

  void call(size_t name) {
    const std::string_view function = source_.at(name);
    if (function == "add_options" && source_.is(name + 1, "("))
      return find_chain_options(source_, name, out_);
    if (const std::vector<OptionCall>* rows = option_calls_of(function)) {
      for (const OptionCall& row : *rows) {
        if (declaration(name, row)) return;
      }
    }
    if (names_environment(function)) environment(name, function);
  }

  bool declaration(size_t name, const OptionCall& row) {
    const bool of_object = name > 0 && (source_.is(name - 1, "->") || source_.is(name - 1, "."));
    if (row.of_object != of_object) return false;
    const bool qualified =
        name > 1 && source_.is(name - 1, "::") && source_.is(name - 2, row.qualifier);
    if (!row.qualifier.empty() && !qualified) return false;
    const auto open = row.named_by == OptionCall::NameKind::kObject ? object_bracket(name)
                                                                    : call_bracket(source_, name);
    const auto arguments = open ? option_arguments(source_, *open) : std::nullopt;
    if (!arguments || arguments->ranges.size() <= row.at) return false;
    if (row.environment) return variable(name, row, arguments->ranges);
    Option option;
    option.line = source_.tokens[name].line;
    option.names = names_of(row, arguments->ranges);
    if (option.names.empty()) return false;
    option.type = row.type_at ? text(arguments->ranges, *row.type_at) : std::string(row.type);
    if (row.default_at && *row.default_at < arguments->ranges.size())
      option.default_value = text(arguments->ranges, *row.default_at);
    // A macro's other uses have no text for people where its help is.
    const bool has_help = row.help_at && *row.help_at < arguments->ranges.size();
    const auto help =
        has_help ? literal_of(source_, arguments->ranges[*row.help_at]) : std::nullopt;
    const bool by_name = row.named_by == OptionCall::NameKind::kIdentifier;
    if (by_name && !row.field && (!has_help || is_own_macro(row.name))) return false;
    option.help = help.value_or("");
    if (row.named_by == OptionCall::NameKind::kObject) {
      read_template_type(name, option);
      read_modifiers(arguments->ranges, option);
    }
    read_chain(arguments->close, option);
    if (row.field) {
      if (is_own_macro(row.name)) return false;
      option.source = Option::Source::kField;
    }
    if (row.named_by == OptionCall::NameKind::kTexts && option.type.empty() && is_switch_)
      option.type = "flag";
    out_.push_back(std::move(option));
    return true;
  }

  // Whether the file gives a library's macro a meaning of its own.
  bool is_own_macro(std::string_view name) {
    if (!own_macros_) {
      own_macros_.emplace();
      for (size_t i = 0; i < source_.size(); ++i) {
        if (source_.tokens[i].kind != TokenKind::kDirective) continue;
        std::string_view text = source_.at(i);
        const size_t define = text.find("define");
        if (define == std::string_view::npos || define > 8) continue;
        text.remove_prefix(define + 6);
        text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
        own_macros_->insert(text.substr(0, text.find_first_of("( \t\r\n\\")));
      }
    }
    return own_macros_->contains(name);
  }

  // cl::opt<int> Count("count", …): the bracket behind the variable's name.
  std::optional<size_t> object_bracket(size_t name) const {
    size_t at = name + 1;
    if (source_.is(at, "<")) {
      const auto close = closing_angle_near(source_, at);
      if (!close) return std::nullopt;
      at = *close + 1;
    }
    if (!source_.is_name(at)) return std::nullopt;
    if (source_.is(at + 1, "(") || source_.is(at + 1, "{")) return at + 1;
    return std::nullopt;
  }

  std::vector<std::string> names_of(const OptionCall& row, const std::vector<OptionRange>& args) {
    using Kind = OptionCall::NameKind;
    std::vector<std::string> names;
    if (row.named_by == Kind::kIdentifier) {
      if (args[row.at].last != args[row.at].first + 1 || !source_.is_name(args[row.at].first))
        return {};
      return {std::string(row.prefix) + std::string(source_.at(args[row.at].first))};
    }
    if (row.named_by == Kind::kTexts) {
      for (const OptionRange& range : args) {
        const auto name = literal_of(source_, range);
        if (!name || name->empty()) break;
        names.push_back(*name);
      }
    } else {
      const auto spelled = literal_of(source_, args[row.at]);
      if (!spelled || spelled->empty()) return {};
      if (row.named_by == Kind::kNames) {
        // CLI11: "-n,--count{4},!--no-count"
        for (std::string_view name : split(*spelled, ',')) {
          name = name.substr(0, name.find('{'));
          while (name.starts_with(' ') || name.starts_with('!')) name.remove_prefix(1);
          while (name.ends_with(' ')) name.remove_suffix(1);
          if (!name.empty()) names.emplace_back(name);
        }
      } else {
        names.push_back(std::string(row.prefix) + *spelled);
      }
    }
    const bool dashes = std::any_of(names.begin(), names.end(), is_option_name);
    // A name without dashes is a positional argument of a library that this file is known to use.
    if (!dashes && !knows_library_) return {};
    if (!dashes && !names.empty() && is_prose_text(names[0])) return {};
    put_long_name_first(names);
    return names;
  }

  std::string text(const std::vector<OptionRange>& args, size_t at) const {
    if (at >= args.size()) return "";
    return text_of(source_, args[at]);
  }

  void read_template_type(size_t name, Option& option) const {
    if (!option.type.empty() || !source_.is(name + 1, "<")) return;
    const auto close = closing_angle_near(source_, name + 1);
    if (close) option.type = source_.source(name + 2, *close);
    if (option.type == "bool") option.type = "flag";
  }

  // cl::desc("…"), cl::init(4)
  void read_modifiers(const std::vector<OptionRange>& args, Option& option) const {
    for (const OptionRange& range : args) {
      for (size_t i = range.first; i + 3 < range.last && i < range.first + 4; ++i) {
        if (!source_.is(i + 1, "(")) continue;
        const OptionRange inside{i + 2, range.last - 1};
        if (source_.is(i, "desc")) option.help = literal_of(source_, inside).value_or("");
        if (source_.is(i, "init")) option.default_value = text_of(source_, inside);
      }
    }
  }

  // .help("…").default_value(4): what follows a declaration says more of it.
  void read_chain(size_t close, Option& option) {
    is_switch_ = false;
    constexpr size_t kLongestChain = 12;
    for (size_t link = 0; link < kLongestChain; ++link) {
      const bool more = source_.is(close + 1, ".") || source_.is(close + 1, "->");
      if (!more || !source_.is_name(close + 2)) return;
      const size_t name = close + 2;
      const auto open = call_bracket(source_, name);
      const auto arguments = open ? option_arguments(source_, *open) : std::nullopt;
      if (!arguments) return;
      const auto given = [&] { return text(arguments->ranges, 0); };
      if (source_.is_any(name, {"help", "description", "describe"})) option.help = given();
      const bool is_default =
          source_.is_any(name, {"default_value", "default_val", "default_str", "set_default"});
      if (is_default && !arguments->ranges.empty()) option.default_value = given();
      if (source_.is(name, "implicit_value") || source_.is(name, "flag")) is_switch_ = true;
      close = arguments->close;
    }
  }

  // NCCL_PARAM(Name, "NAME", 4), option(…).set_env("APP_NAME")
  bool variable(size_t name, const OptionCall& row, const std::vector<OptionRange>& args) {
    const auto spelled = literal_of(source_, args[row.at]);
    if (!spelled || !is_variable_name(*spelled)) return false;
    // Of an option's declaration; set_env of any other object writes the environment.
    if (row.of_object && (name < 2 || !source_.is(name - 2, ")"))) return false;
    Option option;
    option.source = Option::Source::kEnvironment;
    option.line = source_.tokens[name].line;
    option.names = {std::string(row.prefix) + *spelled};
    if (row.default_at && *row.default_at < args.size())
      option.default_value = text(args, *row.default_at);
    out_.push_back(std::move(option));
    return true;
  }

  void environment(size_t name, std::string_view function) {
    const auto open = call_bracket(source_, name);
    const auto arguments = open ? option_arguments(source_, *open) : std::nullopt;
    if (!arguments || arguments->ranges.empty()) return;
    const auto variable = literal_of(source_, arguments->ranges[0]);
    if (!variable || variable->empty()) return;
    const bool plain = function == "getenv" || function == "secure_getenv";
    if (!plain && !is_variable_name(*variable)) return;
    Option option;
    option.source = plain ? Option::Source::kEnvironment : Option::Source::kEnvironmentWrapper;
    option.line = source_.tokens[name].line;
    option.names = {*variable};
    if (!plain && arguments->ranges.size() > 1) option.default_value = text(arguments->ranges, 1);
    out_.push_back(std::move(option));
  }

  const TokenList& source_;
  bool knows_library_ = false, is_switch_ = false;
  std::optional<std::unordered_set<std::string_view>> own_macros_;
  std::vector<Option> out_;
};

}  // namespace

std::vector<Option> find_options(const TokenList& source) { return OptionFinder(source).run(); }

}  // namespace fathom::cpp
