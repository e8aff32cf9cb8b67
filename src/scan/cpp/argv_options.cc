#include <algorithm>
#include <optional>
#include <set>

#include "scan/cpp/cpp_options.h"
#include "scan/cpp/option_syntax.h"
#include "scan/cpp/token_pattern.h"

namespace fathom::cpp {
namespace {

class ArgvOptions {
 public:
  explicit ArgvOptions(const TokenList& source) : source_(source) {}

  std::vector<Option> run() {
    find_arguments();
    for (size_t i = 0; i + 2 < source_.size(); ++i) {
      if (is_vector(i)) compared_characters(i);
      if (source_.is(i, "strcmp") || source_.is(i, "strncmp") || source_.is(i, "strcasecmp")) {
        compared_text(i);
      }
      if (source_.is(i, "==")) compared_value(i);
      if (source_.is(i, "switch") && source_.is(i + 1, "(")) switched_letters(i + 2);
      if (source_.tokens[i].kind == TokenKind::kString) looked_up(i);
      if (source_.is(i, ".") && is_element(i - 1)) compared_begin(i);
      if (source_.is(i, ".") && source_.is(i + 1, "compare")) compared_argument(i);
    }
    for (Option& option : out_) put_long_name_first(option.names);
    return std::move(out_);
  }

 private:
  // The names of the program's arguments, and of variables that hold one of them.
  void find_arguments() {
    vectors_ = {"argv"};
    for (size_t i = 0; i + 2 < source_.size(); ++i) {
      if (source_.is(i, "main") && source_.is(i + 1, "(")) main_parameters(i + 1);
      // vector<string> args(argv + 1, argv + argc); for (auto& arg : args); string arg = argv[i];
      const bool gets = source_.is_any(i + 1, {"=", "(", "{", ":"});
      if (gets && source_.is_name(i)) binding(i);
    }
  }

  void main_parameters(size_t open) {
    const auto parameters = option_arguments(source_, open);
    if (!parameters || parameters->ranges.size() < 2) return;
    size_t last = parameters->ranges[1].last;
    while (last > parameters->ranges[1].first && !source_.is_name(last - 1)) --last;
    if (last > parameters->ranges[1].first) vectors_.insert(source_.at(last - 1));
  }

  void binding(size_t name) {
    constexpr size_t kMostNames = 50;  // each statement is compared with all of them
    if (vectors_.size() + elements_.size() > kMostNames) return;
    const std::string_view bound = source_.at(name);
    size_t at = name + 2;
    // = std::string(argv[i])
    while (source_.is_any(at, {"std", "::", "string", "string_view", "("})) {
      if (++at > name + 8) return;
    }
    if (!is_vector(at)) return;
    if (source_.is(name + 1, ":") && source_.is(at + 1, ")")) elements_.insert(bound);
    if (source_.is(at + 1, "[")) {
      const auto close = closing_near(source_, at + 1, 12);
      // argv[i][1] is a letter of it.
      if (close && !source_.is(*close + 1, "[") && !source_.is(name + 1, ":"))
        elements_.insert(bound);
    }
    const bool range = source_.is(at + 1, "+") || source_.is(at + 1, ",");
    const bool calls = source_.is(name + 1, "(") || source_.is(name + 1, "{");
    // A function that is handed argv is no vector of it: only a declaration has a type before it.
    const bool declared = name > 0 && (source_.is(name - 1, ">") || source_.is_name(name - 1));
    if (range && calls && declared && !source_.is(name - 1, "return")) vectors_.insert(bound);
  }

  bool is_vector(size_t i) const { return source_.is_name(i) && vectors_.contains(source_.at(i)); }
  // A variable that holds an argument, or the ] of argv[i].
  bool is_element(size_t i) const {
    if (i >= source_.size()) return false;
    if (source_.is_name(i)) return elements_.contains(source_.at(i));
    return source_.is(i, "]") && i >= 3 && source_.is(i - 2, "[") && is_vector(i - 3);
  }

  // arg == "--batch", "--batch" == arg
  void compared_value(size_t equals) {
    if (equals == 0) return;
    size_t written = equals + 1;  // opt == std::string("--batch")
    while (written < equals + 5 && source_.is_any(written, {"std", "::", "string", "("})) ++written;
    if (written >= source_.size()) return;
    const bool right = source_.tokens[written].kind == TokenKind::kString;
    const bool left = source_.tokens[equals - 1].kind == TokenKind::kString;
    if (right == left) return;
    const bool argument =
        right ? is_element(equals - 1)
              : source_.is_name(equals + 1) &&
                    (elements_.contains(source_.at(equals + 1)) || is_vector(equals + 1));
    if (!argument) return;
    const std::string spelled = string_text(source_.at(right ? written : equals - 1));
    if (is_option_name(spelled)) add(equals, spelled, false);
  }

