// Options that are objects of a program's own class: OptionId kThreads{"threads", "Threads", "How
// many threads work.", 't'}, with designated members too, and parser->Add<IntOption>(kThreads) = 4.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "scan/cpp/option_syntax.h"

namespace fathom::cpp {
namespace {

constexpr size_t kSureObjects = 3;

// "OptionId", "CliFlag": of an option by one of its words, and no list of them.
bool names_option_type(std::string_view type) {
  return std::ranges::any_of(
      std::to_array<std::string_view>({"Option", "Flag", "option_", "flag_", "_option", "_flag"}),
      [&](std::string_view word) {
        const size_t at = type.find(word);
        const size_t end = at + word.size();
        return at != std::string_view::npos &&
               (end == type.size() || std::islower(static_cast<unsigned char>(type[end])) == 0);
      });
}

// What stands behind the dashes: "minibatch-size".
bool is_long_flag(std::string_view text) {
  return text.size() > 1 && std::ranges::all_of(text, [](unsigned char c) {
           return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-' || c == '_';
         });
}

class ObjectOptions {
 public:
  ObjectOptions(const TokenList& source, std::vector<Option>& into)
      : source_(source), into_(into) {}

  void run() {
    for (size_t i = 0; i + 4 < source_.size(); ++i) {
      if (source_.is_name(i) && source_.is_name(i + 1) && names_option_type(source_.at(i)))
        object(i);
    }
    if (found_.empty()) return;
    for (size_t i = 1; i + 2 < source_.size(); ++i) {
      const auto known = source_.is_name(i) ? by_name_.find(source_.at(i)) : by_name_.end();
      if (known != by_name_.end()) use(i, found_[known->second]);
    }
    for (Option& option : found_) {
      option.certain = found_.size() >= kSureObjects;
      into_.push_back(std::move(option));
    }
  }

 private:
  // Type Scope::name{…}, Type name(…)
  void object(size_t type) {
    size_t name = type + 1;
    while (source_.is(name + 1, "::") && source_.is_name(name + 2)) name += 2;
    size_t open = name + 1;
    if (!source_.is(open, "{") && !source_.is(open, "(")) return;
    if (source_.is(open + 1, "{")) ++open;
    const auto arguments = option_arguments(source_, open);
    if (!arguments || arguments->ranges.size() < 2) return;
    Option option;
    option.source = Option::Source::kList;
    option.line = source_.tokens[type].line;
    for (const OptionRange& range : arguments->ranges) read(range, option);
    if (option.names.empty() || !option.names[0].starts_with("--") || option.help.empty()) return;
    by_name_.emplace(source_.at(name), found_.size());
    found_.push_back(std::move(option));
  }

  // "text", 'c', or .member = "text"
  void read(OptionRange range, Option& option) const {
    const bool designated = source_.is(range.first, ".") && source_.is(range.first + 2, "=");
    if (designated) range.first += 3;
    if (const auto letter = character_of(source_, range)) {
      option.names.push_back("-" + *letter);
      return;
    }
    const auto text = literal_of(source_, range);
    if (!text) return;
    // The first text is the name; an empty one says that there is none.
    if (!has_name(option)) {
      option.names.insert(option.names.begin(), is_long_flag(*text) ? "--" + *text : "");
    } else if (is_prose_text(*text) && option.help.empty()) {
      option.help = *text;
    }
  }

  static bool has_name(const Option& option) {
    return std::ranges::any_of(option.names,
                               [](const std::string& name) { return name.size() != 2; });
  }

  // Add<IntOption>(Scope::name, 1, 128) = 4;
  void use(size_t name, Option& option) const {
    size_t open = name - 1;
    while (open > 1 && source_.is(open, "::")) open -= 2;
    if (!source_.is(open, "(") || open < 4) return;
    const bool typed = source_.is(open - 1, ">") && source_.is_name(open - 2) &&
                       source_.is(open - 3, "<") && source_.is_name(open - 4);
    const auto arguments = typed ? option_arguments(source_, open) : std::nullopt;
    if (!arguments || !names_option_type(source_.at(open - 2))) return;
    if (option.type.empty()) option.type = type_of(source_.at(open - 2));
    constexpr size_t kLongestDefault = 12;
    const size_t first = arguments->close + 2;
    if (option.default_value || !source_.is(first - 1, "=")) return;
    size_t last = first;
    while (last < std::min(source_.size(), first + kLongestDefault) && !source_.is(last, ";"))
      ++last;
    if (!source_.is(last, ";") || last == first) return;
    option.default_value = literal_of(source_, {first, last}).value_or(source_.source(first, last));
  }

  // "IntOption" → int
  static std::string type_of(std::string_view name) {
    for (const std::string_view end : {"Option", "Flag"}) {
      if (name.size() > end.size() && name.ends_with(end)) name.remove_suffix(end.size());
    }
    std::string out(name);
    std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
    return out == "bool" ? "flag" : out;
  }

  const TokenList& source_;
  std::vector<Option>& into_;
  std::vector<Option> found_;
  std::map<std::string_view, size_t> by_name_;
};

}  // namespace

void find_object_options(const TokenList& source, std::vector<Option>& into) {
  ObjectOptions(source, into).run();
}

}  // namespace fathom::cpp
