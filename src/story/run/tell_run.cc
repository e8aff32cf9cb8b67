#include "story/run/tell_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/ascii.h"
#include "base/closest_names.h"
#include "base/glob.h"
#include "base/text_parts.h"
#include "base/utf8.h"
#include "story/run/chapters.h"

namespace fathom {
namespace {

constexpr double kLittle = 0.05;  // of the run
constexpr size_t kMostPhases = 6, kMostKernels = 3, kListedNames = 5, kAskedName = 400,
                 kComparedName = 4000;

// A pattern without wildcards fits any part of a name: names of kernels are long.
bool fits(std::string_view pattern, std::string_view name) {
  const std::string small = small_letters(name.substr(0, kComparedName)),
                    wanted = small_letters(pattern.substr(0, kComparedName));
  if (wanted.find_first_of("*?") == std::string::npos) return holds(small, wanted);
  return glob_matches(wanted, small);
}

// Whether names fit a pattern, each asked once.
class NameMatch {
 public:
  explicit NameMatch(std::string pattern) : pattern_(std::move(pattern)) {}
  bool any() const { return !pattern_.empty(); }
  const std::string& pattern() const { return pattern_; }
  bool operator()(std::string_view name) const {
    const auto [known, is_new] = asked_.try_emplace(std::string(name.substr(0, kComparedName)));
    if (is_new) known->second = fits(pattern_, name);
    return known->second;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& [name, is_match] : asked_) out.push_back(cut_to_bytes(name, kAskedName));
    std::ranges::sort(out);
    return out;
  }

 private:
  std::string pattern_;
  mutable std::unordered_map<std::string, bool> asked_;
};

Error nothing_fits(std::string_view option, const std::string& pattern,
                   const std::vector<std::string>& names) {
  std::string near;
  std::vector<std::string> listed = closest_names(pattern, names, kListedNames);
  const bool is_near = !listed.empty();
  if (!is_near)
    listed.assign(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(
                                                     std::min(names.size(), kListedNames)));
  for (const std::string& name : listed)
    near += (near.empty() ? "" : ", ") + cut_to_bytes(name, 80);
  if (!is_near && names.size() > listed.size())
    near += fmt::format(" and {} more", names.size() - listed.size());
  return Error{fmt::format("{} '{}' matches nothing{}{}", option, pattern,
                           near.empty() ? ""
                           : is_near    ? "; did you mean: "
                                        : "; there are: ",
                           near)};
}

class RunTeller {
 public:
  explicit RunTeller(const RunFacts& facts)
      : facts_(facts),
        labels_(facts.assessment),
        hardware_(facts, labels_),
        op_(facts.selection.op),
        kernel_(facts.selection.kernel),
        module_(facts.selection.module),
        phase_(facts.selection.phase) {}

  Result<RunStory> tell() {
    RunStory story;
    story.title = facts_.title;
    story.has_timeline = facts_.has_timeline;
    story.selection = selection_text();
    const std::vector<EventId> work = timeline_events(facts_.input);
    const std::vector<Phase> phases = phases_of(work);
    TRY(check_phase(phases));
    std::vector<bool> told_phase;  // by event
    WorkFilter filter;
    if (!facts_.selection.empty()) {
      told_phase = events_of_phases(phases);
      filter = [this, &told_phase](EventId e) { return told_phase[e.index] && is_selected(e); };
      TRY(check_selection(work, filter));
    }
    // A phase alone keeps its gaps: nothing inside it is left out.
    const bool whole_phases = !facts_.selection.filters_work();
    const PhaseProfiles profiles = profile_phases(facts_, labels_, hardware_, phases, work,
                                                  whole_phases ? WorkFilter{} : filter);
    story.total = facts_.assessment.timeline().total;
    story.wall = facts_.assessment.base().wall();
    story.selects_work = !whole_phases;
    if (const auto& steady = facts_.input.scope.steady)
      story.recorded = steady->recorded.end - steady->recorded.begin;
    const std::vector<size_t> shown = choose_phases(profiles, story);
    tell_phases(profiles, shown, story);
    tell_kernels(filter, story);
    story.configuration = tell_configuration(facts_, labels_, profiles);
    // The summary is about what was asked for.
    tell_summary(facts_, labels_, hardware_,
                 whole_phases && filter ? only_told(profiles) : profiles, filter, story);
    return story;
  }