  // arg.starts_with("--batch="), arg.rfind("--batch=", 0), arg.compare("--batch")
  void compared_begin(size_t dot) {
    const bool known = source_.is_any(dot + 1, {"starts_with", "rfind", "find", "compare"});
    if (!known || !source_.is(dot + 2, "(") || dot + 4 >= source_.size()) return;
    size_t text = dot + 3;
    // compare(0, 8, "--batch=")
    if (source_.is(dot + 1, "compare")) {
      while (text < dot + 8 && source_.tokens[text].kind != TokenKind::kString &&
             text + 1 < source_.size())
        ++text;
    }
    if (source_.tokens[text].kind != TokenKind::kString) return;
    std::string spelled = string_text(source_.at(text));
    if (spelled.ends_with('=')) spelled.pop_back();
    if (is_option_name(spelled)) add(dot, spelled, false);
  }

  // std::string("--batch").compare(argv[i])
  void compared_argument(size_t dot) {
    const bool text = dot >= 3 && source_.is(dot - 1, ")") && source_.is(dot - 3, "(") &&
                      source_.tokens[dot - 2].kind == TokenKind::kString;
    if (!text || !source_.is(dot + 2, "(") || dot + 4 >= source_.size()) return;
    const bool argument = is_vector(dot + 3) || (is_element(dot + 3) && source_.is(dot + 4, ")"));
    const std::string spelled = string_text(source_.at(dot - 2));
    if (argument && is_option_name(spelled)) add(dot, spelled, false);
  }

  // strcmp(argv[i], "--batch")
  void compared_text(size_t name) {
    if (!source_.is(name + 1, "(")) return;
    const auto close = closing_near(source_, name + 1);
    if (!close) return;
    bool argument = false;
    std::string spelled;
    for (size_t i = name + 2; i < *close; ++i) {
      if (is_vector(i) || is_element(i)) argument = true;
      if (source_.tokens[i].kind == TokenKind::kString) spelled = string_text(source_.at(i));
    }
    if (spelled.ends_with('=')) spelled.pop_back();
    if (argument && is_option_name(spelled)) add(name, spelled, false);
  }

  // find_int(argc, argv, "-gpu", 0): a function of the program that searches its arguments.
  void looked_up(size_t text) {
    if (text < 5 || !source_.is(text - 1, ",") || !is_vector(text - 2)) return;
    size_t before = text - 3;
    if (source_.is(before, ")")) {  // (const char**)argv
      while (before > 0 && text - before < 10 && !source_.is(before, "(")) --before;
      if (before > 0) --before;
    }
    const bool counted = before >= 3 && source_.is(before, ",") && source_.is_name(before - 1) &&
                         source_.is(before - 2, "(") && source_.is_name(before - 3);
    const std::string spelled = string_text(source_.at(text));
    if (!counted || !is_option_name(spelled)) return;
    if (!source_.is(text + 1, ",") && !source_.is(text + 1, ")")) return;
    const size_t had = out_.size();
    add(text, spelled, false);
    const auto arguments = option_arguments(source_, before - 2);
    if (out_.size() == had || !arguments || arguments->ranges.size() != 4) return;
    const OptionRange value = arguments->ranges[3];
    const bool literal = value.last == value.first + 1 && !source_.is_name(value.first);
    if (!literal) return;
    const std::string quoted = string_text(source_.at(value.first));
    out_.back().default_value = quoted.empty() ? std::string(source_.at(value.first)) : quoted;
  }

  // switch (argv[i - 1][1]) { case 'b': … }
  void switched_letters(size_t at) {
    if (at < switch_end_ || !is_vector(at) || !source_.is(at + 1, "[")) return;
    const auto index = closing_near(source_, at + 1, 12);
    if (!index || !source_.is(*index + 1, "[") || !source_.is(*index + 2, "1") ||
        !source_.is(*index + 3, "]") || !source_.is(*index + 4, ")") ||
        !source_.is(*index + 5, "{")) {
      return;
    }
    size_t depth = 0;
    for (size_t i = *index + 5; i + 2 < source_.size(); ++i) {
      switch_end_ = i;
      if (source_.is(i, "{")) ++depth;
      if (source_.is(i, "}") && --depth == 0) return;
      const bool letter = depth == 1 && source_.is(i, "case") &&
                          source_.tokens[i + 1].kind == TokenKind::kCharacter &&
                          source_.at(i + 1).size() == 3 && source_.at(i + 1)[1] != '-';
      if (!letter) continue;
      const size_t had = out_.size();
      add(i + 1, std::string{'-', source_.at(i + 1)[1]}, true);
      if (out_.size() > had) read_case(i + 3, out_.back());
    }
  }

