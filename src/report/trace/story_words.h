#pragma once

#include <string>
#include <string_view>

#include "report/trace/run_story.h"

// Words and numbers of the sentences of a story.
namespace fathom {

std::string story_rate(double per_second, std::string_view unit);  // "3.79 TB/s"
std::string story_count(double value);                             // "4,096"
std::string story_number(double value);                            // "206", "3.95", "4,096"
// Without scopes, parameters and what is beyond a line.
std::string short_kernel(std::string_view name);
std::string_view cause_words(StoryTopic topic);
// What warps wait for (Nsight Compute's documentation of its stall reasons); empty: not listed.
std::string_view stall_words(std::string_view reason);

// The names and numbers of a line, as sentences write them.
class LineWords {
 protected:
  LineWords(const StoryLine& line, const NameStyle& name) : l_(line), name_(name) {}

  double value(std::string_view name) const { return l_.number(name).value_or(0); }
  bool has(std::string_view name) const { return l_.number(name).has_value(); }
  std::string percent(std::string_view name) const { return story_percent(value(name)); }
  std::string time(std::string_view name) const { return story_time(value(name)); }
  std::string count(std::string_view name) const { return story_count(value(name)); }
  std::string named(size_t place) const { return name_(l_.name(place)); }
  std::string fitted(size_t place, size_t characters) const {
    const std::string_view text = l_.name(place).empty() ? "(no name)" : l_.name(place);
    return screen_width(text) <= characters ? name_(text) : name_(fit_left(text, characters));
  }
  std::string kernel(size_t place) const { return name_(short_kernel(l_.name(place))); }
  std::string gain() const;         // "1.33–2.00 × for this kernel"
  std::string throttled() const;    // "power cap in 93 % of kernel time, SM clock 1509 of …"
  std::string utilisation() const;  // "SM 68 %   tensor 35 % …"

  const StoryLine& l_;
  const NameStyle& name_;
};

// Of transitions and of the summary.
std::string summary_sentence(const StoryLine& line, const NameStyle& name);

}  // namespace fathom
