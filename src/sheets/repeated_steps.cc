#include "sheets/repeated_steps.h"

#include <algorithm>
#include <unordered_map>

#include "tree/work_sequence.h"

namespace fathom {
namespace {

constexpr size_t kLeastRepeats = 3;
constexpr size_t kMostParts = 256;      // of a step
constexpr double kNearlyAllWork = 0.9;  // of the GPU time, that repeats must have
constexpr double kSameModules = 0.8;    // of those that run in two parts
constexpr std::string_view kModuleFrame = "nn.Module: ";

// The nn.Modules whose calls launch work.
class LaunchingModules {
 public:
  LaunchingModules(const SheetInput& input, std::span<const EventId> work)
      : input_(input), work_(work) {}

  // Of a part, sorted.
  std::vector<StringId> of(const RepeatedPart& part) {
    std::vector<StringId> modules;
    for (size_t i = part.begin; i < part.end; ++i) {
      const CallId launch = input_.tree.launch(work_[i]);
      if (!launch.valid()) continue;
      if (const StringId module = around(input_.tree.frame(launch)); module.valid())
        modules.push_back(module);
    }
    std::ranges::sort(modules);
    const auto repeated = std::ranges::unique(modules);
    modules.erase(repeated.begin(), repeated.end());
    return modules;
  }

  static bool are_same(const std::vector<StringId>& a, const std::vector<StringId>& b) {
    std::vector<StringId> both;
    std::ranges::set_intersection(a, b, std::back_inserter(both));
    return static_cast<double>(both.size()) >=
           kSameModules * static_cast<double>(std::max(a.size(), b.size()));
  }

 private:
  // The innermost module around a frame, looked up once for each frame.
  StringId around(EventId frame) {
    std::vector<EventId> seen;
    StringId module;
    for (EventId f = frame; f.valid(); f = input_.tree.parent_frame(f)) {
      if (const auto known = known_.find(f); known != known_.end()) {
        module = known->second;
        break;
      }
      seen.push_back(f);
      if (!input_.store.name(f).starts_with(kModuleFrame)) continue;
      module = input_.store.name_id(f);
      break;
    }
    for (const EventId f : seen) known_.emplace(f, module);
    return module;
  }

