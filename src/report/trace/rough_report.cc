// standalone_analysis_rough.md: the working notes.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyze/finding_parts.h"
#include "analyze/priority.h"
#include "base/count_text.h"
#include "base/utf8.h"
#include "report/markdown.h"
#include "report/trace/analysis_files.h"
#include "report/trace/findings_markdown.h"
#include "report/trace/hardware_sections.h"
#include "report/trace/host_report.h"
#include "report/trace/places.h"
#include "report/trace/run_story.h"
#include "report/trace/wall_time.h"

namespace fathom {
namespace {

std::string steps_part(const AnalysisView& v) {
  const Summary& s = v.summary;
  const Assessment& a = v.assessment;
  std::string text = "## What was done\n\n";
  text += fmt::format("1. Read {}: {}, {} of them on the GPU, {} skipped.\n", md_text(s.trace),
                      counted(static_cast<uint64_t>(s.events), "event"),
                      with_thousands(s.gpu_events), with_thousands(s.skipped_events));
  if (s.has_launches) {
    text += fmt::format("2. Linked GPU work to its launches: {} ({:.1f} % of GPU time) {} none.\n",
                        counted(static_cast<uint64_t>(s.unlinked.events), "event"),
                        s.unlinked.of_gpu * 100, s.unlinked.events == 1 ? "has" : "have");
  } else {
    text += "2. The trace has no launches to link GPU work to.\n";
  }
  text += fmt::format("3. Grouped it into {} in {}.\n",
                      s.has_ops ? counted(a.ops().size(), "op") + " with their arguments"
                                : counted(a.ops().size(), "kernel"),
                      counted(a.categories().size(), "category", "categories"));
  if (a.platform() != nullptr) {
    text += fmt::format(
        "4. Compared each op with the limits of {}: a cost model covers {} of the ops' time.\n",
        md_text(a.platform()->name), percent_text(a.known_share()));
    if (!s.recorded_on.empty()) {
      text += fmt::format("   Two platforms: {}.\n", md_text(other_platform_text(s)));
    }
  } else {
    text += "4. No platform: efficiency was not computed.\n";
  }
  text += fmt::format("5. Looked for patterns: {}.\n\n", counted(v.findings.size(), "finding"));
  return text;
}

// The longest gaps of all GPUs, with what the host did.
std::string longest_gaps(const Assessment& a) {
  constexpr size_t kGapsShown = 10, kGapFrames = 4;
  struct Gap {
    const IdleGap* gap;
    std::optional<int32_t> device;
  };
  std::vector<Gap> gaps;
  for (const DeviceIdle& device : a.idle().devices)
    for (const IdleGap& gap : device.longest) gaps.push_back({&gap, device.device});
  const auto length = [](const Gap& g) { return g.gap->gap.end - g.gap->gap.begin; };
  std::ranges::stable_sort(gaps, [&](const Gap& x, const Gap& y) { return length(y) < length(x); });
  if (gaps.empty()) return {};
  const EventStore& store = a.input().store;
  std::string text = "| gap at | length | cause | what the host did |\n| --: | --: | :-- | :-- |\n";
  for (size_t i = 0; i < std::min(kGapsShown, gaps.size()); ++i) {
    const IdleGap& gap = *gaps[i].gap;
    std::string host = "–";
    if (gap.host.valid() && !is_gpu_work(store.kind(gap.host))) {
      host = md_code_cell(cut_to_bytes(store.name(gap.host), 80));
      const std::vector<std::string> stack = call_stack_of(a.input(), gap.host);
      for (size_t f = 0; f < std::min(kGapFrames, stack.size()); ++f)
        host += " ← " + md_code_cell(cut_to_bytes(stack[f], 80));
    }
    text += fmt::format(
        "| {} | {} | {} ({}) | {} |\n", micros_text(gap.gap.begin - a.base().begin()),
        micros_text(gap.gap.end - gap.gap.begin), idle_cause_name(gap.cause),
        percent_text(ratio(gap.parts[static_cast<size_t>(gap.cause)], gap.gap.end - gap.gap.begin)),
        host);
  }
  return text + "\n";
}

std::string wall_time_part(const AnalysisView& v) {
  const std::string rows = md_wall_time(v.summary);
  if (rows.empty()) return {};
  return "## Wall time\n\n| metric | value |\n| :-- | :-- |\n" + rows + "\n" +
         longest_gaps(v.assessment);
}

std::string timeline_part(const GpuTimeline& t) {
  std::string text =
      "## GPU timeline\n\n| part | time | of the GPU's span |\n| :-- | --: | --: |\n";
  const auto add = [&](std::string_view name, Nanos time) {
    text += fmt::format("| {} | {} | {} |\n", name, micros_text(time),
                        percent_text(ratio(time, t.total)));
  };
  add("computation", t.computation);
  add("exposed communication", t.exposed_communication);
  add("exposed copies", t.exposed_copies);
  add("busy", t.busy);
  add("idle", t.idle);
  add("total", t.total);
  return text + "\n";
}

// Findings that save less are no rows of the table.
constexpr Nanos kWorthARow{1000};
constexpr size_t kRoughFindingsShown = 300, kDetailsShown = 10, kQuestionsShown = 20;
constexpr size_t kRoughOps = 10, kRoughCpuOps = 20;

std::string findings_part(const AnalysisView& v) {
  std::string text =
      "## All findings\n\n| priority | kind | subject | place | time | saving at most | confidence "
      "|\n| :-- | :-- | :-- | :-- | --: | --: | :-- |\n";
  size_t left_out = 0, rows = 0;
  for (const Finding& f : v.findings) {
    if (f.saving_at_most < kWorthARow) {
      ++left_out;
      continue;
    }
    if (++rows > kRoughFindingsShown) continue;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", priority_name(f.priority),
                        kind_name(f.kind), md_code_cell(cut_to_bytes(f.subject, 120)),
                        md_first_place(f), micros_text(f.time), micros_text(f.saving_at_most),
                        confidence_name(f.confidence));
  }
  if (rows > kRoughFindingsShown) {
    text += fmt::format("\n{} more findings: see category_manifest.json.\n",
                        with_thousands(static_cast<int64_t>(rows - kRoughFindingsShown)));
  }
  if (left_out > 0) {
    text += fmt::format(
        "\n{} more would save under {}: their time is hidden, or they are as short as the shortest "
        "kernels. See category_findings/.\n",
        left_out, micros_text(kWorthARow));
  }
  return text + "\n";
}

// The findings above low, with their evidence.
std::string details_part(const AnalysisView& v) {
  std::string text;
  size_t number = 0;
  for (const Finding& f : v.findings) {
    if (f.priority == Priority::kLow || number == kDetailsShown) continue;
    text += fmt::format("### {}. {}\n\n{}\n", ++number, md_title(f), md_details(f));
  }
  return text.empty() ? text : "## Findings in detail\n\n" + text;
}

std::string trees_part(const AnalysisView& v) {
  const Assessment& a = v.assessment;
  std::string text = "## Where the top ops are called\n\n";
  for (const TopOp& top : a.top_ops()) {
    const auto op = std::ranges::find_if(
        a.ops(), [&top](const AssessedOp& o) { return o.group->key.name == top.name; });
    if (op == a.ops().end()) continue;
    std::string chain;
    for (const std::string& frame : call_stack_of(a.input(), op->group->first().event)) {
      chain += fmt::format(" ← {}", md_code(cut_to_bytes(frame, 80)));
    }
    text +=
        fmt::format("- {}{}\n", md_code(cut_to_bytes(top.name, 400)),
                    chain.empty() ? ": no caller recorded; record with with_stack=True" : chain);
  }
  return text + "\n";
}

std::string_view no_limit_text(const AssessedOp& op, const Assessment& a) {
  if (!op.group->cost) return "no cost model: arguments missing in the trace, or op not covered";
  return a.platform() == nullptr ? "cost known, but no platform to compare with" : op.no_limit;
}

// What could not be told, by how much time it is.
std::string gaps_part(const AnalysisView& v) {
  const Assessment& a = v.assessment;
  std::string text = "## Gaps\n\n";
  std::vector<const AssessedOp*> unknown;
  for (const AssessedOp& op : a.ops()) {
    if (!op.efficiency) unknown.push_back(&op);
  }
  if (unknown.empty()) text += "All ops have a cost model and a limit.\n";
  for (size_t i = 0; i < std::min<size_t>(unknown.size(), 8); ++i) {
    const AssessedOp& op = *unknown[i];
    text +=
        fmt::format("- {} ({} of GPU time): {}\n", md_code(cut_to_bytes(op.group->key.name, 100)),
                    percent_text(op.share), no_limit_text(op, a));
  }
  for (const AssessedOp& op : a.ops()) {
    if (op.group->cost && !op.group->cost->assumption.empty() && op.share > 0.01) {
      text += fmt::format("- {}: assumes that {}\n", md_code(cut_to_bytes(op.group->key.name, 400)),
                          op.group->cost->assumption);
    }
  }
  return text + "\n";
}

std::string questions_part(const AnalysisView& v) {
  std::string text = "## Open questions\n\n";
  size_t asked = 0;
  for (const Finding& f : v.findings) {
    if (f.priority > Priority::kHigh || f.counters.empty()) continue;
    if (++asked > kQuestionsShown) continue;
    text += fmt::format("- Why is {} slow? A trace cannot show it. Measure {}.\n",
                        md_code(cut_to_bytes(f.subject, 400)), f.counters);
  }
  if (asked > kQuestionsShown) {
    text += fmt::format("- {} more such findings: see category_manifest.json.\n",
                        with_thousands(static_cast<int64_t>(asked - kQuestionsShown)));
  }
  bool any = asked > 0;
  if (v.summary.unlinked.events > 0) {
    text += "- Which calls launched the GPU work that has no launch in the file?\n";
    any = true;
  }
  if (!any) text += "None.\n";
  return text;
}

// What would be next: ops far from the limit whose time hides behind the host today.
std::string afterwards_part(const AnalysisView& v) {
  std::vector<const Finding*> hidden;
  for (const Finding& f : v.findings) {
    if (f.kind == FindingKind::kLowEfficiency && f.priority == Priority::kLow && f.efficiency) {
      hidden.push_back(&f);
    }
  }
  const auto possible = [](const Finding* f) {
    return static_cast<double>(f->time.count) * (1 - *f->efficiency);
  };
  std::ranges::sort(hidden, [&](const Finding* x, const Finding* y) {
    return std::tuple(-possible(x), x->subject) < std::tuple(-possible(y), y->subject);
  });
  const bool waits = std::ranges::any_of(v.findings, [](const Finding& f) {
    return f.kind == FindingKind::kHostBound && f.priority != Priority::kLow;
  });
  if (!waits || hidden.empty()) return {};
  std::string text =
      "## After the idle time is fixed\n\nThese ops are far from achievable, but a faster one "
      "would "
      "only lengthen the idle time:\n\n| op | time | % of achievable |\n| :-- | --: | --: |\n";
  for (size_t i = 0; i < std::min<size_t>(5, hidden.size()); ++i) {
    text += fmt::format("| {} | {} | {} |\n", md_code_cell(hidden[i]->subject.substr(0, 80)),
                        micros_text(hidden[i]->time), efficiency_text(hidden[i]->efficiency));
  }
  return text + "\n";
}

// What ops of this trace were held against, and the peak beside it where that is another number.
std::string rate_line(std::string_view name, const Rate& rate, std::string_view unit) {
  const std::optional<Limit> limit = limit_of(rate);
  if (!limit) return {};
  std::string text =
      fmt::format("- **{}**: limit {:.4g} {} ({}; {})", name, limit->rate / 1e12, unit,
                  limit->achievable ? "achievable" : "peak", source_kind_name(limit->source.kind));
  if (limit->achievable && rate.peak) text += fmt::format(", peak {:.4g}", *rate.peak / 1e12);
  return text + "\n";
}

std::string hardware_part(const Assessment& a) {
  if (a.platform() == nullptr) return "Unknown GPU: no limits.\n";
  const Platform& p = *a.platform();
  std::string text = fmt::format("- **Platform**: {}\n", md_text(p.name));
  text += rate_line("Memory bandwidth", p.memory_bandwidth, "TB/s");
  std::set<std::string_view> used;
  for (const AssessedOp& op : a.ops()) {
    if (op.bound) used.insert(op.rate_name);
  }
  for (std::string_view spec : compute_spec_names()) {
    if (used.contains(spec)) {
      text += rate_line(spec, *p.find(spec), fmt::format("T{}", compute_unit_of(spec)));
    }
  }
  if (p.memory_bytes) {
    text +=
        fmt::format("- **Memory**: {:.0f} GB\n", static_cast<double>(*p.memory_bytes) / (1 << 30));
  }
  return text;
}

std::string replay_part(const AnalysisView& v) {
  std::string text = "## Replay packages\n\n";
  if (v.replay_packages.empty()) {
    text +=
        "None: no op takes over 10 % of the compute time at under 30 % of achievable. "
        "`fathom replay pack TRACE --op NAME` packs any op.\n";
  }
  for (const std::string& file : v.replay_packages) text += fmt::format("- {}\n", md_code(file));
  return text + "\n";
}

}  // namespace

