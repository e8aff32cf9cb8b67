#include "report/trace/story_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/count_text.h"
#include "base/kernel_name.h"

namespace fathom {

std::string story_time(double micros) {
  const double size = std::fabs(micros);
  if (size >= 1e6) return fmt::format("{:.2f} s", micros / 1e6);
  if (size >= 1e3) return fmt::format("{:.2f} ms", micros / 1e3);
  return fmt::format("{:.{}f} µs", micros, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

// 40.3 % in a sentence about large parts needs no tenth; 0.4 % does.
std::string story_percent(double value) {
  if (value > 0 && value < 0.05) return "under 0.1 %";
  return fmt::format("{:.{}f} %", value, value < 9.95 ? 1 : 0);
}

std::string story_rate(double per_second, std::string_view unit) {
  constexpr std::pair<double, std::string_view> kPrefixes[] = {
      {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [factor, prefix] : kPrefixes)
    if (per_second >= factor) {
      const double value = per_second / factor;
      return fmt::format("{:.{}f} {}{}", value,
                         value >= 100  ? 0
                         : value >= 10 ? 1
                                       : 2,
                         prefix, unit);
    }
  return fmt::format("{:.3g} {}", per_second, unit);
}

std::string story_count(double value) { return with_thousands(std::llround(value)); }

std::string story_number(double value) {
  return value >= 1000 ? story_count(value) : fmt::format("{:.3g}", value);
}

std::string short_kernel(std::string_view name) {
  constexpr size_t kCharacters = 46;
  std::string text = normal_kernel_name(name).text;
  if (text.empty()) text = name.empty() ? "(no name)" : std::string(name);
  if (screen_width(text) <= kCharacters) return text;
  std::string cut = fit_left(text, kCharacters);
  while (cut.ends_with(' ')) cut.pop_back();
  return cut;
}

std::string_view cause_words(StoryTopic topic) {
  switch (topic) {
    case StoryTopic::kHost:
      return "the CPU launches too slowly";
    case StoryTopic::kSynchronization:
      return "the CPU waits for the GPU";
    case StoryTopic::kDataLoading:
      return "the data loader is too slow";
    case StoryTopic::kFirstUse:
      return "modules are loaded or compiled on first use";
    case StoryTopic::kHostWork:
      return "host code outside recorded calls";
    case StoryTopic::kHostCommunication:
      return "a collective runs on the host";
    default:
      return "cause unknown";
  }
}

std::string_view stall_words(std::string_view reason) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"long_scoreboard", "warps wait for global or local memory"},
      {"short_scoreboard", "warps wait for shared memory or special functions"},
      {"mio_throttle", "warps wait for the shared-memory queue"},
      {"lg_throttle", "warps wait for the queue of memory instructions"},
      {"tex_throttle", "warps wait for the texture queue"},
      {"math_pipe_throttle", "warps wait for an arithmetic pipe"},
      {"barrier", "warps wait at barriers"},
      {"membar", "warps wait at memory barriers"},
      {"wait", "warps wait for fixed instruction latencies"},
      {"no_instruction", "warps wait for instructions (cache misses, short code)"},
      {"branch_resolve", "warps wait for branches"},
      {"drain", "warps wait for stores at their end"},
      {"imc_miss", "warps wait for constants"},
      {"dispatch_stall", "warps wait for the dispatcher"},
      {"gmma", "warps wait for tensor-core instructions"},
      {"sleeping", "warps sleep"},
  };
  for (const auto& [name, words] : kWords)
    if (name == reason) return words;
  return {};
}

std::string LineWords::gain() const {
  // Of an advice the first name is the hypothesis, of an action the third.
  constexpr std::string_view kCopies = "copies";
  const bool with_copies = l_.name(0) == kCopies || l_.name(2) == kCopies;
  return fmt::format("{:.2f}–{:.{}f} × for this kernel{}", value("least"), value("most"),
                     value("most") < 10 ? 2 : 0, with_copies ? " together with its copies" : "");
}

std::string LineWords::throttled() const {
  std::string out = fmt::format("{} in {} of kernel time: SM clock {:.0f} of {:.0f} MHz",
                                l_.name(0), percent("active"), value("sm_clock"), value("highest"));
  if (has("power")) out += fmt::format(", {:.0f} W", value("power"));
  return out;
}

std::string LineWords::utilisation() const {
  std::string out;
  const auto add = [&](std::string_view title, std::string_view which) {
    if (has(which))
      out += fmt::format("{}{} {:.0f} %", out.empty() ? "" : "   ", title, value(which));
  };
  add("SM", "sm");
  add("tensor", "tensor");
  add("DRAM", "dram");
  add("occupancy", "occupancy");
  std::string stalls;
  constexpr std::string_view kStalls[] = {"stall_1", "stall_2", "stall_3"};
  for (size_t i = 0; i < l_.names.size() && i < 3 && has(kStalls[i]); ++i)
    stalls += fmt::format("{}{} {:.0f} %", i > 0 ? ", " : "", l_.names[i], value(kStalls[i]));
  std::ranges::replace(stalls, '_', ' ');
  if (!stalls.empty()) out += fmt::format("{}stalls: {}", out.empty() ? "" : "   ", stalls);
  if (has("coverage") && value("coverage") < 99.5)
    out += fmt::format("   (counters: {})", percent("coverage"));
  return out;
}

}  // namespace fathom