  const SheetInput& input_;
  std::span<const EventId> work_;
  std::unordered_map<EventId, StringId> known_;
};

using Parts = std::vector<RepeatedPart>;

// The parts together that make a step, by the modules that run in them: as many as pass until the
// same ones come again. Empty: modules do not tell.
Parts steps_by_modules(LaunchingModules& modules, const WorkSequence& sequence,
                       const Parts& parts) {
  std::vector<std::vector<StringId>> of;
  for (const RepeatedPart& part : parts) of.push_back(modules.of(part));
  const size_t longest = std::min(kMostParts, parts.size() / kLeastRepeats);
  for (size_t period = 1; period <= longest; ++period) {
    bool repeats = true;
    for (size_t i = 0; i + period < of.size() && repeats; ++i)
      repeats = LaunchingModules::are_same(of[i], of[i + period]);
    if (!repeats) continue;
    Parts steps;
    for (size_t i = 0; i + period <= parts.size(); i += period)
      steps.push_back({parts[i].begin, parts[i + period - 1].end});
    // A loop inside: steps of the one or the other, nothing tells.
    const RepeatedPart& usual = steps[steps.size() / 2];
    const auto part_of = [&](const auto& column) {
      return std::vector(column.begin() + static_cast<std::ptrdiff_t>(usual.begin),
                         column.begin() + static_cast<std::ptrdiff_t>(usual.end));
    };
    const WorkSequence inside{part_of(sequence.symbols), part_of(sequence.times),
                              part_of(sequence.gaps), part_of(sequence.pairs)};
    Parts inner = find_repetition(inside);
    for (RepeatedPart& part : inner) {
      part.begin += usual.begin;
      part.end += usual.begin;
    }
    const bool is_loop =
        inner.size() >= 2 && LaunchingModules::are_same(modules.of(inner[0]), modules.of(inner[1]));
    return is_loop ? Parts{} : steps;
  }
  return {};
}

// A layer is one chain of kernels; a step has layers, and what comes before and after them.
bool has_parts_of_its_own(const WorkSequence& sequence, const RepeatedPart& part) {
  std::unordered_map<uint32_t, size_t> times;
  for (size_t i = part.begin; i < part.end; ++i) ++times[sequence.pairs[i]];
  size_t once = 0, often = 0;
  for (const auto& [pair, count] : times) {
    once += count == 1;
    often += count >= 2 ? count : 0;
  }
  return once >= 2 && 2 * often >= part.end - part.begin;
}

// Work beside the parts is like theirs: a step that was cut off by the recording.
bool are_all_there_is(const WorkSequence& sequence, const Parts& parts) {
  std::vector<bool> is_known(*std::ranges::max_element(sequence.symbols) + size_t{1});
  const size_t begin = parts.front().begin, end = parts.back().end;
  for (size_t i = begin; i < end; ++i) is_known[sequence.symbols[i]] = true;
  for (size_t i = 0; i < sequence.symbols.size(); ++i)
    if ((i < begin || i >= end) && !is_known[sequence.symbols[i]]) return false;
  return true;
}

// Replays of one graph, each launched by one call.
Parts graph_replays(const SheetInput& input, std::span<const EventId> work,
                    const WorkSequence& sequence) {
  Parts replays;
  CallId last;
  for (size_t i = 0; i < work.size(); ++i) {
    const CallId launch = input.tree.launch(work[i]);
    const bool is_graph =
        launch.valid() &&
        input.store.name(input.tree.event(launch)).find("GraphLaunch") != std::string_view::npos;
    if (is_graph && launch != last) replays.push_back({i, i});
    if (is_graph) replays.back().end = i + 1;
    last = is_graph ? launch : CallId{};
  }
  Parts alike = replays.size() < kLeastRepeats ? Parts{} : alike_parts(sequence, replays);
  if (alike.size() < replays.size()) return {};
  // What is launched beside a graph belongs to the step that it begins.
  for (size_t i = 0; i + 1 < alike.size(); ++i) alike[i].end = alike[i + 1].begin;
  return alike;
}

bool are_in_a_row(const Parts& parts) {
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i].begin != parts[i - 1].end) return false;
  return true;
}

}  // namespace

RepeatedSteps find_repeated_steps(const SheetInput& input, std::span<const EventId> work) {
  RepeatedSteps found;
  if (!input.tree.has_launches() || work.empty()) return found;
  const WorkSequence sequence = work_sequence(input.store, work);
  Parts parts = graph_replays(input, work, sequence);
  bool are_steps = !parts.empty();
  if (!are_steps) parts = find_repetition(sequence);
  if (parts.size() < kLeastRepeats || !are_in_a_row(parts)) return found;
  Nanos inside, all;
  for (size_t i = 0; i < work.size(); ++i) {
    const Nanos time = std::max(sequence.times[i], Nanos{});
    all += time;
    if (i >= parts.front().begin && i < parts.back().end) inside += time;
  }
  if (ratio(inside, all) < kNearlyAllWork) return found;
  found.repeats = parts.size();
  LaunchingModules modules(input, work);
  if (!are_steps && !modules.of(parts.front()).empty()) {
    parts = steps_by_modules(modules, sequence, parts);
    are_steps = !parts.empty();
  } else if (!are_steps) {
    are_steps = has_parts_of_its_own(sequence, parts[parts.size() / 2]) &&
                are_all_there_is(sequence, parts);
  }
  if (!are_steps) return found;
  found.end = Nanos{INT64_MIN};
  for (const RepeatedPart& part : parts) {
    Nanos begin{INT64_MAX};
    for (size_t i = part.begin; i < part.end; ++i) {
      const CallId launch = input.tree.launch(work[i]);
      if (!launch.valid()) continue;
      const EventId call = input.tree.event(launch);
      begin = std::min(begin, input.store.start(call));
      found.end = std::max(found.end, input.store.end(call));
    }
    // Launched before the part before it, by another thread, or not known: no order, no steps.
    const bool is_in_order = found.begins.empty() || found.begins.back() < begin;
    if (begin.count == INT64_MAX || !is_in_order) return {found.repeats, {}, {}};
    found.begins.push_back(begin);
  }
  return found;
}

}  // namespace fathom