 private:
  std::vector<Phase> phases_of(const std::vector<EventId>& work) const {
    if (facts_.has_timeline) {
      std::vector<Phase> phases = find_phases(facts_.input.store, facts_.input.tree, work);
      for (Phase& phase : phases)
        if (phase.kind == PhaseKind::kOther) join_runs(phase);
      return phases;
    }
    if (work.empty()) return {};
    std::vector<Phase> one(1);
    one[0].runs.push_back({{}, {}, {}, {}, work});
    return one;
  }

  // Work of no phase has no typical run: it is told as a whole.
  static void join_runs(Phase& phase) {
    if (phase.runs.size() < 2) return;
    PhaseRun all = std::move(phase.runs.front());
    for (size_t i = 1; i < phase.runs.size(); ++i) {
      all.work.insert(all.work.end(), phase.runs[i].work.begin(), phase.runs[i].work.end());
      all.gpu_end = std::max(all.gpu_end, phase.runs[i].gpu_end);
    }
    all.host_begin = all.host_end = std::nullopt;
    phase.runs = {std::move(all)};
  }

  std::string selection_text() const {
    std::string out;
    for (const auto& [name, value] :
         {std::pair("step", &facts_.selection.steps), std::pair("phase", &facts_.selection.phase),
          std::pair("op", &facts_.selection.op), std::pair("kernel", &facts_.selection.kernel),
          std::pair("module", &facts_.selection.module)})
      if (!value->empty()) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, *value);
    return out;
  }

  bool is_told_phase(const Phase& phase) const {
    return !phase_.any() || phase_(phase_title(phase)) ||
           (!phase.name.empty() && phase_(phase.name));
  }

  Status check_phase(const std::vector<Phase>& phases) const {
    if (!phase_.any() ||
        std::ranges::any_of(phases, [this](const Phase& p) { return is_told_phase(p); }))
      return Nothing{};
    return nothing_fits("--phase", phase_.pattern(), phase_.names());
  }

  std::vector<bool> events_of_phases(const std::vector<Phase>& phases) const {
    std::vector<bool> told(facts_.input.store.size());
    for (const Phase& phase : phases) {
      if (!is_told_phase(phase)) continue;
      for (const PhaseRun& run : phase.runs)
        for (const EventId e : run.work) told[e.index] = true;
    }
    return told;
  }

  bool is_selected(EventId e) const {
    const EventStore& store = facts_.input.store;
    if (kernel_.any() && !kernel_(store.name(e))) return false;
    if (op_.any() && !is_selected_op(e)) return false;
    if (!module_.any()) return true;
    bool found = false;
    // All are asked, so that an error can list them.
    for (const EventId m : labels_.modules(e)) {
      std::string_view name = store.name(m);
      if (const size_t at = name.find(": "); at != std::string_view::npos)
        name.remove_prefix(at + 2);
      found = module_(name) || found;
    }
    return found;
  }

  bool is_selected_op(EventId e) const {
    const std::string_view name = labels_.full_op_name(e);
    if (!name.empty() && op_(name)) return true;
    const CallId launch = facts_.input.tree.launch(e);
    if (!launch.valid() || !facts_.input.tree.has_ops()) return false;
    const CallId op = facts_.input.tree.enclosing_op(launch);
    return op.valid() && op_(facts_.input.store.name(facts_.input.tree.event(op)));
  }

  Status check_selection(const std::vector<EventId>& work, const WorkFilter& filter) const {
    bool any = false;
    for (const EventId e : work) any = filter(e) || any;
    if (any) return Nothing{};
    for (const auto& [option, match] : {std::pair("--kernel", &kernel_), std::pair("--op", &op_),
                                        std::pair("--module", &module_)}) {
      if (!match->any()) continue;
      const std::vector<std::string> names = match->names();
      if (names.empty())
        return Error{fmt::format("{} '{}' matches nothing: the recording has no {}", option,
                                 match->pattern(), match == &module_ ? "modules" : "ops")};
      if (std::ranges::none_of(names, *match)) return nothing_fits(option, match->pattern(), names);
    }
    return Error{"the selection matches nothing: its parts have no GPU work in common"};
  }

  PhaseProfiles only_told(PhaseProfiles profiles) const {
    for (PhaseProfile& profile : profiles.profiles) {
      if (is_told_phase(*profile.phase)) continue;
      const Phase* phase = profile.phase;
      profile = {};
      profile.phase = phase;
    }
    profiles.between.clear();
    return profiles;
  }

