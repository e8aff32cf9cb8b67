#include "scan/cpp/go_options.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/ascii.h"
#include "scan/cpp/option_calls.h"
#include "scan/cpp/option_syntax.h"
#include "scan/cpp/token_pattern.h"

namespace fathom::cpp {
namespace {

bool is_go_variable(std::string_view text) {
  return text.size() > 1 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
         });
}

class GoOptions {
 public:
  explicit GoOptions(const TokenList& source) : source_(source) {}

  std::vector<Option> run() {
    find_wrappers();
    for (size_t i = 1; i + 2 < source_.size(); ++i) {
      if (!source_.is_name(i) || !source_.is(i + 1, "(")) continue;
      if (!declaration(i)) environment(i);
    }
    return std::move(out_);
  }

 private:
  bool reads_environment(size_t name) const {
    if (source_.is(name, "Getenv") || source_.is(name, "LookupEnv"))
      return name > 1 && source_.is(name - 1, ".") && source_.is(name - 2, "os");
    return wrappers_.contains(source_.at(name));
  }

  // func Var(key string) string { return os.Getenv(key) }, and those that hand it on to such.
  void find_wrappers() {
    struct Function {
      std::string_view name, parameter;
      size_t first, last;
    };
    std::vector<Function> functions;
    for (size_t i = 0; i + 4 < source_.size(); ++i) {
      if (!source_.is(i, "func") || !source_.is_name(i + 1) || !source_.is(i + 2, "(") ||
          !source_.is_name(i + 3))
        continue;
      size_t body = source_.closing(i + 2);
      while (body < source_.size() && !source_.is(body, "{") && body < i + 40) ++body;
      if (body >= source_.size() || !source_.is(body, "{")) continue;
      functions.push_back({source_.at(i + 1), source_.at(i + 3), body, source_.closing(body)});
    }
    for (int round = 0; round < 3; ++round) {
      const size_t before = wrappers_.size();
      for (const Function& one : functions) {
        for (size_t i = one.first; i + 3 < std::min(one.last, source_.size()); ++i) {
          if (source_.is(i + 1, "(") && source_.is(i + 2, one.parameter) && source_.is_name(i) &&
              reads_environment(i))
            wrappers_.insert(one.name);
        }
      }
      if (wrappers_.size() == before) break;
    }
  }

  bool declaration(size_t name) {
    const std::vector<OptionCall>* rows =
        source_.is(name - 1, ".") ? go_option_calls_of(source_.at(name)) : nullptr;
    if (rows == nullptr) return false;
    const auto arguments = option_arguments(source_, name + 1);
    if (!arguments) return false;
    for (const OptionCall& row : *rows) {
      if (!row.help_at || arguments->ranges.size() != *row.help_at + 1) continue;
      const auto spelled = literal_of(source_, arguments->ranges[row.at]);
      const auto help = literal_of(source_, arguments->ranges[*row.help_at]);
      // What has no text for people in the place of its help is another library's call.
      if (!spelled || spelled->empty() || !help || help->empty() ||
          spelled->find(' ') != std::string::npos)
        continue;
      Option option;
      option.line = source_.tokens[name].line;
      option.names = {std::string(row.prefix) + *spelled};
      option.help = *help;
      const std::string type = small_letters(row.type);
      option.type = type == "bool" ? "flag" : type;
      if (row.default_at && *row.default_at < arguments->ranges.size()) {
        option.default_value = text_of(source_, arguments->ranges[*row.default_at]);
        // StringP("name", "n", …): the letter stands before the default.
        if (*row.default_at == row.at + 2) {
          const auto letter = literal_of(source_, arguments->ranges[row.at + 1]);
          if (letter && letter->size() == 1) option.names.push_back("-" + *letter);
        }
      }
      out_.push_back(std::move(option));
      return true;
    }
    return false;
  }

  void environment(size_t name) {
    if (!reads_environment(name)) return;
    const auto arguments = option_arguments(source_, name + 1);
    if (!arguments || arguments->ranges.empty()) return;
    const auto variable = literal_of(source_, arguments->ranges[0]);
    if (!variable || !is_go_variable(*variable)) return;
    Option option;
    option.source = Option::Source::kEnvironment;
    option.line = source_.tokens[name].line;
    option.names = {*variable};
    out_.push_back(std::move(option));
  }

  const TokenList& source_;
  std::set<std::string_view> wrappers_;  // functions of the file that read the environment
  std::vector<Option> out_;
};

}  // namespace

std::string host_spelling(std::string_view text) {
  std::string out(text);
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == '/' && i + 1 < out.size() && out[i + 1] == '/') {
      while (i < out.size() && out[i] != '\n') ++i;
    } else if (out[i] == '"') {
      for (++i; i < out.size() && out[i] != '"' && out[i] != '\n'; ++i) {
        if (out[i] == '\\') ++i;
      }
    } else if (out[i] == '`') {
      const size_t end = std::min(out.find('`', i + 1), out.size() - 1);
      for (; i <= end; ++i) {
        if (out[i] != '\n') out[i] = ' ';
      }
      --i;
    } else if (out[i] == '\'') {
      // 'a' and '\n' are characters, 'a of a reference is a lifetime.
      const bool character = i + 2 < out.size() && (out[i + 1] == '\\' || out[i + 2] == '\'');
      if (!character) {
        out[i] = ' ';
      } else {
        const size_t end = out.find('\'', i + 2);
        if (end != std::string::npos && end < i + 12) i = end;
      }
    }
  }
  return out;
}

std::vector<Option> find_go_options(const TokenList& source) { return GoOptions(source).run(); }

uint32_t line_of_go_main(const TokenList& source) {
  bool program = false;
  for (size_t i = 0; i + 3 < source.size(); ++i) {
    program = program || (source.is(i, "package") && source.is(i + 1, "main"));
    if (program && source.is(i, "func") && source.is(i + 1, "main") && source.is(i + 2, "(") &&
        source.is(i + 3, ")"))
      return source.tokens[i].line;
  }
  return 0;
}

uint32_t line_of_zig_main(std::string_view text) {
  uint32_t line = 1;
  for (size_t begin = 0; begin < text.size(); ++line) {
    const std::string_view rest = text.substr(begin, text.find('\n', begin) - begin);
    if (rest.starts_with("pub fn main(")) return line;  // source text
    begin += rest.size() + 1;
  }
  return 0;
}

}  // namespace fathom::cpp
