// standalone_analysis_fair.md: what matters and what to do, in three minutes. The details are in
// the working notes.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/finding_parts.h"
#include "analyze/priority.h"
#include "base/count_text.h"
#include "report/markdown.h"
#include "report/trace/analysis_files.h"
#include "report/trace/coverage_text.h"
#include "report/trace/findings_markdown.h"
#include "report/trace/hardware_sections.h"
#include "report/trace/host_report.h"
#include "report/trace/path_report.h"
#include "report/trace/places.h"
#include "report/trace/wall_time.h"

namespace fathom {
namespace {

constexpr size_t kRecommendations = 5, kOps = 5, kSymptoms = 2;
constexpr size_t kMostWords = 900;

std::string md_safe(std::string_view text) { return md_text(text); }

std::string capitalized(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 32);
  return out;
}

// Findings above low are recommendations; the rest are listed in a line.
std::vector<const Finding*> recommended(const AnalysisView& v, size_t most) {
  std::vector<const Finding*> list;
  for (const Finding& f : v.findings) {
    if (f.priority != Priority::kLow && f.under.empty() && list.size() < most) list.push_back(&f);
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
  const std::vector<const Finding*> first = recommended(v, 1);
  if (v.summary.gpu_events == 0 && !v.summary.cpu) {
    text += v.summary.host ? "No GPU work recorded: ranges and counters of the program only.\n\n"
                           : "The trace has no GPU work.\n\n";
  } else if (!first.empty()) {
    text += fmt::format("Start with: {}. Saving: {}.\n\n", md_title(*first[0]),
                        saving_text(*first[0], a));
  } else {
    text += nothing_found_text(v.summary) + ".\n\n";
  }
  text += "| metric | value |\n| :-- | :-- |\n";
  const auto metric = [&text](std::string_view name, std::string value) {
    text += fmt::format("| {} | {} |\n", name, value);
  };
  std::string trace = md_cell(v.summary.trace);
  if (!v.summary.scope.empty()) trace += ", " + md_cell(v.summary.scope);
  if (!v.summary.source.empty()) trace += ", recorded by " + md_cell(v.summary.source);
  metric("Trace", std::move(trace));
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
  text += md_wall_time(v.summary);
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
           md_cell(v.summary.platform) + "; efficiency is of achievable rates, else of peaks");
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
  if (v.summary.has_ops && !v.summary.has_frames) {
    metric("Lines of code",
           "not recorded: with_stack=True (fathom record --python-stacks) adds them to findings");
  }
  return text + "\n";
}

// How much a recommendation says. Where the report is too long, all of them say less before one is
// left out: the screen lists as many.
enum class Detail : uint8_t { kAll, kWithoutParts, kWithoutKernel, kShortest };

// The first that names a place in the program.
std::string place_note(const Finding& f) {
  for (const Note& note : f.notes)
    if (!note.name.empty())
      return note.before + md_code(note.name) + (note.after.starts_with(' ') ? " " : "") +
             md_words(note.after);
  return {};
}

std::string recommendation(const AnalysisView& v, const Finding& f, size_t number, Detail detail) {
  std::string text = fmt::format("### {}. {} priority: {}\n\n", number,
                                 capitalized(priority_name(f.priority)), md_title(f));
  if (const std::string places = md_places(f); !places.empty())
    text += fmt::format("- **Where**: {}\n", places);
  text += fmt::format("- **Evidence**: {}\n", f.issue);
  if (const std::string note = place_note(f); !note.empty() && detail < Detail::kShortest)
    text += fmt::format("- **Note**: {}\n", note);
  text += fmt::format("- **Model code (path A)**: {}\n", f.change_code);
  if (!f.improve_kernel.empty() && detail < Detail::kWithoutKernel)
    text += fmt::format("- **Kernel (path B)**: {}\n", f.improve_kernel);
  const std::string goes_with = detail < Detail::kShortest ? goes_with_text(f) : std::string();
  text += fmt::format("- **Saving**: {}{}{}\n", saving_text(f, v.assessment),
                      goes_with.empty() ? "" : ". ", goes_with);
  size_t parts = detail < Detail::kWithoutParts ? 0 : kSymptoms;
  for (const Finding& symptom : v.findings) {
    if (symptom.under != f.title || ++parts > kSymptoms) continue;
    text += fmt::format("- **Part of it**: {} ({})\n", md_title(symptom),
                        saving_text(symptom, v.assessment));
  }
  text += "\n";
  return text;
}

std::string recommendations_part(const AnalysisView& v, const std::vector<const Finding*>& list,
                                 Detail detail) {
  std::string text = "## Recommendations\n\n";
  if (list.empty()) {
    text += mostly_assessed(v.summary) ? "None above low priority.\n\n"
                                       : nothing_found_text(v.summary) + ".\n\n";
  }
  for (size_t i = 0; i < list.size(); ++i) text += recommendation(v, *list[i], i + 1, detail);
  if (list.size() > 1) text += "Findings can cover the same time, so savings do not add up.\n\n";
  if (!list.empty() && v.summary.path && v.summary.path->missing.empty())
    text += "Savings are parts of a step without the profiler; --what-if prints those too.\n\n";
  return text;
}

std::string more_part(const AnalysisView& v, size_t shown) {
  std::string text = "## More\n\n";
  if (v.findings.size() > shown)
    text += fmt::format("- {}, and the details of these: standalone_analysis_rough.md\n",
                        counted(v.findings.size() - shown, "further finding"));
  else
    text += "- Working notes: standalone_analysis_rough.md\n";
  if (!v.summary.cpu) text += "- Phases, timeline and hardware state: [story.md](story.md)\n";
  text += "- Numbers: perf_report.xlsx, perf_report_csvs/, summary.json\n";
  if (!v.replay_packages.empty())
    text += fmt::format("- {} for the slowest ops: replay_packages/\n",
                        counted(v.replay_packages.size(), "replay package"));
  return text;
}

std::string report_of(const AnalysisView& v, const ReportPictures& pictures, size_t most,
                      Detail detail) {
  const std::string_view cpu_only = cpu_only_text(v.summary);
  std::string text = fmt::format("# {}: performance analysis{}{}\n\n", md_text(v.summary.trace),
                                 cpu_only.empty() ? "" : ", ", cpu_only);
  if (v.summary.gpu_events > 0) {
    if (const std::string missing = not_assessed_text(v.summary, md_safe); !missing.empty())
      text += fmt::format("**{}.**\n\n", missing);
  }
  text += summary_part(v);
  if (!pictures.timeline.empty()) text += "![What the GPU ran](timeline.svg)\n\n";
  // Ranges and counters are all there is: nothing is found in them.
  if (v.summary.host && !v.summary.cpu) return text + md_host(*v.summary.host);
  const std::vector<const Finding*> list = recommended(v, most);
  text += recommendations_part(v, list, detail);
  if (v.summary.cpu)
    text += "## Top CPU operations\n\n" + md_cpu_ops(*v.summary.cpu, kOps) + "\n";
  else
    text += "## Top operations\n\n" + md_top_ops(v.assessment, kOps) + "\n";
  if (!pictures.roofline.empty()) text += "![Ops against the GPU's limits](roofline.svg)\n\n";
  return text + more_part(v, list.size());
}

size_t word_count(std::string_view text) {
  size_t words = 0;
  bool in_word = false;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\n';
    words += !is_space && !in_word;
    in_word = !is_space;
  }
  return words;
}

}  // namespace

std::string fair_report(const AnalysisView& v, const ReportPictures& pictures) {
  // Three minutes, whatever the findings have to say.
  std::string text;
  for (const Detail detail :
       {Detail::kAll, Detail::kWithoutParts, Detail::kWithoutKernel, Detail::kShortest}) {
    text = report_of(v, pictures, kRecommendations, detail);
    if (word_count(text) <= kMostWords) return text;
  }
  for (size_t most = kRecommendations - 1; most > 0; --most) {
    text = report_of(v, pictures, most, Detail::kShortest);
    if (word_count(text) <= kMostWords) break;
  }
  return text;
}

}  // namespace fathom
