#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/formula.h"

// Explanations of a kernel's time, tested by its values: data/hypotheses.
namespace fathom {

// What is known of a kernel, by name (data/hypotheses/about.md).
using HardwareValues = std::map<std::string, double, std::less<>>;

// Adds the rows of derived.tsv whose values are known.
void add_derived_values(HardwareValues& values);

struct Hypothesis {
  std::string_view id, title;
  Formula when, unless, best;
  std::vector<std::string_view> evidence;  // names
  std::string_view fix, source;
};
std::span<const Hypothesis> hypotheses();
// "%", "MB", "µs"; empty: a plain number.
std::string_view value_unit(std::string_view name);
// Whether data or launches can give it; for the data's own test.
bool is_known_value(std::string_view name);
// A value's name for readers: "DRAM throughput".
std::string value_title(std::string_view name);

enum class Verdict : uint8_t { kConfirmed, kRejected, kUntested };

struct TestedHypothesis {
  const Hypothesis* hypothesis = nullptr;
  Verdict verdict = Verdict::kUntested;
  // Where untested: values that are missing, and the command that gets them.
  std::vector<std::string_view> missing;
  std::string command;
  // Where confirmed and known: the kernel's time that is left at best, 0 to 1.
  std::optional<double> best;

  std::optional<double> least_gain() const;  // 2 ÷ (1 + best): half of what can be saved
  std::optional<double> most_gain() const;   // 1 ÷ best
};

// All of them, in the order of the data.
std::vector<TestedHypothesis> test_hypotheses(const HardwareValues& values);

// "fathom record --counters=full --replay -- PROGRAM", or another that gives these values.
std::string command_for(const std::vector<std::string_view>& missing);

}  // namespace fathom
