// Options of cxxopts and Boost.Program_options: add_options()("count,n", value<int>(), "how many").

#include "base/tsv.h"
#include "scan/cpp/option_syntax.h"
#include "scan/cpp/token_pattern.h"

namespace fathom::cpp {
namespace {

// "count,n" and "n,count" → --count, -n
std::vector<std::string> dashed_names(std::string_view spelled) {
  std::vector<std::string> out;
  for (std::string_view name : split(spelled, ',')) {
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    std::string dashed = (name.size() == 1 ? "-" : "--") + std::string(name);
    if (name.empty() || !is_option_name(dashed)) return {};
    out.push_back(std::move(dashed));
  }
  put_long_name_first(out);
  return out;
}

class ChainReader {
 public:
  ChainReader(const TokenList& source, std::vector<Option>& into) : source_(source), into_(into) {}

  void read(size_t open) {
    while (source_.is(open, "(")) {
      const auto arguments = option_arguments(source_, open);
      if (!arguments) return;
      if (!arguments->ranges.empty()) one(open, *arguments);
      open = arguments->close + 1;
    }
  }

 private:
  void one(size_t open, const OptionArguments& arguments) {
    const auto spelled = literal_of(source_, arguments.ranges[0]);
    if (!spelled) return;
    Option option;
    option.source = Option::Source::kFlags;
    option.names = dashed_names(*spelled);
    option.line = source_.tokens[open + 1].line;
    if (option.names.empty()) return;
    option.type = "flag";
    for (size_t i = 1; i < arguments.ranges.size(); ++i) {
      if (const auto help = literal_of(source_, arguments.ranges[i])) {
        if (option.help.empty()) option.help = *help;
      } else {
        value(arguments.ranges[i], option);
      }
    }
    into_.push_back(std::move(option));
  }

  // value<int>(&n)->default_value(4): its type and its default.
  void value(OptionRange range, Option& option) const {
    for (size_t i = range.first; i + 1 < range.last; ++i) {
      if (source_.is(i, "value") && source_.is(i + 1, "<")) {
        if (const auto close = closing_angle_near(source_, i + 1); close && *close < range.last)
          option.type = source_.source(i + 2, *close);
      }
      if (!source_.is(i, "default_value") || !source_.is(i + 1, "(")) continue;
      const auto given = option_arguments(source_, i + 1);
      if (!given || given->ranges.empty() || given->close > range.last) continue;
      option.default_value = text_of(source_, given->ranges[0]);
    }
  }

  const TokenList& source_;
  std::vector<Option>& into_;
};

}  // namespace

void find_chain_options(const TokenList& source, size_t name, std::vector<Option>& into) {
  // add_options() or add_options("group"), and the chain begins behind it.
  const auto arguments = option_arguments(source, name + 1);
  if (arguments) ChainReader(source, into).read(arguments->close + 1);
}

}  // namespace fathom::cpp
