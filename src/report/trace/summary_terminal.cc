#include <fmt/format.h>

#include <algorithm>

#include "analyze/finding_parts.h"
#include "analyze/place.h"
#include "base/count_text.h"
#include "report/compared_line.h"
#include "report/screen.h"
#include "report/trace/coverage_text.h"
#include "report/trace/hardware_sections.h"
#include "report/trace/host_report.h"
#include "report/trace/path_report.h"
#include "report/trace/summary.h"
#include "report/trace/wall_time.h"

namespace fathom {
namespace {

constexpr size_t kTopOps = 10;
constexpr size_t kNumbersWidth = 1 + 18 + 9 + 11 + 9;  // category, calls, ms, share

void show_ops(Screen& screen, const Summary& s, size_t width) {
  if (s.ops.empty()) return;
  const size_t name_width = std::clamp<size_t>(width - std::min(width, kNumbersWidth + 2), 20, 60);
  const auto row = [&](std::string_view name, std::string_view category, std::string_view calls,
                       std::string_view millis, std::string_view share) {
    return fmt::format("{} {} {:>8} {:>10} {:>8}", fit_left(name, name_width),
                       fit_left(category, 18), calls, millis, share);
  };
  screen.line(screen.bold(
      row(s.has_ops ? "Top ops" : "Top kernels", "category", "calls", "GPU ms", "share")));
  const size_t shown = std::min(s.ops.size(), kTopOps);
  for (size_t i = 0; i < shown; ++i) {
    const Summary::Op& op = s.ops[i];
    screen.line(row("  " + screen_safe(op.name), op.category, with_thousands(op.calls),
                    fmt::format("{:.2f}", op.gpu_millis),
                    fmt::format("{:.1f} %", op.share_percent)));
  }
  if (s.ops.size() > shown) {
    double millis = 0, share = 0;
    int64_t calls = 0;
    for (size_t i = shown; i < s.ops.size(); ++i) {
      millis += s.ops[i].gpu_millis;
      share += s.ops[i].share_percent;
      calls += s.ops[i].calls;
    }
    screen.line(
        screen.dim(row(fmt::format("  {} more", s.ops.size() - shown), "", with_thousands(calls),
                       fmt::format("{:.2f}", millis), fmt::format("{:.1f} %", share))));
  }
}

void show_cpu_ops(Screen& screen, const Summary::Cpu& cpu, size_t width) {
  const size_t name_width = std::clamp<size_t>(width - std::min(width, kNumbersWidth + 2), 20, 60);
  const auto row = [&](std::string_view name, std::string_view shapes, std::string_view calls,
                       std::string_view millis, std::string_view share) {
    return fmt::format("{} {} {:>8} {:>10} {:>8}", fit_left(name, name_width), fit_left(shapes, 18),
                       calls, millis, share);
  };
  screen.line(screen.bold(row("Top CPU ops", "shapes", "calls", "self ms", "share")));
  const size_t shown = std::min(cpu.ops.size(), kTopOps);
  double millis = 0, share = 0;
  int64_t calls = 0;
  for (size_t i = 0; i < cpu.ops.size(); ++i) {
    const Summary::CpuOp& op = cpu.ops[i];
    if (i < shown) {
      screen.line(row("  " + screen_safe(op.name), screen_safe(op.shapes), with_thousands(op.calls),
                      fmt::format("{:.2f}", op.self_millis),
                      fmt::format("{:.1f} %", op.share_percent)));
      continue;
    }
    millis += op.self_millis;
    share += op.share_percent;
    calls += op.calls;
  }
  if (cpu.ops.size() > shown) {
    screen.line(
        screen.dim(row(fmt::format("  {} more", cpu.ops.size() - shown), "", with_thousands(calls),
                       fmt::format("{:.2f}", millis), fmt::format("{:.1f} %", share))));
  }
}

// What may be taken for steps.
void show_ranges(Screen& screen, const std::vector<std::string>& ranges) {
  constexpr size_t kShown = 3;
  if (ranges.empty()) return;
  std::string names;
  for (size_t i = 0; i < std::min(kShown, ranges.size()); ++i) {
    names += (i > 0 ? ", " : "") + shortened(screen_safe(ranges[i]));
  }
  if (ranges.size() > kShown) names += " …";
  screen.entry("Ranges", fmt::format("{}   (--step-pattern NAME counts them as steps)", names));
}

void show_limits(Screen& screen, const Summary& s) {
  const std::string missing = not_assessed_text(s, screen_safe);
  const bool computed = !s.platform.empty() && s.has_ops && s.has_costs;
  if (computed || missing.empty()) {
    screen.entry("Limits", fmt::format("{}: cost models cover {:.1f} % of the ops' GPU time",
                                       screen_safe(s.platform), s.known_share * 100));
  }
  if (!missing.empty()) {
    screen.entry(computed ? "" : "Limits", mostly_assessed(s) ? missing : screen.warn(missing));
  }
  if (!s.recorded_on.empty()) {
    screen.entry("", screen.warn(screen_safe(other_platform_text(s))));
  }
  if (s.sources) {
    screen.entry(
        "Code",
        fmt::format("{}: defines the kernels of {:.1f} % of kernel time, {:.1f} % ambiguous",
                    screen_safe(s.sources->repository), s.sources->matched_percent,
                    s.sources->ambiguous_percent));
  }
}

void show_counters(Screen& screen, const Summary::Counters& counters) {
  bool any = false;
  for (const Summary::CounterSource& source : counters.files) {
    const std::string name = shortened(screen_safe(source.file));
    if (!source.refusal.empty()) {
      screen.entry("Counter", screen.warn(fmt::format("{}: not joined, {}", name,
                                                      screen_safe(source.refusal))));
      continue;
    }
    any = true;
    screen.entry("Counter", fmt::format("{}: {}; {} of {} joined with the trace", name,
                                        screen_safe(source.tool), with_thousands(source.joined),
                                        counted(static_cast<uint64_t>(source.launches), "launch",
                                                "launches")));
    if (!source.doubt.empty())
      screen.entry("", screen.warn("it may be of another run: " + screen_safe(source.doubt)));
  }
  if (any) {
    screen.entry("", fmt::format("{:.1f} % of kernel time has counters; {:.1f} % untrusted, {:.1f} "
                                 "% ambiguous (kernel_counters.csv)",
                                 counters.joined_percent, counters.untrusted_percent,
                                 counters.ambiguous_percent));
  }
  if (counters.expected)
    screen.entry("", compared_line(*counters.expected) + " (expected_vs_measured.md)");
  bool is_first = true;
  for (const Summary::Counters::Bottleneck& found : counters.bottlenecks) {
    screen.entry(is_first ? "Bound" : "",
                 fmt::format("{}: {} ({})", shortened(screen_safe(found.kernel)), found.title,
                             screen_safe(found.evidence)));
    is_first = false;
  }
  if (counters.left_out > 0) {
    screen.entry("", fmt::format("counters.csv is full: {} left out",
                                 counted(static_cast<uint64_t>(counters.left_out), "value")));
  }
}

void show_hardware(Screen& screen, const Summary& s) {
  if (s.clocks) {
    const std::string text = clocks_text(*s.clocks);
    screen.entry("Clocks", is_throttled(*s.clocks) ? screen.warn(text) : text);
  }
  if (s.stalls) screen.entry("Stalls", stalls_text(*s.stalls) + " (stall_samples.csv)");
}

// " at model.py:69 mid"; only lines of code are worth the room.
std::string first_place(const Summary::Found& f) {
  if (f.places.empty() || f.places.front().file.empty()) return {};
  // A title may name its place.
  if (f.title.find(short_place_text(f.places.front())) != std::string::npos) return {};
  return " at " + shortened(screen_safe(short_place_text(f.places.front())));
}

// Names out of the trace may fill a screen and are cut; the sentence around them is not.
std::string shown_title(const Summary::Found& f) {
  constexpr size_t kMost = 110, kName = 60;
  std::string title = screen_safe(f.title), subject = screen_safe(f.subject);
  if (screen_width(title) <= kMost) return title;
  const size_t at = subject.empty() ? std::string::npos : title.find(subject);
  if (at == std::string::npos) return title;
  return title.substr(0, at) + shortened(subject, kName) + title.substr(at + subject.size());
}

// Nothing is promised for work that is not assessed.
std::string saving_text(const Summary::Found& f) {
  constexpr double kShown = 0.05;  // percent: what is rounded to more than nothing
  if (f.saving_most_percent < kShown) return {};
  return "; saves " + percent_range_text(f.saving_least_percent / 100, f.saving_most_percent / 100);
}

// The findings that matter most.
void show_findings(Screen& screen, const Summary& s) {
  constexpr size_t kShown = 5;
  size_t shown = 0;
  for (const Summary::Found& f : s.findings) {
    if (shown == kShown) break;
    if (f.priority == Priority::kLow || !f.under.empty()) continue;
    screen.entry(shown++ == 0 ? "Found" : "",
                 fmt::format("{:<8} {}{}{}", priority_name(f.priority), shown_title(f),
                             first_place(f), saving_text(f)));
  }
  if (shown > 0) return;
  std::string nothing = nothing_found_text(s);
  nothing[0] = 'n';
  screen.entry("Found", nothing + (s.cpu || mostly_assessed(s) ? "" : " (see Limits)"));
}

std::string unlinked_note(const Summary& s) {
  const Summary::Unlinked& u = s.unlinked;
  return fmt::format(
      "{} of {} ({:.1f} % of GPU time) {} no launch in the file: {}", with_thousands(u.events),
      counted(static_cast<uint64_t>(s.gpu_events), "GPU event"), u.of_gpu * 100,
      u.events == 1 ? "has" : "have",
      u.included
          ? "counted in the timeline"
          : fmt::format("left out; --include-unlinked counts {}", u.events == 1 ? "it" : "them"));
}

}  // namespace

std::string other_platform_text(const Summary& s) {
  return fmt::format(
      "recorded on {}, not {}: efficiencies and savings relate its times to the limits of {}",
      s.recorded_on, s.platform, s.platform);
}

std::string_view cpu_only_text(const Summary& s) {
  if (s.cpu) return "no GPU work: CPU ops only";
  if (s.host) return "no GPU work recorded";
  return s.gpu_events == 0 && s.scope.empty() ? "no GPU work" : "";
}

std::string summary_headline(const Summary& s) {
  std::string text;
  const auto add = [&text](std::string_view part) {
    if (part.empty()) return;
    if (!text.empty()) text += " · ";
    text += part;
  };
  add(shortened(screen_safe(s.gpu)));
  add(s.runtime);
  add(shortened(screen_safe(s.source)));
  if (s.rank) {
    add(s.world_size ? fmt::format("rank {} of {}", *s.rank, *s.world_size)
                     : fmt::format("rank {}", *s.rank));
  }
  add(counted(static_cast<uint64_t>(s.events), "event"));
  const Nanos length = s.cpu ? s.cpu->length : s.host ? s.host->length : s.base.wall();
  const double ms = length.millis();
  add(ms < 1e4 ? fmt::format("{:.1f} ms", ms) : fmt::format("{:.2f} s", ms / 1e3));
  add(cpu_only_text(s));
  return text;
}

std::vector<SummaryNote> summary_notes(const Summary& s, bool verbose) {
  std::vector<SummaryNote> notes;
  if (s.unlinked.events > 0) notes.push_back({unlinked_note(s), true});
  if (!s.has_launches) {
    notes.push_back(
        {"the trace has no launches: it does not show why the GPU is idle, nor which call "
         "launched a kernel",
         false});
  }
  if (s.has_ops && !s.has_frames && !s.findings.empty()) {
    notes.push_back(
        {"the trace has no Python stacks: with_stack=True (fathom record "
         "--python-stacks) adds file and line to findings",
         false});
  }
  if (s.skipped_events > 0) {
    notes.push_back(
        {counted(static_cast<uint64_t>(s.skipped_events), "event") + " skipped", false});
  }
  for (const Diagnostic& d : s.diagnostics) {
    if (d.flaw == Flaw::kUnlinkedGpuEvent && !verbose) continue;  // said above
    const FlawText& flaw = describe(d.flaw);
    if (flaw.severity == Severity::kInfo && !verbose) continue;
    std::string text = fmt::format("{}: {}", severity_name(flaw.severity), flaw.text);
    if (d.count > 1) text += fmt::format(" ({})", with_thousands(d.count));
    if (verbose && !d.example.empty())
      text += fmt::format("; first: {}", shortened(screen_safe(d.example)));
    notes.push_back({std::move(text), flaw.severity >= Severity::kDataLoss});
  }
  return notes;
}

namespace {}  // namespace

std::string summary_text(const Summary& s, const TerminalStyle& style,
                         const ReportListing& written) {
  Screen screen(style);
  screen.line(fmt::format("{}   {}", screen.bold(screen_safe(s.trace)), summary_headline(s)));
  if (cpu_only_text(s).empty()) show_wall_time(screen, s);
  if (!s.steps.empty()) {
    const std::string first = shortened(screen_safe(s.steps.front()));
    screen.entry("Steps", s.steps.size() == 1
                              ? fmt::format("1   {}", first)
                              : fmt::format("{}   {} … {}", s.steps.size(), first,
                                            shortened(screen_safe(s.steps.back()))));
  }
  show_ranges(screen, s.ranges);
  if (!s.phases.empty()) {
    screen.entry("Phases",
                 fmt::format("{}   ({})", s.phases,
                             written.directory.empty() ? "fathom story" : "story.md"));
  }
  if (!s.scope.empty()) screen.entry("Scope", screen_safe(s.scope));
  show_critical_path(screen, s);
  show_ops(screen, s, style.width);
  if (s.cpu) show_cpu_ops(screen, *s.cpu, style.width);
  if (s.host) show_host(screen, *s.host, style.width);
  if (s.gpu_events > 0) show_limits(screen, s);
  if (s.counters) show_counters(screen, *s.counters);
  show_hardware(screen, s);
  if (s.gpu_events > 0 || s.cpu) show_findings(screen, s);
  bool first = true;
  for (const SummaryNote& note : summary_notes(s, style.verbose)) {
    screen.entry(first ? "Notes" : "", note.is_warning ? screen.warn(note.text) : note.text);
    first = false;
  }
  if (!written.directory.empty()) {
    const std::string tables = "perf_report.xlsx, perf_report_csvs/ …";
    screen.entry(
        "Report",
        report_words(written.directory, written.has_page(),
                     written.has_page() ? tables : "standalone_analysis_fair.md, " + tables));
  }
  return screen.take();
}

}  // namespace fathom
