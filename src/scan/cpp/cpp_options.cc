#include "scan/cpp/cpp_options.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace fathom::cpp {
namespace {

// "text" → text. Escapes stay as they are written.
std::string unquoted(std::string_view literal) {
  const size_t open = literal.find('"');
  if (open == std::string_view::npos || literal.size() < open + 2) return "";
  return std::string(literal.substr(open + 1, literal.size() - open - 2));
}

bool is_variable_name(std::string_view text) {
  if (text.size() < 2 || !std::isalpha(static_cast<unsigned char>(text[0]))) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isupper(c) || std::isdigit(c) || c == '_';
  });
}

bool names_environment(std::string_view function) {
  std::string lower(function);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  // "getenv", "env_or", "GetEnvInt", but not "environment" or "envelope".
  const size_t at = lower.find("env");
  return at != std::string::npos && !lower.substr(at).starts_with("envelope") &&
         !lower.substr(at).starts_with("environ");
}

struct OptionTokens {
  size_t first, last;
};

class OptionFinder {
 public:
  explicit OptionFinder(const TokenList& source) : source_(source) {}

  std::vector<Option> run() {
    for (size_t i = 0; i + 2 < source_.size(); ++i) {
      if (source_.is(i, "argv")) reads_argv_ = true;
      if (source_.is_name(i) && source_.is(i + 1, "(")) call(i);
    }
    if (reads_argv_) add_argv_options();
    return std::move(out_);
  }

 private:
  void add_argv_options() {
    std::vector<Option> compared = find_argv_options(source_);
    if (compared.empty()) return;
    // What the program says of its own options is their help.
    for (const UsageLine& line : find_usage_lines(source_)) {
      for (Option& option : compared) {
        const bool same = std::any_of(line.names.begin(), line.names.end(), [&](const auto& name) {
          return std::find(option.names.begin(), option.names.end(), name) != option.names.end();
        });
        if (same && option.help.empty()) option.help = line.help;
      }
    }
    out_.insert(out_.end(), std::make_move_iterator(compared.begin()),
                std::make_move_iterator(compared.end()));
  }

  void call(size_t name) {
    const std::string_view function = source_.at(name);
    if (function.starts_with("DEFINE_")) return gflag(name, function.substr(7));
    if (function == "ABSL_FLAG") return absl_flag(name);
    if (function == "add_option" || function == "add_flag") return cli11(name);
    if (names_environment(function)) environment(name, function);
  }

  // The arguments between the brackets that open after the name.
  std::vector<OptionTokens> arguments(size_t name) const {
    std::vector<OptionTokens> out;
    const size_t open = name + 1;
    // A call whose brackets span more than this is no option definition.
    constexpr size_t kMaxTokens = 400;
    size_t depth = 0, first = open + 1;
    for (size_t i = open; i < std::min(source_.size(), open + kMaxTokens); ++i) {
      const std::string_view token = source_.at(i);
      if (token == "(" || token == "[" || token == "{") ++depth;
      if (token == ")" || token == "]" || token == "}") {
        if (--depth == 0) {
          if (i > first) out.push_back({first, i});
          return out;
        }
      }
      if (token == "," && depth == 1) {
        out.push_back({first, i});
        first = i + 1;
      }
    }
    return {};
  }

  // A literal, adjacent ones joined; none where the argument is anything else.
  std::optional<std::string> literal(OptionTokens range) const {
    std::string out;
    for (size_t i = range.first; i < range.last; ++i) {
      if (source_.tokens[i].kind != TokenKind::kString) return std::nullopt;
      out += unquoted(source_.at(i));
    }
    return range.last > range.first ? std::optional(out) : std::nullopt;
  }

  Option& add(Option::Source kind, size_t token, std::vector<std::string> names) {
    out_.push_back({kind, std::move(names), "", "", std::nullopt, source_.tokens[token].line});
    return out_.back();
  }

  std::string text(OptionTokens range) const { return source_.source(range.first, range.last); }

  void gflag(size_t name, std::string_view type) {
    const auto args = arguments(name);
    if (args.size() < 3 || !source_.is_name(args[0].first)) return;
    Option& option = add(Option::Source::kFlags, name, {"--" + text(args[0])});
    option.type = type;
    option.default_value = literal(args[1]).value_or(text(args[1]));
    option.help = literal(args[2]).value_or("");
  }

  void absl_flag(size_t name) {
    const auto args = arguments(name);
    if (args.size() < 4) return;
    Option& option = add(Option::Source::kFlags, name, {"--" + text(args[1])});
    option.type = text(args[0]);
    option.default_value = literal(args[2]).value_or(text(args[2]));
    option.help = literal(args[3]).value_or("");
  }

  void cli11(size_t name) {
    if (name == 0 || !(source_.is(name - 1, "->") || source_.is(name - 1, "."))) return;
    const auto args = arguments(name);
    const auto spelled = args.empty() ? std::nullopt : literal(args[0]);
    if (!spelled) return;
    std::vector<std::string> names;
    for (size_t at = 0; at <= spelled->size();) {
      const size_t comma = std::min(spelled->find(',', at), spelled->size());
      names.push_back(spelled->substr(at, comma - at));
      at = comma + 1;
    }
    // The long name first, as everywhere; a name without dashes is a positional argument.
    const auto is_long = [](const std::string& n) { return n.starts_with("--"); };
    const auto first_long = std::find_if(names.begin(), names.end(), is_long);
    if (first_long != names.end()) std::rotate(names.begin(), first_long, first_long + 1);
    Option& option = add(Option::Source::kCli11, name, std::move(names));
    if (source_.is(name, "add_flag")) option.type = "flag";
    for (size_t i = 1; i < args.size(); ++i) {
      if (auto help = literal(args[i])) option.help = *help;
    }
  }

  void environment(size_t name, std::string_view function) {
    const auto args = arguments(name);
    const auto variable = args.empty() ? std::nullopt : literal(args[0]);
    if (!variable || variable->empty()) return;
    const bool plain = function == "getenv" || function == "secure_getenv";
    if (!plain && !is_variable_name(*variable)) return;
    Option& option = add(plain ? Option::Source::kEnvironment : Option::Source::kEnvironmentWrapper,
                         name, {*variable});
    if (!plain && args.size() > 1) option.default_value = literal(args[1]).value_or(text(args[1]));
  }

  const TokenList& source_;
  bool reads_argv_ = false;
  std::vector<Option> out_;
};

}  // namespace

std::vector<Option> find_options(const TokenList& source) { return OptionFinder(source).run(); }

}  // namespace fathom::cpp