  // The statements of a case, up to the next.
  void read_case(size_t first, Option& option) const {
    size_t last = first;
    const size_t end = std::min(source_.size(), first + kLongestArguments);
    while (last < end && !source_.is(last, "break") && !source_.is(last, "case")) ++last;
    read_setting(source_, {first, last, first}, argument_names(), option);
  }

  // argv[i][1] == 'b', also with && argv[i][2] == 's': -bs
  void compared_characters(size_t at) {
    const auto first = compared_character(at, "1");
    if (!first) return;
    std::string name = {'-', first->letter};
    bool more_may_follow = true;
    if (source_.is(first->after, "&&")) {
      const auto second = compared_character(first->after + 1, "2");
      if (second) more_may_follow = false;
      if (second && second->letter != '\0') name += second->letter;
    }
    add(at, name, more_may_follow);
  }

  struct ComparedCharacter {
    char letter;   // '\0': the text ends there
    size_t after;  // the token behind the comparison
  };

  // argv [ i ] [ position ] == 'x'
  std::optional<ComparedCharacter> compared_character(size_t at, std::string_view position) const {
    if (!is_vector(at) || !source_.is(at + 1, "[") || !source_.is(at + 3, "]")) return {};
    if (!source_.is(at + 4, "[") || !source_.is(at + 5, position) || !source_.is(at + 6, "]"))
      return {};
    if (!source_.is(at + 7, "==") || at + 8 >= source_.size()) return {};
    const std::string_view right = source_.at(at + 8);
    if (right == "'\\0'") return ComparedCharacter{'\0', at + 9};
    const bool one_letter =
        source_.tokens[at + 8].kind == TokenKind::kCharacter && right.size() == 3;
    if (!one_letter || right[1] == '-') return {};
    return ComparedCharacter{right[1], at + 9};
  }

  // One option for all names that one `if` compares with.
  void add(size_t token, const std::string& name, bool more_may_follow) {
    if (!seen_.insert(name).second) return;
    const auto condition = condition_around(token);
    if (condition && *condition == last_condition_ && !out_.empty()) {
      out_.back().names.push_back(name);
      return;
    }
    last_condition_ = condition.value_or(SIZE_MAX);
    Option option;
    option.source = Option::Source::kArgv;
    option.names = {name};
    option.line = source_.tokens[token].line;
    option.more_may_follow = more_may_follow;
    if (condition) read_branch(*condition, token, option);
    out_.push_back(std::move(option));
  }

  // The ( of the `if` that a comparison stands in.
  std::optional<size_t> condition_around(size_t token) const {
    constexpr size_t kLongest = 80;
    size_t depth = 0;
    for (size_t i = token; i-- > 0 && token - i < kLongest;) {
      if (source_.is(i, ";") || source_.is(i, "{") || source_.is(i, "}")) return std::nullopt;
      if (source_.is(i, ")")) ++depth;
      if (!source_.is(i, "(")) continue;
      if (depth > 0) {
        --depth;
      } else if (i > 0 && source_.is(i - 1, "if")) {
        return i;
      }
    }
    return std::nullopt;
  }

  // What the branch does with the argument tells the type, and what it sets the default.
  void read_branch(size_t condition, size_t token, Option& option) const {
    const auto close = closing_near(source_, condition);
    if (!close) return;
    const size_t first = *close + 1;
    size_t last = first;
    if (source_.is(first, "{")) {
      last = closing_near(source_, first).value_or(first);
    } else {
      const size_t end = std::min(source_.size(), first + kLongestArguments);
      while (last < end && !source_.is(last, ";")) ++last;
    }
    read_setting(source_, {first, last, token}, argument_names(), option);
  }

  std::vector<std::string_view> argument_names() const {
    std::vector<std::string_view> names(vectors_.begin(), vectors_.end());
    names.insert(names.end(), elements_.begin(), elements_.end());
    return names;
  }

  const TokenList& source_;
  std::set<std::string_view> vectors_, elements_;
  std::set<std::string> seen_;
  size_t last_condition_ = SIZE_MAX;
  size_t switch_end_ = 0;
  std::vector<Option> out_;
};

}  // namespace

std::vector<Option> find_argv_options(const TokenList& source) { return ArgvOptions(source).run(); }

}  // namespace fathom::cpp
