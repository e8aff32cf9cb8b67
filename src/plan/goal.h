#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// A goal with what it points to in the facts of the repository.
struct ReadGoal {
  GoalReading reading;
  std::vector<uint32_t> features;                        // positions in CodeFacts::features
  std::vector<std::string> absent;                       // named, and not in the code
  std::vector<std::string> absent_features;              // ids of the features among them
  std::vector<std::string> components, metrics, phases;  // ids
  std::vector<uint32_t> kernels, options, entry_points;  // positions in the facts
  uint32_t kernels_named = 0;  // how many fit the words; `kernels` has the first ones
  bool all_kernels = false;
  bool whole_project = false;  // nothing in particular is named
  // Values of options that it names: position of the option, value.
  std::vector<std::pair<uint32_t, std::string>> option_values;
  // Numbers that it gives for options: "page sizes 1, 16", "at batch 512". One sets the option,
  // several are compared.
  std::vector<std::pair<uint32_t, std::string>> option_numbers;
  bool understood = true;         // any word of it
  std::optional<double> seconds;  // limit of all experiments together
  std::optional<int64_t> gpus;
  std::string platform;                 // its name in data/platforms
  std::vector<std::string> left_out;    // options of `fathom record` that may not be used
  std::vector<std::string> ambiguous;   // hardware that fits several platforms
  std::vector<std::string> impossible;  // limits that cannot be kept: "under -5 minutes"
  bool host_only = false;               // it is about the CPU: no GPU is wanted

  bool asks(Question question) const;
  // The numbers given for an option, each once.
  std::vector<std::string> numbers_of(uint32_t option) const;
};

// Words are matched with data/plan/ and with what the scan found. What nothing stands for is in
// `reading.unread`. `reading.interpreted` and `informed_by` are left to make_plan.
ReadGoal read_goal(std::string_view goal, const CodeFacts& facts);

// The metrics that a log line's words stand for: "cache hit rate: 0.93" → cache_hit_rate.
std::vector<std::string> metrics_in_words(std::string_view text);

// "20m", "90 s", "2h", "1.5 min" → seconds, more than 0 and at most kLongestBudget; nothing for
// another text.
inline constexpr double kLongestBudget = 1e7;  // s, four months
std::optional<double> read_duration(std::string_view text);

// file:line of a place; empty for line 0.
std::string code_place_text(const CodeFacts& facts, const CodePlace& at);

}  // namespace fathom
