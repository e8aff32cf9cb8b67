#include "session/step_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/utf8.h"

namespace fathom {
namespace {

using Range = Scope::StepRange;
using Names = std::vector<std::string_view>;

std::optional<size_t> parse_number(std::string_view digits) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value == SIZE_MAX) return {};
  return value;
}

// "#2" is the end of a name.
bool is_named(std::string_view name, std::string_view text) {
  return name == text || (text.size() > 1 && text.starts_with('#') && name.ends_with(text));
}

// Names may repeat, as `decode` does in inference: all of them, where they follow one another.
Result<std::optional<Range>> find_step(const Names& names, std::string_view text) {
  if (const std::optional<size_t> number = parse_number(text))
    return std::optional(Range{*number, *number + 1});
  std::optional<Range> found;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!is_named(names[i], text)) continue;
    if (found && found->end != i) {
      return Error{
          fmt::format("--steps {}: the steps {} and {} have this name, others between them "
                      "do not; select by position",
                      text, found->begin, i)};
    }
    found = Range{found ? found->begin : i, i + 1};
  }
  return found;
}

// Names may hold colons, so every colon may be the one between the ends.
Result<std::optional<Range>> find_range(const Names& names, std::string_view text) {
  for (size_t colon = text.find(':'); colon != std::string_view::npos;
       colon = text.find(':', colon + 1)) {
    const std::string_view left = text.substr(0, colon), right = text.substr(colon + 1);
    if (left.empty() && right.empty()) return std::optional(Range{});
    const auto first = TRY(find_step(names, left)), last = TRY(find_step(names, right));
    if ((!left.empty() && !first) || (!right.empty() && !last)) continue;
    return std::optional(Range{first ? first->begin : 0, last ? last->begin : SIZE_MAX});
  }
  return std::optional<Range>();
}

// "0 ProfilerStep#2, 1 ProfilerStep#3, … 9 ProfilerStep#11".
std::string steps_text(const Names& names) {
  constexpr size_t kShown = 6;
  std::vector<std::string> shown;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names.size() > kShown && i == kShown - 2) {
      shown.emplace_back("…");
      i = names.size() - 1;
    }
    shown.push_back(fmt::format("{} {}", i, cut_to_bytes(names[i], 200)));
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

std::optional<Range> parse_step_positions(std::string_view text) {
  Range range;
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const std::optional<size_t> number = parse_number(text);
    return number ? std::optional(Range{*number, *number + 1}) : std::nullopt;
  }
  const std::string_view begin = text.substr(0, colon), end = text.substr(colon + 1);
  const std::optional<size_t> first = parse_number(begin), last = parse_number(end);
  if ((!begin.empty() && !first) || (!end.empty() && !last)) return {};
  range.begin = first.value_or(range.begin);
  range.end = last.value_or(range.end);
  return range.begin < range.end ? std::optional(range) : std::nullopt;
}

bool is_step_positions(std::string_view text) {
  return text.find_first_not_of("0123456789:-") == std::string_view::npos;
}

Result<Range> choose_steps(const Trace& trace, std::string_view pattern, std::string_view text) {
  Names names;
  const Steps steps(trace.store, pattern);
  for (const Step& step : steps.all()) names.push_back(trace.store.name(step.annotation));
  if (names.empty()) {
    return Error{
        fmt::format("{} has no steps named {}; set the annotation pattern with --step-pattern",
                    trace.path, pattern)};
  }
  std::optional<Range> range = TRY(find_step(names, text));
  if (!range) range = TRY(find_range(names, text));
  if (!range) {
    return Error{
        fmt::format("{} has no step '{}'; it has {}", trace.path, text, steps_text(names))};
  }
  if (range->begin >= range->end || range->begin >= names.size()) {
    return Error{fmt::format("--steps {} selects none of the steps of {}: {}", text, trace.path,
                             steps_text(names))};
  }
  return *range;
}

}  // namespace fathom
