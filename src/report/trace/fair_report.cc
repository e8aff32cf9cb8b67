// standalone_analysis_fair.md: what matters, what to do, and the details once.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyze/finding_parts.h"
#include "analyze/priority.h"
#include "base/count_text.h"
#include "report/markdown.h"
#include "report/trace/analysis_files.h"
#include "report/trace/findings_markdown.h"
#include "report/trace/hardware_sections.h"
#include "report/trace/host_report.h"
#include "report/trace/path_report.h"
#include "report/trace/run_story.h"

namespace fathom {
namespace {

constexpr size_t kRecommendations = 10;

std::string capitalized(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 32);
  return out;
}

// Findings above low are recommendations; the rest are listed in a line.
std::vector<const Finding*> recommended(const AnalysisView& v) {
  std::vector<const Finding*> list;
  for (const Finding& f : v.findings) {
    if (f.priority != Priority::kLow && list.size() < kRecommendations) list.push_back(&f);
  }
  return list;
}

std::string fused_attention_use(const AnalysisView& v) {
  if (!v.summary.has_ops) return "not known: the trace has no ops";
  const bool separate = std::ranges::any_of(
      v.findings, [](const Finding& f) { return f.kind == FindingKind::kUnfusedAttention; });
  const bool fused = std::ranges::any_of(v.assessment.categories(), [](const AssessedCategory& c) {
    return c.name == "sdpa_fwd" || c.name == "sdpa_bwd";
  });
  if (separate) return fused ? "partly: some attention runs as separate ops" : "no: separate ops";
  return fused ? "yes" : "no attention op seen";
}

std::string summary_part(const AnalysisView& v) {
  const Assessment& a = v.assessment;
  const GpuTimeline& t = a.timeline();
  std::string text = "## Summary\n\n";
  const auto best = std::ranges::max_element(v.findings, {}, &Finding::saving_at_most);
  if (v.summary.gpu_events == 0 && !v.summary.cpu) {
    text += v.summary.host ? "No GPU work recorded: ranges and counters of the program only.\n\n"
                           : "The trace has no GPU work.\n\n";
  } else if (best != v.findings.end() && best->priority != Priority::kLow) {
    text += fmt::format("Largest opportunity: {}. Saving: {}.\n\n", md_title(*best),
                        saving_text(*best, a));
  } else {
    text += "No finding above 1 % of the trace.\n\n";
  }
  text += "| metric | value |\n| :-- | :-- |\n";
  const auto metric = [&text](std::string_view name, std::string value) {
    text += fmt::format("| {} | {} |\n", name, value);
  };
  metric("Trace", md_cell(v.summary.trace) +
                      (v.summary.scope.empty() ? "" : ", " + md_cell(v.summary.scope)));
  if (!v.summary.source.empty()) metric("Recorded by", md_cell(v.summary.source));
  if (v.summary.cpu) {
    metric("Length of the trace", micros_text(v.summary.cpu->length));
    metric("CPU time of all ops, over all threads", micros_text(v.summary.cpu->self));
    return text + "\n";
  }
  if (v.summary.host) {
    metric("Length of the recording", micros_text(v.summary.host->length));
    return text + "\n";
  }
  metric("Total compute time", micros_text(t.computation));
  metric("Length of the trace", micros_text(t.total));
  metric("GPU utilisation",
         fmt::format("{} (idle {}, exposed communication {}, exposed copies {})",
                     percent_text(ratio(t.busy, t.total)), percent_text(ratio(t.idle, t.total)),
                     percent_text(ratio(t.exposed_communication, t.total)),
                     percent_text(ratio(t.exposed_copies, t.total))));
  if (v.summary.path) metric("Critical path", md_cell(critical_path_text(*v.summary.path)));
  for (const Summary::WhatIf& answer : v.summary.what_if)
    metric("What if", md_cell(what_if_text(answer, v.summary.path->steps > 0)));
  if (!a.categories().empty()) {
    const AssessedCategory& top = a.categories().front();
    metric("Top bottleneck category",
           fmt::format("{} ({} of GPU time)", top.name, percent_text(top.share)));
  }
  if (v.summary.clocks) {
    metric(is_throttled(*v.summary.clocks) ? "**GPU throttled**" : "GPU clocks",
           clocks_text(*v.summary.clocks));
  }
  metric("Fused attention used", fused_attention_use(v));
  if (a.platform() != nullptr) {
    metric("Platform",
           md_cell(v.summary.platform) +
               "; efficiency relates to achievable rates where measured, else to peaks");
    if (!v.summary.recorded_on.empty()) {
      metric("**Two platforms**", md_cell(other_platform_text(v.summary)));
    }
    metric("GPU time covered by a cost model", percent_text(a.known_share()));
  } else {
    metric("Platform", "unknown: no efficiency computed; set --platform");
  }
  if (v.summary.unlinked.events > 0 && !v.summary.unlinked.included) {
    metric("Left out",
           fmt::format("{} without a launch in the file, {:.1f} % of GPU time; "
                       "--include-unlinked counts them in the timeline",
                       counted(static_cast<uint64_t>(v.summary.unlinked.events), "GPU event"),
                       v.summary.unlinked.of_gpu * 100));
  }
  if (!v.summary.has_ops) {
    metric("Not recorded", v.summary.has_launches
                               ? "ops and shapes: rows are kernels, efficiency is not computed"
                               : "ops, shapes and launches: rows are kernels, efficiency and the "
                                 "causes of idle time are not computed");
  }
  return text + "\n";
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
      "### After the idle time is fixed\n\nThese ops are far from achievable, but a faster one "
      "would "
      "only lengthen the idle time:\n\n| op | time | % of achievable |\n| :-- | --: | --: |\n";
  for (size_t i = 0; i < std::min<size_t>(5, hidden.size()); ++i) {
    text += fmt::format("| {} | {} | {} |\n", md_code_cell(hidden[i]->subject.substr(0, 80)),
                        micros_text(hidden[i]->time), efficiency_text(hidden[i]->efficiency));
  }
  return text + "\n";
}

// What identifies a section in a link: GitHub's rule for headings.
std::string anchor(size_t number) { return fmt::format("detail-{}", number); }

std::string recommendation(const AnalysisView& v, const Finding& f, size_t number) {
  std::string text = fmt::format("### {}. {} priority: {}\n\n", number,
                                 capitalized(priority_name(f.priority)), md_title(f));
  text += fmt::format("- **Operation**: {}\n", md_code(f.subject));
  text += fmt::format("- **Issue**: {}\n", f.issue);
  text += fmt::format("- **Model code (path A)**: {}\n", f.change_code);
  if (!f.improve_kernel.empty()) {
    text += fmt::format("- **Kernel (path B)**: {}\n", f.improve_kernel);
  } else {
    text += "- **Kernel (path B)**: not applicable\n";
  }
  text += fmt::format("- **Impact**: {} ([details](#{}))\n\n", saving_text(f, v.assessment),
                      anchor(number));
  return text;
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
    if (op.bound) used.insert(rate_name_of(*op.group->cost, p));
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

}  // namespace

std::string fair_report(const AnalysisView& v) {
  const Assessment& a = v.assessment;
  const std::string_view cpu_only = cpu_only_text(v.summary);
  std::string text = fmt::format("# {}: performance analysis{}{}\n\n", md_text(v.summary.trace),
                                 cpu_only.empty() ? "" : ", ", cpu_only);
  text += summary_part(v);
  if (v.summary.cpu) text += "## Top CPU operations\n\n" + md_cpu_ops(*v.summary.cpu) + "\n";
  if (v.summary.host) text += md_host(*v.summary.host);
  // Ranges and counters are all there is: nothing is found in them.
  if (v.summary.host && !v.summary.cpu) return text;
  if (!v.summary.cpu) text += "## Top operations\n\n" + md_top_ops(a) + "\n";
  if (!v.summary.cpu) text += "## Execution story\n\n" + story_extract_markdown(v.story) + "\n";
  if (v.summary.stalls) text += md_stalls(*v.summary.stalls);
  text += "## Recommendations\n\n";
  const std::vector<const Finding*> list = recommended(v);
  if (list.empty()) text += "None above low priority.\n\n";
  if (list.size() > 1) {
    text += "Findings can cover the same time, so savings do not add up.\n\n";
  }
  for (size_t i = 0; i < list.size(); ++i) text += recommendation(v, *list[i], i + 1);
  size_t above_low = 0;
  for (const Finding& f : v.findings) above_low += f.priority != Priority::kLow;
  if (v.findings.size() > list.size()) {
    const size_t more = v.findings.size() - list.size();
    const size_t low = v.findings.size() - above_low;
    text += fmt::format("{}{}: see category_findings/ and the working notes.\n\n",
                        counted(more, low == more ? "low-priority finding" : "more finding"),
                        low == more || low == 0 ? "" : fmt::format(" ({} of low priority)", low));
  }
  text += afterwards_part(v);
  text += "## Details\n\n";
  for (size_t i = 0; i < list.size(); ++i) {
    text += fmt::format("<a id=\"{}\"></a>\n### Details {}: {}\n\n{}\n", anchor(i + 1), i + 1,
                        list[i]->category.empty() ? "the system as a whole" : list[i]->category,
                        md_details(*list[i]));
  }
  text += "### Categories\n\n" + md_categories(a) + "\n";
  text += "## Appendix\n\n### Priorities\n\n" + describe_priorities() + "\n\n";
  text += "### Hardware\n\n" + hardware_part(a) + "\n### Replay packages\n\n";
  if (v.replay_packages.empty()) {
    text +=
        "None: no op takes over 10 % of the compute time at under 30 % of achievable. "
        "`fathom replay pack TRACE --op NAME` packs any op.\n";
  }
  for (const std::string& file : v.replay_packages) text += fmt::format("- {}\n", md_code(file));
  return text;
}

}  // namespace fathom
