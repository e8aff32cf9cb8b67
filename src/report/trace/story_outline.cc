#include <fmt/format.h>

#include <algorithm>

#include "base/count_text.h"
#include "report/trace/run_story.h"
#include "sheets/time_base.h"

namespace fathom {
namespace {

std::string fit_name(std::string_view name) {
  constexpr size_t kCharacters = 32;
  return screen_width(name) <= kCharacters ? std::string(name) : fit_left(name, kCharacters);
}

// How much a line matters where a story must be short: what repeats elsewhere or only describes
// goes before what explains.
int rank_of(const StoryLine& line) {
  using Kind = StoryLineKind;
  switch (line.kind) {
    case Kind::kMoreBlocks:
    case Kind::kOverlapped:
    case Kind::kShiftKernels:
    case Kind::kShiftFamilies:
    case Kind::kTokens:
      return 0;
    case Kind::kClocks:
    case Kind::kExposed:
    case Kind::kShiftRates:
    case Kind::kShiftTokens:
    case Kind::kGapBetween:
    case Kind::kModel:
      return 1;
    case Kind::kKernel:
    case Kind::kSmallGrid:
    case Kind::kHotLine:
    case Kind::kFromCache:
    case Kind::kSlowestRun:
    case Kind::kShiftBusy:
    case Kind::kShiftHardware:
    case Kind::kAdvice:
      return 2;
    case Kind::kMissing:
      return line.topic == StoryTopic::kCounters || line.topic == StoryTopic::kTimeline ||
                     line.topic == StoryTopic::kGpuWork
                 ? StoryNode::kKept
                 : 3;
    case Kind::kHardware:
    case Kind::kRates:
    case Kind::kSource:
    case Kind::kFirstRun:
      return 4;
    case Kind::kObserved:
    case Kind::kExplained:
    case Kind::kUntrusted:
    case Kind::kCounterFile:
    case Kind::kThrottled:
      return 5;
    case Kind::kWhyIntensity:
    case Kind::kWhyLaunches:
      return 6;
    default:
      return StoryNode::kKept;
  }
}

// Of kernels that were asked for: what they are not goes first, then what the others than the
// longest are.
int rank_in_kernel(const StoryLine& line, bool is_longest) {
  using Kind = StoryLineKind;
  switch (line.kind) {
    case Kind::kRejected:
      return 0;
    case Kind::kUntested:
      return 3;
    case Kind::kCodeStep:
    case Kind::kCacheRates:
    case Kind::kHotLine:
      return is_longest ? 5 : 4;
    case Kind::kLaunch:
    case Kind::kExplained:
      return StoryNode::kKept;
    default:
      return is_longest ? StoryNode::kKept : 5;
  }
}

StoryNode node_of(const StoryLine& line, const NameStyle& name, bool with_evidence) {
  // What is missing rests on nothing.
  return {
      story_sentence(line, name),
      std::string(line.kind == StoryLineKind::kMissing ? std::string_view{} : mark_text(line.mark)),
      with_evidence ? evidence_sentence(line.evidence, name) : std::string(),
      {},
      rank_of(line)};
}

// Of the events of a phase, the longest stays longest.
std::vector<int> event_ranks(const StoryPhase& phase) {
  std::vector<size_t> order(phase.events.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater{}, [&phase](size_t i) {
    return phase.events[i].what.number("time").value_or(0);
  });
  constexpr int kRanks[] = {7, 5, 3};
  std::vector<int> ranks(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    ranks[order[i]] = kRanks[std::min(i, std::size(kRanks) - 1)];
  return ranks;
}

void add_lines(std::vector<StoryNode>& to, const std::vector<StoryLine>& lines,
               const NameStyle& name, bool with_evidence) {
  for (const StoryLine& line : lines) to.push_back(node_of(line, name, with_evidence));
}

// What the shares of phases are of.
std::string whole_text(const RunStory& story) {
  if (!story.has_timeline) return "the counted time";
  if (!spans_nearly_all(story.total, story.wall)) return story_time(story.total.micros());
  return story.recorded.count > 0 ? "the steady state" : "the recording";
}

StorySection summary_section(const RunStory& story, const NameStyle& name, bool with_evidence) {
  StorySection summary{"SUMMARY", {}, {}};
  if (story.phases.size() + story.more_phases > 0 && story.has_timeline) {
    const std::string rest =
        story.more_phases == 0
            ? std::string()
            : fmt::format("; {} {}",
                          story.more_phases == 1
                              ? "1 more phase takes"
                              : counted(story.more_phases, "more phase") + " take",
                          story_percent(100 * ratio(story.more_time, story.total)));
    if (!rest.empty() || story.between.count > 0) {
      summary.after = fmt::format("{} of {} is outside {}{}",
                                  story_percent(100 * ratio(story.between, story.total)),
                                  story_time(story.total.micros()),
                                  story.selection.empty() ? "these phases" : "the selection", rest);
    }
  }
  const auto add_part = [&](std::string_view title, const std::vector<StoryLine>& lines) {
    if (lines.empty()) return;
    StoryNode node{std::string(title), {}, {}, {}, StoryNode::kKept};
    add_lines(node.below, lines, name, with_evidence);
    summary.nodes.push_back(std::move(node));
  };
  add_part("Hotspots", story.hotspots);
  add_part("Bottleneck", story.bottlenecks);
  const bool is_host =
      !story.insights.empty() && story.insights[0].kind == StoryLineKind::kHostCounter;
  add_part(is_host ? "Counters over time" : "Hardware insight", story.insights);
  add_part("Actionable", story.actions);
  add_part("Missing", story.missing);
  return summary;
}

}  // namespace

std::string story_phases_text(const RunStory& story, const NameStyle& name) {
  std::string out;
  const auto is_other = [](const StoryPhase& phase) { return phase.kind == PhaseKind::kOther; };
  if (std::ranges::all_of(story.phases, is_other)) return out;
  for (const StoryPhase& phase : story.phases) {
    const std::string title = phase.kind == PhaseKind::kNamed
                                  ? name(fit_name(phase.name))
                                  : std::string(phase_kind_name(phase.kind));
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", title,
                       story_percent(100 * ratio(phase.busy + phase.idle, story.total)));
  }
  return out + " of " + whole_text(story);
}

std::vector<StorySection> story_outline(const RunStory& story, const NameStyle& name,
                                        bool with_evidence) {
  std::vector<StorySection> out;
  const auto add_all = [&](std::vector<StoryNode>& to, const std::vector<StoryLine>& lines) {
    add_lines(to, lines, name, with_evidence);
  };
  const auto title_of = [&](const StoryPhase& phase) {
    std::string kind(story.has_timeline ? phase_kind_name(phase.kind) : "counted kernels");
    if (phase.name.empty() || phase.name == kind) return kind;
    return phase.kind == PhaseKind::kNamed || phase.name.starts_with(kind)
               ? name(phase.name)
               : fmt::format("{} ({})", kind, name(phase.name));
  };
  out.push_back({"EXECUTION STORY", name(story.title), {}});
  if (!story.selection.empty()) out.back().after += fmt::format(" ({})", name(story.selection));
  if (story.recorded.count > 0) {
    out.back().after +=
        fmt::format(": its steady state, {} of {}", story_time(story.total.micros()),
                    story_time(story.recorded.micros()));
  }
  add_all(out.back().nodes, story.configuration);
  for (size_t p = 0; p < story.phases.size(); ++p) {
    const StoryPhase& phase = story.phases[p];
    for (const StoryTransition& transition : story.transitions) {
      if (transition.to != p) continue;
      StorySection section{
          "TRANSITION",
          fmt::format("{} → {}", title_of(story.phases[transition.from]), title_of(phase)),
          {}};
      add_all(section.nodes, transition.lines);
      out.push_back(std::move(section));
    }
    const Nanos time = phase.busy + phase.idle;
    std::string after = title_of(phase);
    if (story.total.count > 0) {
      after += fmt::format(": {}{}, {} of {}", story_time(time.micros()),
                           story.selects_work && story.has_timeline ? " of selected work" : "",
                           story_percent(100 * ratio(time, story.total)), whole_text(story));
    }
    if (phase.evidence != PhaseEvidence::kNone)
      after += fmt::format(" (found by {})", phase_evidence_name(phase.evidence));
    StorySection section{fmt::format("PHASE {}", p + 1), std::move(after), {}};
    add_all(section.nodes, phase.lines);
    // The count of what is left out stands behind the events.
    std::vector<StoryNode> last;
    if (!phase.lines.empty() && phase.lines.back().kind == StoryLineKind::kMoreBlocks) {
      last.push_back(std::move(section.nodes.back()));
      section.nodes.pop_back();
    }
    const std::vector<int> ranks = event_ranks(phase);
    for (size_t i = 0; i < phase.events.size(); ++i) {
      const StoryEvent& event = phase.events[i];
      StoryNode node = node_of(event.what, name, with_evidence);
      const std::string at =
          story.has_timeline ? fmt::format(" +{}", story_time(event.at.micros())) : "";
      node.text = fmt::format("T{}{}  {}", i, at, node.text);
      add_all(node.below, event.lines);
      node.rank = ranks[i];
      section.nodes.push_back(std::move(node));
    }
    for (StoryNode& node : last) section.nodes.push_back(std::move(node));
    out.push_back(std::move(section));
  }
  for (const StoryKernel& kernel : story.kernels) {
    StorySection section{"KERNEL", name(kernel.name), {}};
    add_all(section.nodes, kernel.lines);
    for (size_t i = 0; i < section.nodes.size(); ++i)
      section.nodes[i].rank = rank_in_kernel(kernel.lines[i], &kernel == story.kernels.data());
    out.push_back(std::move(section));
  }
  out.push_back(summary_section(story, name, with_evidence));
  return out;
}

}  // namespace fathom