  std::vector<size_t> choose_phases(const PhaseProfiles& profiles, RunStory& story) const {
    std::vector<size_t> all;
    Nanos rest = story.total;
    for (size_t p = 0; p < profiles.profiles.size(); ++p) {
      const PhaseProfile& profile = profiles.profiles[p];
      if (profile.spans.empty() || !is_told_phase(*profile.phase)) continue;
      all.push_back(p);
      rest = rest - profile.time();
    }
    story.between = rest;
    // Work of no phase is told where it is much, or all there is.
    const bool has_known = std::ranges::any_of(
        all, [&](size_t p) { return has_runs(profiles.profiles[p].phase->kind); });
    const auto is_little = [&](size_t p) {
      const PhaseProfile& profile = profiles.profiles[p];
      return !has_runs(profile.phase->kind) && has_known && phase_.pattern().empty() &&
             ratio(profile.time(), story.total) < kLittle;
    };
    for (const size_t p : all) {
      if (!is_little(p)) continue;
      ++story.more_phases;
      story.more_time += profiles.profiles[p].time();
    }
    std::erase_if(all, is_little);
    std::ranges::sort(all, [&profiles](size_t a, size_t b) {
      return std::tuple(profiles.profiles[b].time(), a) <
             std::tuple(profiles.profiles[a].time(), b);
    });
    for (size_t i = kMostPhases; i < all.size(); ++i) {
      ++story.more_phases;
      story.more_time += profiles.profiles[all[i]].time();
    }
    if (all.size() > kMostPhases) all.resize(kMostPhases);
    std::ranges::sort(all);
    return all;
  }

  void tell_phases(const PhaseProfiles& profiles, const std::vector<size_t>& shown,
                   RunStory& story) const {
    // Two minutes of reading, however many phases there are. Where the GPU is mostly idle, the
    // idle time is the story.
    const size_t most_events = shown.size() <= 1   ? 6
                               : shown.size() == 2 ? 5
                               : shown.size() == 3 ? 3
                                                   : 2;
    const size_t idle_events = shown.size() <= 2 ? 3 : 2;
    const size_t transition_lines = shown.size() <= 2 ? 7 : shown.size() == 3 ? 5 : 3;
    for (const size_t p : shown) {
      const bool is_idle = profiles.profiles[p].busy_share() < 0.5 && facts_.selection.empty();
      story.phases.push_back(
          tell_phase(facts_, labels_, hardware_, profiles.profiles[p], profiles.owned, story.total,
                     is_idle ? std::min(most_events, idle_events) : most_events));
    }
    drop_repeated_advice(story);
    if (facts_.selection.filters_work() || !facts_.has_timeline) return;
    for (size_t i = 1; i < shown.size(); ++i) {
      // Nothing is learnt from what set-up and left-over work changes into.
      if (!has_runs(profiles.profiles[shown[i - 1]].phase->kind) ||
          !has_runs(profiles.profiles[shown[i]].phase->kind))
        continue;
      const auto between = profiles.between.find({shown[i - 1], shown[i]});
      std::vector<StoryLine> lines = tell_transition(
          facts_, hardware_, profiles.profiles[shown[i - 1]], profiles.profiles[shown[i]],
          between == profiles.between.end() ? nullptr : &between->second, transition_lines);
      if (!lines.empty()) story.transitions.push_back({i - 1, i, std::move(lines)});
    }
  }

  // The same fix is told once, where it comes up first.
  static void drop_repeated_advice(RunStory& story) {
    std::set<std::string> told;
    for (StoryPhase& phase : story.phases) {
      for (StoryEvent& event : phase.events) {
        std::erase_if(event.lines, [&told](const StoryLine& line) {
          return line.kind == StoryLineKind::kAdvice && !told.insert(line.names[0]).second;
        });
      }
    }
  }

  void tell_kernels(const WorkFilter& filter, RunStory& story) const {
    if (!kernel_.any()) return;
    for (const KernelContext& kernel : facts_.contexts) {
      if (story.kernels.size() == kMostKernels) break;
      if (!kernel_(facts_.input.store.name(kernel.first)) || !filter(kernel.first)) continue;
      story.kernels.push_back(
          {cut_to_bytes(kernel.name, kAskedName), hardware_.kernel_lines(kernel)});
    }
  }

  const RunFacts& facts_;
  WorkLabels labels_;
  HardwareIndex hardware_;
  NameMatch op_, kernel_, module_, phase_;
};

}  // namespace

std::string phase_title(const Phase& phase) {
  return !phase.name.empty() ? phase.name : std::string(phase_kind_name(phase.kind));
}

Result<RunStory> tell_run(const RunFacts& facts) { return RunTeller(facts).tell(); }

}  // namespace fathom