std::string rough_report(const AnalysisView& v) {
  const Assessment& a = v.assessment;
  const std::string_view cpu_only = cpu_only_text(v.summary);
  std::string text = fmt::format("# {}: working notes{}{}\n\n", md_text(v.summary.trace),
                                 cpu_only.empty() ? "" : ", ", cpu_only);
  if (v.summary.cpu || v.summary.host) {
    if (v.summary.cpu)
      text += "## Top CPU operations\n\n" + md_cpu_ops(*v.summary.cpu, kRoughCpuOps) + "\n";
    if (v.summary.host) text += md_host(*v.summary.host);
    return v.summary.cpu ? text + findings_part(v) + details_part(v) : text;
  }
  text += steps_part(v) + wall_time_part(v) + timeline_part(a.timeline());
  text += "## Execution story\n\n" + story_extract_markdown(v.story) + "\n";
  text += "## Top operations\n\n" + md_top_ops(a, kRoughOps) + "\n";
  text += "## Categories\n\n" + md_categories(a) + "\n";
  for (const AssessedCategory& category : a.categories()) {
    text += fmt::format("### {}\n\n{}\n", category.name, md_category_ops(category, a, 10));
    if (category.ops.size() > 10) {
      text += fmt::format("{} more in category_data/{}_ops.csv.\n\n", category.ops.size() - 10,
                          category.name);
    }
  }
  text += findings_part(v) + details_part(v) + afterwards_part(v);
  if (v.summary.stalls) text += md_stalls(*v.summary.stalls);
  text += "## Priorities\n\n" + describe_priorities() + "\n\n## Hardware\n\n" + hardware_part(a);
  text += "\n" + replay_part(v) + trees_part(v) + gaps_part(v) + questions_part(v);
  return text;
}

}  // namespace fathom
