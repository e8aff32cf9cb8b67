#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/counter_set.h"
#include "measure/formula.h"

// Explanations of a kernel's time, tested by its values: data/hypotheses.
namespace fathom {

// What is known of a kernel, by name (data/hypotheses/about.md).
using HardwareValues = std::map<std::string, double, std::less<>>;

// Adds the rows of derived.tsv whose values are known.
void add_derived_values(HardwareValues& values);

struct Hypothesis {
  std::string_view id, title;
  Formula applies, when, unless, best;
  std::string_view bound;                      // a value: no less of the time is left, percent
  std::vector<std::string_view> explained_by;  // ids
  std::vector<std::string_view> evidence;      // names
  std::string_view advice;
  std::string_view range;  // a sentence: what the range assumes; empty: nothing
  std::string_view source;
  std::string fix;  // the advice, and what the range assumes
};
std::span<const Hypothesis> hypotheses();
// "%", "MB", "µs"; empty: a plain number; kYesOrNoUnit: 1 or 0.
constexpr std::string_view kYesOrNoUnit = "yes or no";
std::string_view value_unit(std::string_view name);
// Whether data or launches can give it; for the data's own test.
bool is_known_value(std::string_view name);
// A value's name for readers: "DRAM throughput".
std::string value_title(std::string_view name);
// As the reports' columns call it: "L2 hit rate (%)".
std::string value_header(std::string_view name);

enum class Verdict : uint8_t { kConfirmed, kRejected, kUntested };

struct TestedHypothesis {
  const Hypothesis* hypothesis = nullptr;
  Verdict verdict = Verdict::kUntested;
  // Where rejected: the values that reject it.
  std::vector<std::string_view> rejecting;
  // Where untested, or confirmed without a known range: values that are missing, and the command
  // that gets them.
  std::vector<std::string_view> missing;
  std::string command;
  // Where confirmed and known: the kernel's time that is left at best, 0 to 1.
  std::optional<double> best;
  std::string_view explained_by;  // id of a confirmed cause of it; empty: none

  std::optional<double> least_gain() const;  // 2 ÷ (1 + best): half of what can be saved
  std::optional<double> most_gain() const;   // 1 ÷ best
};

// The tool that the user counts with: commands for what is missing are its commands.
enum class CountingTool : uint8_t { kRecord, kNcu, kRocprof };
CountingTool counting_tool(const CounterOrigin& origin);

// Whether the values that a test lacks are listed, with the command that gets them: most of the
// work of a test where nothing was counted.
enum class ListMissing : uint8_t { kYes, kNo };

// Those that apply to the kernel: confirmed ones first, causes before what they explain and then
// by what they can save; the others in the order of the data.
std::vector<TestedHypothesis> test_hypotheses(const HardwareValues& values,
                                              CountingTool tool = CountingTool::kRecord,
                                              ListMissing list = ListMissing::kYes);

// Time besides a run's own that its removal can save: what the GPU waits or copies before it.
double micros_before(const Hypothesis& hypothesis, const HardwareValues& values);

// "fathom record --counters=full --replay -- PROGRAM", or another that gives these values. Empty:
// the tool counts not all of them.
std::string command_for(const std::vector<std::string_view>& missing,
                        CountingTool tool = CountingTool::kRecord);

}  // namespace fathom
